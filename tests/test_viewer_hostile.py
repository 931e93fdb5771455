"""Run folders that somebody has tampered with: nothing leads out of them, and what makes no sense spoils no page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import httpx
import pytest
from viewed import add

from uigym.record import Demo, Proof, write_demo
from uigym.store import RunStore
from uigym.viewer import Catalog, Server, create_app
from uigym.viewer.index import Index
from uigym.viewer.reading import image_path, read, read_states
from uigym.viewer.scene import scene


def test_a_proof_of_other_files_is_none(tmp_path: Path) -> None:
    store, index = RunStore(tmp_path), Index(tmp_path)
    name = add(store, "edit", 1, "oracle").id
    write_demo(store, name, Demo("me", "web", 1280, 800, proofs=(Proof(True, True, True),)))
    assert [entry.proven for entry in index.entries()] == ["counts"]
    states = tmp_path / "episodes" / name / "states.json"
    states.write_text(states.read_text().replace("done", "gone"))
    index._looked = float("-inf")
    assert [entry.proven for entry in index.entries()] == ["fails"]
    found = read(tmp_path, name)
    assert found and found.demo and "not those that were proven" in found.demo["proofs"][-1]["reason"]


def test_no_link_and_no_pipe_leads_out_of_a_run(tmp_path: Path) -> None:
    (outside := tmp_path / "key").write_bytes(b"secret")
    store = RunStore(tmp_path / "run")
    name = add(store, "edit", 1, "oracle").id
    place, images = store.directory / "episodes" / name, store.directory / "images" / "00"
    images.mkdir()
    (images / f"{'0' * 64}.png").symlink_to(outside)
    os.mkfifo(images / f"{'0' * 63}1.png")
    for file in ("steps.jsonl", "states.json"):
        (place / file).unlink()
    (place / "steps.jsonl").symlink_to("/dev/zero")
    os.mkfifo(place / "states.json")
    (store.directory / "episodes" / "pipe").mkdir()
    os.mkfifo(store.directory / "episodes" / "pipe" / "episode.json")
    for number in (0, 1):
        with pytest.raises(ValueError, match=r"out of the run's folder|is no file"):
            image_path(store.directory, f"{'0' * 63}{number}")
    assert [entry.outcome for entry in Index(store.directory).entries()] == ["success", "damaged"]
    found = read(store.directory, name)
    assert found is not None and "steps.jsonl leads out of the run's folder" in str(found.problems)
    assert found.size("0" * 63 + "1") == (0, 0) and "is no file" in read_states(store.directory, name).problem


@pytest.mark.parametrize(
    "demo",
    [
        {"proofs": [{"diverged_at": "x"}], "notes": [1]},
        {"proofs": {"a": 1}},
        {"proofs": ["x", None]},
        [],
        {"schema": 99},
    ],
)
async def test_a_record_that_makes_no_sense_spoils_no_page(tmp_path: Path, demo: object) -> None:
    store = RunStore(tmp_path / "run")
    name = add(store, "edit", 1, "oracle").id
    (tmp_path / "run" / "episodes" / name / "demo.json").write_text(json.dumps(demo))
    async with Server(create_app(Catalog([tmp_path / "run"]))) as server, httpx.AsyncClient(trust_env=False, follow_redirects=True) as client:  # fmt: skip
        for path in (f"/runs/run/episodes/{name}", "/runs/run"):
            assert (await client.get(server.url(path))).status_code == 200


@pytest.mark.parametrize(
    "field", ["refusals", "console", "watched", "downloads", "scale", "verdict", "failure", "params"]
)
def test_a_field_of_the_wrong_kind_is_left_out_and_told(tmp_path: Path, field: str) -> None:
    store = RunStore(tmp_path)
    name = add(store, "edit", 1, "oracle").id
    path = tmp_path / "episodes" / name / "episode.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: True}))
    found = read(tmp_path, name)
    assert found and field not in found.manifest and f"episode.json: {field} is True" in found.problems[0]
    assert scene(found, 0).total == len(found.steps)


def test_what_was_watched_may_be_anything(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    name = add(store, "edit", 1, "oracle").id
    path = tmp_path / "episodes" / name / "states.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "network": 7}))
    assert read_states(tmp_path, name).network == ()


@pytest.mark.parametrize("origin", ["http://[", "null", "https://127.0.0.1", "http://evil.example"])
async def test_an_origin_that_makes_no_sense_is_refused(tmp_path: Path, origin: str) -> None:
    RunStore(tmp_path)
    async with Server(create_app(Catalog([tmp_path]))) as server, httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(server.url("/"), headers={"origin": origin})).status_code == 403
