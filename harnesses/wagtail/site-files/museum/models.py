"""The kinds of pages that the museum has."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey
from taggit.models import TaggedItemBase
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page

WORDS = ["h2", "h3", "bold", "italic", "link", "ol", "ul", "hr"]


class HomePage(Page):
    """The first page."""

    intro = models.CharField(max_length=250, blank=True)
    content_panels: ClassVar = [*Page.content_panels, FieldPanel("intro")]
    template = "museum/page.html"


class StandardPage(Page):
    """A page of text; some have others below them."""

    intro = models.CharField(max_length=250, blank=True)
    body = RichTextField(blank=True, features=WORDS)
    content_panels: ClassVar = [*Page.content_panels, FieldPanel("intro"), FieldPanel("body")]
    template = "museum/page.html"


class BlogPageTag(TaggedItemBase):
    """A word that a post is filed under."""

    content_object = ParentalKey("BlogPage", related_name="tagged_items", on_delete=models.CASCADE)


class BlogPage(Page):
    """A post of the museum's news."""

    date = models.DateField("Post date")
    author = models.CharField(max_length=80)
    intro = models.CharField(max_length=250, blank=True)
    body = RichTextField(blank=True, features=WORDS)
    picture = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    tags = ClusterTaggableManager(through=BlogPageTag, blank=True)
    content_panels: ClassVar = [
        *Page.content_panels,
        FieldPanel("date"),
        FieldPanel("author"),
        FieldPanel("intro"),
        FieldPanel("body"),
        FieldPanel("picture"),
        FieldPanel("tags"),
    ]
    template = "museum/page.html"
