"""Wagtail: the site of a museum, and what its editor does all day."""

from uigym.harnesses.wagtail import library as library
from uigym.harnesses.wagtail import pages as pages
from uigym.harnesses.wagtail import people as people
from uigym.harnesses.wagtail.product import wagtail as wagtail
