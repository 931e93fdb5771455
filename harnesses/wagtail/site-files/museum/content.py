"""Fills an empty site: pages, pictures, documents, people. The same every time."""

from __future__ import annotations

import datetime
import io
import random

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.test import Client
from django.utils.text import slugify
from PIL import Image as Picture
from PIL import ImageDraw
from wagtail.contrib.redirects.models import Redirect
from wagtail.documents.models import Document
from wagtail.images.models import Image
from wagtail.models import Collection, ModelLogEntry, Page, PageLogEntry, Revision, Site
from wagtail.users.models import UserProfile
from wagtail.utils.version import get_main_version

from museum import words
from museum.models import BlogPage, HomePage, StandardPage
from museum.signed_in import EDITOR

NOW = datetime.datetime(2025, 3, 3, 9, 0, tzinfo=datetime.UTC)
DRAFTS = (
    "Lost property",
    "Knot of the month",
    "Fellowships",
    "Trustees",
    "Uniforms",
    "Salt and silver",
    "Tea from Canton",
    "The harbour master's chair",
)
REVISED = ("Guided tours", "Photographs", "The building", "Bells of the bay")
RNG = random.Random(1929)


def fill() -> None:
    """All of it."""
    people()
    pictures = [picture(number, title) for number, title in enumerate(words.PICTURES)]
    for title in words.DOCUMENTS:
        file = ContentFile(f"{title}\n\n{RNG.choice(words.SENTENCES)}\n".encode(), f"{slugify(title)}.txt")
        Document.objects.create(title=title, file=file, uploaded_by_user=editor()).get_file_size()
    pages(pictures)
    for place, title in words.REDIRECTS.items():
        Redirect.objects.create(
            old_path=place, redirect_page=Page.objects.get(title=title), site=None, is_permanent=True
        )
    settle()


def editor() -> object:
    """Who is signed in."""
    return get_user_model().objects.get(username=EDITOR)


def people() -> None:
    """The editor, and those who could sign in."""
    users = get_user_model().objects
    users.create_superuser(EDITOR, "ada@harbour.example", "ada", first_name="Ada", last_name="Morgan")
    for name in ("Press office", "Shop"):
        Group.objects.create(name=name)
    for username, (first, last, groups) in words.PEOPLE.items():
        user = users.create_user(username, f"{username}@harbour.example", username, first_name=first, last_name=last)
        user.groups.set(Group.objects.filter(name__in=groups))
    for user in users.all():  # nobody is told again what is new: the badge that says so never stops moving
        profile = UserProfile.get_for_user(user)
        profile.dismissibles = {
            "editor-guide": True,
            f"whats-new-in-wagtail-{get_main_version(include_patch=False)}": True,
        }
        profile.save()


def picture(number: int, title: str) -> Image:
    """A drawing of simple shapes, another one for each number."""
    colour = [RNG.randrange(60, 220) for _ in range(3)]
    image = Picture.new("RGB", (640, 420), tuple(min(255, part + 30) for part in colour))
    draw = ImageDraw.Draw(image)
    for _ in range(7):
        left, top, size = RNG.randrange(600), RNG.randrange(380), RNG.randrange(40, 220)
        shape = RNG.choice((draw.ellipse, draw.rectangle))
        shape((left, top, left + size, top + size), fill=tuple(RNG.randrange(256) for _ in range(3)))
    out = io.BytesIO()
    image.save(out, "PNG")
    for name in ("Exhibitions", "People"):
        if not Collection.objects.filter(name=name).exists():
            Collection.get_first_root_node().add_child(name=name)
    made = Image(title=title, file=ContentFile(out.getvalue(), f"{slugify(title)}.png"), uploaded_by_user=editor())
    made.collection = Collection.objects.order_by("id")[number % 3]
    made.save()
    made.tags.add(*RNG.sample(words.TAGS, number % 3))
    made.get_file_size()
    return made


def pages(pictures: list[Image]) -> None:
    """The tree: a home page, sections with pages, and the news with posts."""
    root = Page.get_first_root_node()
    root.get_children().delete()
    root = Page.objects.get(pk=root.pk)
    home = add(root, HomePage(title="Harbour Museum", slug="home", intro="Ships, people and the sea."))
    Site.objects.all().delete()
    Site.objects.create(hostname="127.0.0.1", root_page=home, is_default_site=True, site_name="Harbour Museum")
    for section, titles in words.SECTIONS.items():
        parent = add(
            home, StandardPage(title=section, intro=f"All about {section.lower()}.", body=body(1), show_in_menus=True)
        )
        for title in titles:
            add(parent, StandardPage(title=title, intro=RNG.choice(words.SENTENCES), body=body(2)))
    news = add(home, StandardPage(title="News", intro="What happens in the house.", show_in_menus=True))
    for number, title in enumerate(words.POSTS):
        post = BlogPage(
            title=title,
            date=datetime.date(2024, 1, 8) + datetime.timedelta(days=13 * number),
            author=RNG.choice(words.AUTHORS),
        )
        post.intro, post.body = RNG.choice(words.SENTENCES), body(2)
        post.picture = pictures[number % len(pictures)] if number % 3 == 0 else None
        post.tags.add(*RNG.sample(words.TAGS, 1 + number % 2))
        add(news, post)
    for title in REVISED:
        page = Page.objects.get(title=title).specific
        page.intro = "To be checked before it goes out."
        page.save_revision(user=editor())


def add(parent: Page, page: Page) -> Page:
    """A page below another one, published unless it is one of the drafts."""
    page.owner, page.live = editor(), page.title not in DRAFTS
    page.slug = page.slug or slugify(page.title)
    parent.add_child(instance=page)
    revision = page.save_revision(user=editor())
    if page.live:
        revision.publish(user=editor())
    return Page.objects.get(pk=page.pk)


def body(paragraphs: int) -> str:
    """Some text."""
    chosen = (" ".join(RNG.sample(words.SENTENCES, 2)) for _ in range(paragraphs))
    return "".join(f'<p data-block-key="{RNG.randrange(16**8):08x}">{text}</p>' for text in chosen)


def settle() -> None:
    """Thumbnails are made when they are first looked at, so look; and all is long past."""
    client = Client(headers={"host": "127.0.0.1"})
    looked = ["/admin/", "/admin/images/", "/admin/images/?p=2", "/admin/images/chooser/", "/admin/users/"]
    looked += [f"/admin/images/{image.pk}/" for image in Image.objects.all()]
    looked += [f"/admin/pages/{page.pk}/edit/" for page in Page.objects.filter(depth__gt=1)]
    for path in looked:
        assert client.get(path).status_code == 200, path
    for number, page in enumerate(Page.objects.order_by("id")):
        when = NOW + datetime.timedelta(minutes=7 * number)
        shown = {"first_published_at": when, "last_published_at": when} if page.live else {}
        Page.objects.filter(pk=page.pk).update(latest_revision_created_at=when, **shown)
        mine = Revision.objects.filter(
            object_id=str(page.pk), base_content_type=ContentType.objects.get_for_model(Page)
        )
        mine.update(created_at=when)
        PageLogEntry.objects.filter(page=page.pk).update(timestamp=when)
    ModelLogEntry.objects.all().delete()
    for model in (Image, Document):
        model.objects.all().update(created_at=NOW)
    get_user_model().objects.all().update(date_joined=NOW, last_login=None)
