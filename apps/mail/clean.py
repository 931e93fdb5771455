"""Formatted text that is safe to show: what people write becomes a few plain HTML tags, whatever it was before."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

_SAME = {"strong": "b", "em": "i", "div": "p", "h1": "p", "h2": "p", "h3": "p", "ins": "u"}
_BLOCKS = frozenset({"p", "ul", "ol", "li", "blockquote"})
_KEPT = _BLOCKS | {"b", "i", "u", "a", "br"}
_SILENT = frozenset({"script", "style", "head", "title", "template", "iframe", "object", "svg", "math", "noscript"})
_DEEPEST = 50
"""Tags that stand open within each other; what would be deeper is dropped, its text kept."""
_DECLARED = re.compile(r"<[!?][^<>]{0,2000}>")
_STRAY = re.compile(r"<(?!/?[a-z][^<>]{0,2000}>)", re.IGNORECASE)
_LINK = re.compile(r"(https?://|mailto:)[^\s\"'<>]+", re.IGNORECASE)


def clean(html: str) -> str:
    """Only paragraphs, lists, quotes, links, bold, italic and underlined text, without attributes or empty blocks."""
    reader = _Cleaner()
    reader.feed(_STRAY.sub("&lt;", _DECLARED.sub("", _without_comments(html))))
    reader.close()
    return reader.result()


def _without_comments(html: str) -> str:
    first, *others = html.split("<!--")
    return first + "".join(part.partition("-->")[2] for part in others)


def text_of(html: str) -> str:
    """The text of cleaned HTML, a line for each block; entries of lists begin with "- "."""
    text = re.sub(r"\s+", " ", html)
    text = re.sub(r"<li>(<p>)?", "\n- ", text)
    text = re.sub(r"<br>|</?(p|ul|ol|blockquote)>", "\n", text)
    text = re.sub(r"<[^>]*>", "", text)
    for entity, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&")):
        text = text.replace(entity, letter)
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def from_text(text: str) -> str:
    """Plain text as HTML: paragraphs at empty lines, breaks at the others."""
    parts = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    return "".join(f"<p>{'<br>'.join(escape(line.strip()) for line in part.splitlines())}</p>" for part in parts)


class _Cleaner(HTMLParser):
    """Keeps what is allowed, closes what was left open, drops the rest."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._out: list[str] = []
        self._open: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        tag = _SAME.get(tag, tag)
        if self._silent or tag not in _KEPT or len(self._open) >= _DEEPEST:
            return
        if tag == "br":
            self._out.append("<br>")
            return
        if tag == "a":
            link = dict(attrs).get("href") or ""
            if not _LINK.fullmatch(link):
                return
            self._out.append(f'<a href="{escape(link)}">')
        else:
            if tag in _BLOCKS and "p" in self._open:
                self._close("p")
            self._out.append(f"<{tag}>")
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        tag = _SAME.get(tag, tag)
        if not self._silent and tag in self._open:
            self._close(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._out.append(escape(data.replace("\xa0", " ").replace("\x00", "")))

    def _close(self, tag: str) -> None:
        """Close the innermost such tag, and what stands open within it."""
        while self._open:
            last = self._open.pop()
            self._out.append(f"</{last}>")
            if last == tag:
                return

    def result(self) -> str:
        self._out += [f"</{tag}>" for tag in reversed(self._open)]
        self._open.clear()
        return _wrapped("".join(_filled(self._out))).strip()


def _filled(parts: list[str]) -> list[str]:
    """Without elements that hold nothing but space.

    Args:
        parts: A tag or a piece of text each; what is opened is closed, in order.
    """
    kept: list[str] = []
    opened: list[int] = []  # places in `kept` of what stands open and is empty so far
    full = 0  # how many around those are not
    for part in parts:
        if part.startswith("</"):
            if opened:
                del kept[opened.pop() :]
            else:
                full -= 1
                kept.append(part)
            continue
        if part.startswith("<") and part != "<br>":
            opened.append(len(kept))
        elif not _is_space(part):
            full += len(opened)
            opened.clear()
        kept.append(part)
    return kept


def _is_space(html: str) -> bool:
    return not html.replace("<br>", "").strip()


_BLOCK = re.compile(r"(<(?P<tag>p|ul|ol|blockquote)>)|(</(?P<end>p|ul|ol|blockquote)>)")


def _wrapped(html: str) -> str:
    """Text that stands outside every block becomes a paragraph."""
    out, depth, at = [], 0, 0
    for match in _BLOCK.finditer(html):
        between = html[at : match.start()]
        out.append(between if depth else _paragraph(between))
        depth = max(0, depth + (1 if match["tag"] else -1))
        out.append(match[0])
        at = match.end()
    return "".join(out) + _paragraph(html[at:])


def _paragraph(html: str) -> str:
    return "" if _is_space(html) else f"<p>{html.strip()}</p>"
