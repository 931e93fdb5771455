"""The run folder: what is read is what was written, and nothing half-written is believed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uigym.beside import Download, Open, OpenChooser, OpenDialog
from uigym.errors import StoreError
from uigym.store import RunStore, episode_from_json, episode_to_json, read_steps
from uigym.types import (
    Answer,
    Cause,
    Click,
    Complaint,
    Done,
    Drag,
    Episode,
    Event,
    Exchange,
    Failure,
    Invalid,
    Key,
    Node,
    PageView,
    Part,
    Refusal,
    State,
    StepRecord,
    Stop,
    Type,
    Verdict,
)

# --- any episode ---

numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
values = st.none() | st.booleans() | numbers | st.text()
rows = st.dictionaries(st.text(), values, max_size=4)
states = st.builds(
    State,
    st.dictionaries(st.text(), st.lists(rows, max_size=3).map(tuple), max_size=3),
    st.dictionaries(st.text(), st.lists(st.text(), max_size=2).map(tuple), max_size=2),
)
px = st.floats(0, 1000)
actions = st.one_of(
    st.builds(Click, px, px, st.sampled_from(["left", "right"]), st.integers(1, 3), st.just(("Shift", "Alt"))),
    st.builds(Drag, st.lists(st.tuples(px, px), min_size=2, max_size=4).map(tuple)),
    st.builds(Type, st.text()),
    st.builds(Key, st.just("Control+A")),
    st.builds(Answer, st.text()),
    st.builds(Invalid, st.text(), st.text()),
    st.just(Done()),
)
hashes = st.binary(max_size=4).map(lambda raw: hashlib.sha256(raw).hexdigest())
events = st.lists(st.builds(Event, st.sampled_from(["dialog", "tab"]), st.text(), st.text()), max_size=2).map(tuple)
dialogs = st.builds(OpenDialog, st.sampled_from(["alert", "prompt"]), st.text(), st.text())
choosers = st.builds(OpenChooser, st.lists(st.text(), max_size=2).map(tuple), st.booleans(), st.text())
opens = st.builds(Open, st.none() | dialogs, st.none() | choosers, st.lists(st.text(), max_size=2).map(tuple))
steps = st.builds(
    StepRecord,
    hashes,
    actions,
    st.text(),
    st.none() | st.text(),
    events,
    st.booleans(),
    st.floats(0, 9e9),
    opens,
    st.dictionaries(st.sampled_from(["think", "act", "settle"]), st.floats(0, 9e9)),
)
downloads = st.builds(Download.of, st.text(), st.binary(max_size=9)) | st.builds(
    Download, st.text(), st.integers(0, 9), st.just(""), st.sampled_from(["failed", "unfinished"])
)
exchanges = st.builds(Exchange, st.text(), st.text(), st.integers(0, 599), st.text(), st.integers(0, 9), st.text())
refusals = st.builds(Refusal, st.text(), st.text(), st.text(), st.integers(0, 9))
complaints = st.builds(Complaint, st.sampled_from(["error", "network"]), st.text(), st.text(), st.integers(0, 9))
nodes = st.builds(
    Node, st.text(), st.text(), st.text(), st.dictionaries(st.text(), values, max_size=2), st.integers(0, 9)
)
page_views = st.builds(PageView, st.text(), st.text(), st.text(), st.lists(nodes, max_size=3).map(tuple))
parts = st.lists(st.builds(Part, st.text(), st.floats(0, 1), st.text(), st.floats(0, 9)), max_size=3).map(tuple)
verdicts = st.builds(
    Verdict, st.floats(0, 1), st.just(False), parts, st.text(), st.lists(st.text(), max_size=2).map(tuple)
)
plain = st.recursive(values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2))


@st.composite
def episodes(draw: Any) -> Episode:
    stop = draw(st.sampled_from(Stop))
    lost = stop is Stop.ERROR
    return Episode(
        id=draw(st.sampled_from(["kiosk-order-7--0", "a", "b.c_d-9"])),
        harness=draw(st.text()),
        task=draw(st.text()),
        seed=draw(st.integers(0, 2_999_999)),
        params=draw(st.dictionaries(st.text(), plain, max_size=3)),
        instruction=draw(st.text()),
        steps=draw(st.lists(steps, max_size=4).map(tuple)),
        stop=stop,
        verdict=None if lost else draw(verdicts),
        failure=draw(st.builds(Failure, st.sampled_from(Cause), st.text())) if lost else None,
        answer=draw(st.none() | st.text()),
        url=draw(st.text()),
        before=draw(states),
        after=draw(states),
        downloads=draw(st.lists(downloads, max_size=2).map(tuple)),
        network=draw(st.lists(exchanges, max_size=3).map(tuple)),
        refusals=draw(st.lists(refusals, max_size=3).map(tuple)),
        console=draw(st.lists(complaints, max_size=3).map(tuple)),
        page=draw(st.none() | page_views),
        watched=draw(st.sampled_from([(), ("network",), ("network", "page", "storage")])),
        appearance=draw(st.dictionaries(st.text(), st.text(), max_size=2)),
        final_image=draw(hashes),
        group=draw(st.text()),
        policy=draw(st.text()),
        wall_s=draw(st.floats(0, 9e9)),
        attempt=draw(st.integers(0, 2)),
    )


@given(episodes())
@settings(max_examples=30, deadline=None)
def test_what_is_read_is_what_was_written(episode: Episode) -> None:
    with tempfile.TemporaryDirectory() as folder:
        RunStore(folder).write(episode, {})
        read = RunStore(folder).episode(episode.id)
        assert read == episode
        assert read.before.digest() == episode.before.digest()
        assert list(RunStore(folder).episodes()) == [episode]
        assert RunStore(folder).done() == ({episode.id} if episode.verdict else set())


@given(episodes())
@settings(max_examples=30, deadline=None)
def test_an_episode_survives_json(episode: Episode) -> None:
    assert episode_from_json(json.loads(json.dumps(episode_to_json(episode)))) == episode


def test_a_record_from_before_downloads_were_kept_can_be_read() -> None:
    step = StepRecord("", Key("Tab"), events=(Event("dialog", "Saved"),))
    episode = Episode("a", "kiosk", "order", 0, {}, "", (step,), Stop.DONE, Verdict(1.0, True))
    record = json.loads(json.dumps(episode_to_json(episode)))
    del record["downloads"], record["steps"][0]["open"], record["steps"][0]["events"][0]["type"]
    assert episode_from_json(record) == episode


def test_a_record_from_before_anything_was_watched_can_be_read(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.write(episode(), {})
    for name, keys in (("episode.json", ("refusals", "watched")), ("states.json", ("network", "page"))):
        path = tmp_path / "episodes" / "e1" / name
        record = json.loads(path.read_text())
        path.write_text(json.dumps({key: value for key, value in record.items() if key not in keys}))
    assert store.episode("e1") == episode()


def test_a_record_from_before_steps_were_timed_can_be_read() -> None:
    step = StepRecord("", Key("Tab"))
    seen = Episode("a", "kiosk", "order", 0, {}, "", (step,), Stop.DONE, Verdict(1.0, True))
    record = json.loads(json.dumps(episode_to_json(seen)))
    del record["console"], record["steps"][0]["phases"]
    assert episode_from_json(record) == seen


def test_requests_and_the_page_are_no_part_of_the_manifest(tmp_path: Path) -> None:
    seen = episode(network=(Exchange("GET", "http://a/"),), page=PageView("http://a/"), watched=("network", "page"))
    store = RunStore(tmp_path)
    store.write(seen, {})
    (manifest,) = store.manifests()
    assert not {"network", "page"} & manifest.keys() and manifest["refusals"] == []
    assert store.episode("e1") == seen


def test_a_download_is_stored_by_its_hash_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    one = Download.of("../evil.csv", b"a,b\n")
    episode = Episode("a", "kiosk", "order", 0, {}, "", (), Stop.DONE, Verdict(1.0, True), downloads=(one, one))
    store = RunStore(tmp_path)
    store.write(episode, {})
    assert store.file(one.sha256) == b"a,b\n" and store.episode("a") == episode
    assert [p.name for p in (tmp_path / "files").rglob("*") if p.is_file()] == [one.sha256]
    store.file_path(one.sha256).write_bytes(b"other")
    with pytest.raises(StoreError, match="damaged"):
        store.episode("a")


def test_an_episode_of_an_earlier_version_has_pictures_of_css_pixels() -> None:
    record = episode_to_json(episode())
    del record["scale"]
    assert episode_from_json(record).scale == 1.0


@given(st.lists(steps, max_size=4), st.integers(0, 2000))
@settings(max_examples=30, deadline=None)
def test_a_crash_at_any_byte_leaves_whole_lines(records: list[StepRecord], cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(folder)
        with store.begin("e") as writer:
            for record in records:
                writer.step(record, b"")
        path = Path(folder, "episodes/e/steps.jsonl")
        path.write_bytes(path.read_bytes()[:cut])
        kept = list(read_steps(path))
        assert len(kept) == path.read_bytes().count(b"\n") <= len(records)
        assert store.ids() == []  # no manifest: no episode


# --- one episode ---

PNG, LAST = b"\x89PNG one", b"\x89PNG two"
FIRST_IMAGE, LAST_IMAGE = (hashlib.sha256(png).hexdigest() for png in (PNG, LAST))


def episode(**changes: Any) -> Episode:
    record = StepRecord(FIRST_IMAGE, Click(1.5, 2), "click it")
    made = Episode(
        "e1", "pad", "add", 1, {"n": 1}, "Do.", (record, record), Stop.DONE, Verdict(1.0, True), final_image=LAST_IMAGE
    )
    return dataclasses.replace(made, **changes)


def test_pictures_are_written_once_by_hash(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.write(episode(), {FIRST_IMAGE: PNG, LAST_IMAGE: LAST})
    store.write(episode(id="e2"), {FIRST_IMAGE: PNG, LAST_IMAGE: LAST})
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.png"))
    assert files == sorted(Path("images", name[:2], f"{name}.png") for name in (FIRST_IMAGE, LAST_IMAGE))
    assert RunStore(tmp_path).image(FIRST_IMAGE) == PNG
    assert not list(tmp_path.rglob("*.tmp"))


def test_steps_are_on_disk_as_they_happen(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    writer = store.begin("e1")
    for number, record in enumerate(episode().steps, 1):
        writer.step(record, PNG)
        assert len(list(read_steps(tmp_path / "episodes/e1/steps.jsonl"))) == number
        assert store.image(FIRST_IMAGE) == PNG
        assert store.ids() == []
    writer.finish(episode(), LAST)
    writer.close()
    assert store.ids() == ["e1"]


def test_a_new_attempt_drops_the_old_one(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    lost = episode(stop=Stop.ERROR, verdict=None, failure=Failure(Cause.BROWSER, "it crashed"))
    store.write(lost, {})
    assert (store.ids(), store.done()) == (["e1"], set())
    with store.begin("e1"):
        assert store.ids() == []
    store.write(episode(steps=()), {})
    assert store.episode("e1").steps == ()
    assert store.done() == {"e1"}


def test_damage_is_told(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.write(episode(), {FIRST_IMAGE: PNG})
    steps = tmp_path / "episodes/e1/steps.jsonl"
    whole = steps.read_bytes()
    steps.write_bytes(whole[:-5])
    with pytest.raises(StoreError, match="has 1 whole lines, its manifest says 2"):
        store.episode("e1")
    steps.write_bytes(b"{}\n" + whole)
    with pytest.raises(StoreError, match=r"e1 is not what this version writes \(KeyError"):
        store.episode("e1")
    steps.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(StoreError, match="line 1: not JSON"):
        store.episode("e1")
    steps.unlink()
    with pytest.raises(StoreError, match="cannot read"):
        store.episode("e1")
    store.image_path(FIRST_IMAGE).write_bytes(b"other")
    with pytest.raises(StoreError, match="damaged"):
        store.image(FIRST_IMAGE)
    with pytest.raises(StoreError, match="no picture"):
        store.image(LAST_IMAGE)
    with pytest.raises(StoreError, match="cannot read"):
        store.episode("e2")
    with pytest.raises(StoreError, match="cannot be the name of a folder"):
        store.episode("../e1")


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    RunStore(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 99}')
    with pytest.raises(StoreError, match="schema 99, this version reads 1"):
        RunStore(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(StoreError, match="expected a JSON object"):
        RunStore(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot write .*: Not a directory. Choose a folder that can be written"):
        RunStore(tmp_path / "file" / "run")


FULL = """
import resource, signal, sys
from pathlib import Path
sys.path[:0] = {path!r}
from uigym.store import RunStore
from uigym.types import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = RunStore(sys.argv[1])
step = StepRecord("0" * 64, Type("x" * 100))
end = Episode("e", "pad", "add", 1, {{"long": "y" * 500}}, "Do.", (step,) * 5, Stop.DONE, Verdict(1.0, True))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
with store.begin("e") as writer:
    for _ in range(5):
        writer.step(step, b"picture" * 20)
    writer.finish(end, b"last" * 500)
"""


@pytest.mark.parametrize("room", [50, 100, 200, 500, 1000, 1999])
def test_a_full_disk_is_one_error_and_leaves_nothing_to_believe(tmp_path: Path, room: int) -> None:
    """Every file may grow to `room` bytes, which is how a full disk looks to a writer."""
    code = FULL.format(path=[str(Path(__file__).parent.parent)])
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(room)], capture_output=True, text=True, env={**os.environ}
    )
    last = ran.stderr.strip().splitlines()[-1]
    assert ran.returncode == 1
    assert last.startswith("uigym.errors.StoreError: cannot write ")
    assert "File too large" in last and "resume the run" in last
    store = RunStore(tmp_path)
    assert (store.ids(), store.done(), list(tmp_path.rglob("*.tmp"))) == ([], set(), [])
    for path in tmp_path.rglob("*.png"):
        assert store.image(path.stem)
    list(read_steps(tmp_path / "episodes/e/steps.jsonl"))
