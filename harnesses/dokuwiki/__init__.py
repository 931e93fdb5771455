"""DokuWiki, from Debian's package: the wiki of a boatyard, and what an agent must do in it."""

from uigym.harnesses.dokuwiki import access, editing, finding, history, media
from uigym.harnesses.dokuwiki.product import dokuwiki

__all__ = ["access", "dokuwiki", "editing", "finding", "history", "media"]
