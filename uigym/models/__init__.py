"""Models that ship with uigym, and the forward pass that training and sampling share."""
