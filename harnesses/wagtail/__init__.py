"""Wagtail: the site of a museum, and what its editor does all day."""

from uigym.harnesses.wagtail.product import wagtail as wagtail
