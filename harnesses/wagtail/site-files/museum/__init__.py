"""The site of a museum: a small Wagtail project."""
