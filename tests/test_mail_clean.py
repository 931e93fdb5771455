"""What formatted text of the mail client becomes before it is kept, and what its searches are read as."""

from __future__ import annotations

import pytest

from uigym.apps.mail import search
from uigym.apps.mail.clean import clean, from_text, text_of


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("plain & <", "<p>plain &amp; &lt;</p>"),
        ("<p>a<br>b</p>", "<p>a<br>b</p>"),
        ("<p><ul><li>a</li></ul></p>", "<ul><li>a</li></ul>"),
        ("<b><i>x</b>y", "<p><b><i>x</i></b>y</p>"),
        ('<a href="javascript:x">a</a>', "<p>a</p>"),
        (
            '<a href="https://x.example/?a=1&b=2" onclick="x">a</a>',
            '<p><a href="https://x.example/?a=1&amp;b=2">a</a></p>',
        ),
        ('<img src=x onerror=alert(1)><span style="color:red">t</span>', "<p>t</p>"),
        ("<p><br></p><p> </p>", ""),
        ("<blockquote>q</blockquote>after", "<blockquote>q</blockquote><p>after</p>"),
        ("<style>p{}</style><svg><script>x</script></svg>ok", "<p>ok</p>"),
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("</p></b>x", "<p>x</p>"),
        ("<b><ul><li> <br></li></ul></b>", ""),
        ("a <!-- <b>b</b> --> c <!-- d", "<p>a  c</p>"),
        ("<!doctype html><![if x]>a", "<p>a</p>"),
        ("<![\u2039![\u2026", "<p>&lt;![\u2039![\u2026</p>"),
        ("a < b <a href=", "<p>a &lt; b &lt;a href=</p>"),
    ],
)
def test_text_is_cleaned(written: str, kept: str) -> None:
    assert clean(written) == kept
    assert clean(clean(written)) == clean(written)


@pytest.mark.parametrize(
    "tag",
    ["<b>", "<ul><li>", "<blockquote>", "<a ", "<a/", "<a b='", "<!--", "<![", "</p>", "<a href=https://x.example>"],
)
def test_a_flood_of_tags_is_no_text(tag: str) -> None:
    """It is done with in a moment, whatever is left open; nothing stands deeper than a person would write."""
    cleaned = clean(f"<p>x</p>{tag * (20_000 // len(tag))}")
    assert cleaned.startswith("<p>x</p>")
    assert cleaned.count("<ul>") == cleaned.count("<b>") == 0


def test_what_is_too_deep_keeps_its_text() -> None:
    cleaned = clean("<b>" * 200 + "deep" + "</b>" * 200)
    assert cleaned.count("<b>") == cleaned.count("</b>") == 50 and text_of(cleaned) == "deep"


def test_plain_text_comes_back() -> None:
    text = "Dear Ann,\n<b> & \"you\"\n\nBye 'x'"
    assert text_of(from_text(text)) == text.replace("\n\n", "\n")


def test_the_form_writes_a_search() -> None:
    form = {"from": "ana", "subject": "spring  fair", "words": "big plan", "after": "2026-01-02", "attachment": "1"}
    q = search.written(form)
    assert q == 'from:ana subject:"spring fair" big plan after:2026-01-02 has:attachment'
    assert search.filled(q) == {
        "from": "ana", "to": "", "subject": "spring fair", "words": "big plan", "label": "", "in": "", "after": "2026-01-02",
        "before": "", "attachment": "1",
    }  # fmt: skip
    assert search.filled("-from:bo is:unread http://x")["words"] == "-from:bo is:unread http://x"


def test_a_search_of_very_many_words_is_cut() -> None:
    assert len(search.parse("a " * 1000)) == 40
