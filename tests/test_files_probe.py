"""Files as a table of the state, and the patterns that choose them."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uigym.errors import HarnessError, ProductError
from uigym.product import Files
from uigym.product.files import TEXT_BYTES, Matcher, walk
from uigym.state import differences, state_from_json, state_to_json


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def rows(folder: Path, *arguments: Any, **options: Any) -> dict[str, dict[str, Any]]:
    return {row["path"]: row for row in Files("x", *arguments, **options).read(folder).tables["files"]}


def test_a_file_is_a_row(tmp_path: Path) -> None:
    write(tmp_path, a_txt="héllo", out__b_bin=b"\xff\x00")
    assert rows(tmp_path) == {
        "a.txt": {"path": "a.txt", "size": 6, "sha256": hashlib.sha256("héllo".encode()).hexdigest(), "text": "héllo"},
        "out/b.bin": {"path": "out/b.bin", "size": 2, "sha256": hashlib.sha256(b"\xff\x00").hexdigest(), "text": None},
    }


def test_changes_are_told_file_by_file(tmp_path: Path) -> None:
    probe, seen = Files("x"), {}  # type: ignore[var-annotated]
    write(tmp_path, a_txt="one", b_txt="two", c_txt="three")
    before = probe.read(tmp_path, seen)
    write(tmp_path, a_txt="uno", d_txt="")
    (tmp_path / "b.txt").rename(tmp_path / "e.txt")
    changes = list(differences(before, probe.read(tmp_path, seen)))
    assert {change.key for change in changes} == {("path",)}
    named = {(change.before or change.after or {})["path"]: str(change).split(": ")[1][:7] for change in changes}
    assert named == {"a.txt": "sha256 ", "b.txt": "removed", "d.txt": "added w", "e.txt": "added w"}


def test_a_change_that_size_and_time_do_not_tell_is_seen(tmp_path: Path) -> None:
    """Written in the same moment that it was read, with its old time put back."""
    probe, seen = Files("x"), {}  # type: ignore[var-annotated]
    for number in range(50):
        write(tmp_path, a_txt=f"{number:02}")
        os.utime(tmp_path / "a.txt", ns=(1, 1))
        assert probe.read(tmp_path, seen).tables["files"][0]["text"] == f"{number:02}"


def test_what_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    probe, seen = Files("x"), {}  # type: ignore[var-annotated]
    write(tmp_path, a_txt="one")
    first = probe.read(tmp_path, seen)
    seen["a.txt"] = seen["a.txt"]._replace(at_ns=seen["a.txt"].at_ns + 10**9, row={"path": "a.txt", "remembered": True})
    assert probe.read(tmp_path, seen).tables["files"] == ({"path": "a.txt", "remembered": True},)
    write(tmp_path, a_txt="two")
    assert probe.read(tmp_path, seen).tables["files"] != first.tables["files"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(tmp_path, secret_txt="password")
    write(folder, a_txt="a")
    (folder / "out").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to("..")
    (folder / "broken").symlink_to("nowhere")
    found = rows(folder)
    assert sorted(found) == ["a.txt", "broken", "out", "up"]
    assert found["up"]["text"] == ".." and "password" not in str(found)


def test_only_what_is_wanted(tmp_path: Path) -> None:
    write(tmp_path, a_csv="1", b_txt="2", deep__c_csv="3", logs__d_csv="4")
    assert sorted(rows(tmp_path, ["*.csv"], ignore=["logs/"])) == ["a.csv", "deep/c.csv"]
    assert rows(tmp_path, text=["*.txt"])["a.csv"]["text"] is None
    assert rows(tmp_path, text=["*.txt"])["b.txt"]["text"] == "2"


def test_an_empty_folder_is_a_table_without_rows_and_a_missing_one_an_error(tmp_path: Path) -> None:
    assert Files("x").read(tmp_path).tables == {"files": ()}
    with pytest.raises(ProductError, match=r"no folder .*missing to read files from: the product or its start command"):
        Files("x").read(tmp_path / "missing")
    write(tmp_path, a_txt="a")
    with pytest.raises(ProductError, match="it is not a folder"):
        Files("x").read(tmp_path / "a.txt")


def test_long_files_have_no_text_but_a_digest(tmp_path: Path) -> None:
    write(tmp_path, long_txt="x" * (TEXT_BYTES + 1), just_txt="x" * TEXT_BYTES)
    found = rows(tmp_path)
    assert found["long.txt"]["text"] is None and found["long.txt"]["size"] == TEXT_BYTES + 1
    assert found["just.txt"]["text"] == "x" * TEXT_BYTES


def test_names_of_any_bytes_can_be_stored(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))).write_text("x")
    state = Files("x").read(tmp_path)
    assert [row["path"] for row in state.tables["files"]] == ["caf\\xe9"]
    assert state_from_json(state_to_json(state)) == state


def test_pipes_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path, a_txt="a")
    assert sorted(rows(tmp_path)) == ["a.txt"]


def test_a_folder_that_never_keeps_still_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, a_bin=b"x" * 30_000_000)
    over = threading.Event()

    def scribble() -> None:
        with (tmp_path / "a.bin").open("r+b") as file:
            while not over.is_set():
                file.seek(0)
                file.write(os.urandom(8))
                file.flush()

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        with pytest.raises(
            ProductError, match=r"does not keep still: a\.bin changed while it was being read; leave out"
        ):
            Files("x").read(tmp_path)
    finally:
        over.set()
        writer.join()


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("*.csv", ["a.csv", "x/y/a.csv", ".csv"], ["a.csvx", "a.csv/b", "acsv"]),
        ("out/*.csv", ["out/a.csv"], ["a.csv", "out/x/a.csv", "x/out/a.csv"]),
        ("out/**", ["out", "out/a", "out/a/b"], ["outer", "x/out"]),
        ("out/**/a", ["out/a", "out/x/y/a"], ["out/xa", "a"]),
        ("**/a", ["a", "x/y/a"], ["ba", "a/b"]),
        ("out/", ["out", "out/a/b"], ["outer/a"]),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("**", ["a", "a/b\nc"], []),
    ],
)
def test_patterns(pattern: str, fits: list[str], fails: list[str]) -> None:
    matches = Matcher([pattern], "here")
    assert [path for path in fits if not matches(path)] == []
    assert [path for path in fails if matches(path)] == []


@given(st.lists(st.text("ab.*?[]+(", min_size=1, max_size=4), min_size=1, max_size=3))
def test_a_name_without_wildcards_means_itself_alone(parts: list[str]) -> None:
    path = "/".join(parts)
    if not any(part in (".", "..") for part in parts):
        plain = re.sub(r"[*?]", "x", path)
        assert Matcher([plain], "here")(plain)
        assert not Matcher([plain + "x"], "here")(plain)


@pytest.mark.parametrize("patterns", ["*.csv", [""], ["/etc/*"], ["../x"], [3]])
def test_patterns_that_cannot_be_used(patterns: Any) -> None:
    with pytest.raises(HarnessError, match="Files: "):
        Files("{workdir}", patterns)


def test_a_folder_comes_before_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, b__c__d="", a="", b__a="")
    assert [path for path, _ in walk(tmp_path)] == ["a", "b", "b/a", "b/c", "b/c/d"]
