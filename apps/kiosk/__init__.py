"""An ordering terminal for the staff of a tea house, made for a small touch screen (320 x 256 px)."""
