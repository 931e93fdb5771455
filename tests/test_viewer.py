"""The viewer's records and its server: what is listed, read, compared, refused and escaped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from typer.testing import CliRunner
from viewed import BAD, EFFECT, HOSTILE, add, after, write_runs

from uigym.cli.app import app as command
from uigym.cli.view import episode_of
from uigym.errors import ConfigError, StoreError
from uigym.store import RunStore
from uigym.types import Click, Done, Type
from uigym.viewer import Catalog, Server, create_app, export_episode, export_run, write
from uigym.viewer.about import run_again, timing
from uigym.viewer.catalog import Run
from uigym.viewer.changes import changes
from uigym.viewer.filters import Filters
from uigym.viewer.grid import cell, grids
from uigym.viewer.index import Index
from uigym.viewer.marks import mark
from uigym.viewer.parting import parted
from uigym.viewer.reading import image_path, read, read_states, step_of
from uigym.viewer.scene import film, rows, scene
from uigym.viewer.thumbs import Thumbnails
from uigym.viewer.verdicts import report

EVIL = "/runs/bad~mixed/episodes/gym-evil-7"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
async def client(runs: Path) -> AsyncIterator[httpx.AsyncClient]:
    options = {"follow_redirects": True, "trust_env": False}
    async with (
        Server(create_app(Catalog([runs]))) as server,
        httpx.AsyncClient(base_url=server.origin, **options) as asking,
    ):
        await asking.get(server.url())
        yield asking


def listing(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


# --- what is listed ---


def test_runs_are_found_below_a_folder_and_a_run_stands_for_itself(runs: Path, tmp_path: Path) -> None:
    assert [(run.name, run.kind) for run in Catalog([runs]).runs()] == [("bad~mixed", "episodes"), ("good", "episodes")]
    assert [run.name for run in Catalog([runs / "good"]).runs()] == ["good"]
    assert [run.name for run in Catalog([runs / "good", runs / "bad"]).runs()] == ["bad~mixed", "good"]
    (tmp_path / "run.json").write_text('{"config": {}}')
    assert [run.kind for run in Catalog([tmp_path]).runs()] == ["training"]
    with pytest.raises(ConfigError, match="no folder"):
        Catalog([tmp_path / "nowhere"])


def test_an_index_reads_what_is_new_and_says_what_is_damaged(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    add(store, "edit", 1, "oracle")
    index = Index(tmp_path)
    first = index.entries()
    assert [entry.outcome for entry in first] == ["success"]
    add(store, "edit", 2, "oracle", verdict=BAD)
    (tmp_path / "episodes" / "broken").mkdir()
    (tmp_path / "episodes" / "broken" / "episode.json").write_text('{"id": "broken", "task":')
    (tmp_path / "episodes" / "deep").mkdir()
    (tmp_path / "episodes" / "deep" / "episode.json").write_text("[" * 100_000)
    (tmp_path / "episodes" / "underway").mkdir()  # no manifest yet
    index._looked = float("-inf")
    entries = {entry.id: entry for entry in index.entries()}
    assert entries["gym-edit-1-oracle-0"] is first[0], "what did not change is not read again"
    assert entries["gym-edit-2-oracle-0"].outcome == "partial" and entries["gym-edit-2-oracle-0"].effects == 1
    assert (
        entries["broken"].outcome == entries["deep"].outcome == "damaged"
        and "JSONDecodeError" in entries["broken"].damaged
    )
    assert len(entries) == 4


def test_filters_are_in_the_address_and_unknown_ones_are_left_out(runs: Path) -> None:
    entries = Index(runs / "bad" / "mixed").entries()

    def ids(**asked: str) -> list[str]:
        return [entry.id for entry in Filters.of(asked).chosen(entries)]

    assert ids(outcome="lost", nonsense="1") == ids(cause="browser") == ["gym-edit-2-model-0"]
    assert ids(flaky="1") == ["gym-edit-1-model-0", "gym-edit-1-model-1"]
    assert ids(effects="1") == ["gym-edit-1-model-0", "gym-evil-7"]
    assert ids(q="ROW done", seed="1", outcome="partial") == ["gym-edit-1-model-0"]
    assert ids(order="worst")[0] == "gym-edit-2-model-0" and ids(order="<script>") == ids()
    assert Filters.of({"task": "a", "page": "3"}).change(outcome="lost") == {"task": "a", "outcome": "lost"}
    assert Filters.of({"page": "-9"}).number == Filters.of({"page": "9" * 50}).number == 1


def test_a_grid_sums_up_by_task_and_policy(runs: Path) -> None:
    found = cell(Index(runs / "bad" / "mixed").entries())
    assert (found.episodes, found.valid, found.successes, found.flaky, found.retried, found.effects) == (
        4,
        3,
        1,
        1,
        1,
        2,
    )
    assert found.causes == {"browser": 1} and 0 < found.low < found.rate < found.high < 1
    [(harness, grid)] = grids(
        {"good": Index(runs / "good").entries(), "mixed": Index(runs / "bad" / "mixed").entries()}
    )
    assert harness == "gym" and [column[:2] for column in grid.columns][:2] == [("good", "oracle"), ("mixed", "model")]
    assert grid.rows[0].task == "gym/edit" and grid.rows[0].cells[2] is None
    assert cell([]).heat == -1


# --- an episode ---


def test_what_can_be_read_of_a_damaged_episode_is_shown(tmp_path: Path) -> None:
    add(RunStore(tmp_path), "edit", 1, "oracle")
    place = tmp_path / "episodes" / "gym-edit-1-oracle-0"
    lines = (place / "steps.jsonl").read_bytes().split(b"\n")
    lines[1] = b"{" + b"[" * 100_000
    lines[2] = lines[2].replace(b'"key"', b'"teleport"')
    (place / "steps.jsonl").write_bytes(b"\n".join(lines)[:-8])
    (place / "states.json").unlink()
    recorded = read(tmp_path, "gym-edit-1-oracle-0")
    assert recorded is not None and len(recorded.steps) == 6
    said = " ".join(recorded.problems)
    assert "cut off" in said and "line 2 is damaged" in said and "the manifest says 8" in said
    strange = step_of(recorded.steps[1])
    assert strange.action.reason.startswith("cannot be read: no action 'teleport'")  # type: ignore[union-attr]
    assert "states.json cannot be read" in read_states(tmp_path, "gym-edit-1-oracle-0").problem
    image_path(tmp_path, recorded.image(0)).unlink()
    assert scene(recorded, 0).width == 0 and scene(recorded, 3).width == 1280
    assert read(tmp_path, "../../etc") is None and read(tmp_path, "nobody") is None


@pytest.mark.parametrize(
    "record",
    [{}, {"action": None}, {"action": {"action": "click", "x": "1", "y": {}}}, {"action": {"action": "drag", "path": []}}, {"action": {"action": "done"}, "text": 7},
     {"action": {"action": "done"}, "events": [{"nonsense": 1}]}, {"action": {"action": "done"}, "error": ["x"]}, {"action": {"action": ["click"]}}],
)  # fmt: skip
def test_a_line_that_makes_no_sense_is_shown_as_no_action(runs: Path, record: dict[str, object]) -> None:
    recorded = read(runs / "good", "gym-edit-1-oracle-0")
    assert recorded is not None
    found = scene(type(recorded)("x", recorded.folder, recorded.manifest, [record], None), 0)
    assert found.row is not None and found.row.kind == "invalid" and found.row.words.startswith("no action")


def test_a_long_episode_has_few_thumbnails_and_its_list_comes_in_pieces(runs: Path) -> None:
    recorded = read(runs / "good", "gym-edit-1-oracle-0")
    assert recorded is not None
    long = type(recorded)("long", recorded.folder, recorded.manifest, recorded.steps * 200, None)
    numbers = [number for number, _ in film(long)]
    assert len(numbers) == 120 and numbers[0] == 0 and numbers[-1] == 1600
    assert [row.number for row in rows(long, 1580, 100)] == list(range(1580, 1600))


def test_marks_say_what_was_done_and_typed_text_stands_where_the_pointer_was(runs: Path) -> None:
    recorded = read(runs / "good", "gym-edit-1-oracle-0")
    assert recorded is not None
    marks = [scene(recorded, number).mark or {} for number in range(8)]
    assert marks[0] == {
        "kind": "click",
        "points": [[400, 200]],
        "label": "double click",
        "keys": ["Control"],
        "count": 2,
    }
    assert marks[1]["points"] == [[400, 200]] and marks[1]["label"] == "Quarterly figures"
    assert marks[2]["keys"] == ["Control", "Enter"] and marks[4]["label"] == "300 px down"
    assert marks[3]["points"] == [[100, 100], [300, 180], [500, 400]] and marks[5]["refused"]
    assert mark([step_of({"image": "", "action": {"action": "type", "text": "x"}})])["points"] == []


def test_changes_that_nobody_asked_for_are_marked(runs: Path) -> None:
    states = read_states(runs / "bad" / "mixed", "gym-edit-1-model-0")
    found = changes(states.before, states.after, [EFFECT])
    log, table = found.tables
    assert (log.name, log.changes[0].kind, log.changes[0].aside) == ("log", "added", False)
    [change] = table.changes
    assert change.aside and change.key == "id=3" and change.kind == "changed"
    [value] = change.values
    assert (value.column, value.before, value.after, value.aside) == ("status", '"open"', '"done"', True)
    assert found.before != found.after and not found.same and not found.more
    assert not changes(after(2), after(2), []).tables


def test_a_verdict_is_told_as_expected_and_found(runs: Path) -> None:
    recorded = read(runs / "bad" / "mixed", "gym-edit-1-model-0")
    assert recorded is not None
    first, second = report(recorded.manifest).checks
    assert (first.expected, first.found, first.holds) == ('rows id=2 to have status="done"', '"open"', False)
    assert (second.expected, second.found, second.weight) == ("nothing else to change", EFFECT, 2.0)
    assert report({"failure": {"cause": "browser", "message": "gone"}}).cause == "browser"
    assert report({}).cause == "unknown"


def test_time_is_told_by_phase_where_it_was_measured(runs: Path) -> None:
    recorded = read(runs / "good", "gym-edit-1-oracle-0")
    assert recorded is not None
    assert [phase.name for phase in timing(recorded).phases] == ["act and settle", "policy, reset and the rest"]
    steps = [{**step, "phases": {"think": 50.0, "settle": 30.0}} for step in recorded.steps]
    timed = timing(type(recorded)("x", recorded.folder, recorded.manifest, steps, None))
    assert [(phase.name, round(phase.seconds, 2)) for phase in timed.phases] == [
        ("think", 0.4),
        ("settle", 0.24),
        ("reset and between the steps", 0.86),
    ]
    assert sum(phase.share for phase in timed.phases) == pytest.approx(1.0)


def test_the_command_that_runs_it_again_can_be_pasted() -> None:
    told = {"harness": "gym", "task": "gym/edit", "seed": 2_000_007, "policy": "oracle"}
    assert run_again(told) == "uigym run gym/edit --policy oracle --seeds 7 --split heldout"
    assert run_again({**told, "seed": 3, "task": "a b; rm"}) == "uigym run 'gym/a b; rm' --policy oracle --seeds 3"
    assert "CHECKPOINT-OF-x" in run_again({**told, "policy": "x"})
    assert run_again({**told, "seed": -1}) == run_again({}) == ""


def test_two_episodes_part_where_they_differ(runs: Path) -> None:
    folder = runs / "good"
    one, other = read(folder, "gym-edit-1-oracle-0"), read(folder, "gym-edit-2-oracle-0")
    assert one is not None and other is not None
    assert (parted(one, one).action, parted(one, one).picture) == (None, None)
    assert (parted(one, other).action, parted(one, other).picture, parted(one, other).begin) == (None, 0, False)
    short = type(one)("x", folder, one.manifest, one.steps[:3], None)
    assert parted(one, short).action == 3


def test_thumbnails_are_kept_within_bounds(runs: Path) -> None:
    paths = sorted((runs / "good").rglob("*.png"))
    thumbs = Thumbnails(room=2500)
    sizes = [len(thumbs.of(path)) for path in paths]
    assert thumbs._size <= 2500 < sum(sizes) and max(sizes) < 2500
    fake = paths[0].with_name("fake.png")
    fake.write_bytes(b"GIF89a nonsense")
    with pytest.raises(OSError, match="cannot"):
        thumbs.of(fake)
    fake.unlink()


# --- the server ---


async def test_only_who_has_the_secret_is_let_in(runs: Path) -> None:
    async with (
        Server(create_app(Catalog([runs]))) as server,
        httpx.AsyncClient(base_url=server.origin, trust_env=False) as asking,
    ):
        for path in ("/", "/static/viewer.css", "/runs/good", "/?token=wrong", "/events"):
            answer = await asking.get(path)
            assert answer.status_code == 401 and "uigym view" in answer.text
        answer = await asking.get(server.url("//evil.example/x?a=1"))
        assert answer.status_code == 303 and answer.headers["location"] == "/evil.example/x?a=1"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "token" not in answer.headers["location"]


async def test_other_names_and_other_pages_are_refused(client: httpx.AsyncClient) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost.", "[::1"):
        assert (await client.get("/", headers={"host": host})).status_code == 403
    assert (await client.get("/", headers={"host": "localhost:9999"})).status_code == 200, "a forwarded port"
    own = str(client.base_url).rstrip("/")
    for origin, status in (("https://evil.example", 403), ("null", 403), (own, 405)):
        assert (await client.post("/", headers={"origin": origin})).status_code == status
    assert (await client.post("/")).status_code == 403
    assert (await client.get("/", headers={"origin": "https://evil.example"})).status_code == 403
    for site, mode, status in (("cross-site", "navigate", 200), ("same-site", "no-cors", 403), ("cross-site", "cors", 403), ("same-origin", "cors", 200)):  # fmt: skip
        assert (await client.get("/", headers={"sec-fetch-site": site, "sec-fetch-mode": mode})).status_code == status


async def test_pages_are_locked_and_pictures_stay_in_their_folder(client: httpx.AsyncClient, runs: Path) -> None:
    page = await client.get("/runs/good/episodes/gym-edit-1-oracle-0")
    policy = page.headers["content-security-policy"]
    assert (
        "default-src 'none'" in policy
        and "unsafe" not in policy
        and page.headers["x-content-type-options"] == "nosniff"
    )
    assert "style=" not in page.text and "<style" not in page.text and "<script>" not in page.text
    name = next((runs / "good").rglob("*.png")).stem
    picture = await client.get(f"/runs/good/pictures/{name}.png")
    assert picture.headers["content-type"] == "image/png" and "immutable" in picture.headers["cache-control"]
    assert (await client.get(f"/runs/good/thumbs/{name}.webp")).content[8:12] == b"WEBP"
    for path in ("/runs/good/pictures/..%2F..%2Frun.json.png", f"/runs/good/pictures/{'0' * 64}.png", "/static/..%2Fapp.py", "/runs/good/thumbs/x.webp", "/runs/good/kept/..%2Frun.webp"):  # fmt: skip
        assert (await client.get(path)).status_code == 404
    for path in ("/runs/nobody", "/runs/good/episodes/nobody", "/runs/good/episodes/..%2F..", "/compare?a=good/x&b=y"):
        answer = await client.get(path)
        assert answer.status_code == 404 and "All runs" in answer.text


async def test_a_download_of_the_product_is_given_as_a_file(client: httpx.AsyncClient, runs: Path) -> None:
    name = next((runs / "bad" / "mixed" / "files").rglob("*/*")).name
    answer = await client.get(f"/runs/bad~mixed/files/{name}/{quote('x.html')}")
    assert answer.content == b"a,b\n" and answer.headers["content-disposition"] == "attachment"
    assert (
        answer.headers["content-type"] == "application/octet-stream"
        and "sandbox" in answer.headers["content-security-policy"]
    )


@pytest.mark.parametrize(
    "path",
    ["/", "/grid", "/runs/bad~mixed", "/runs/bad~mixed?q=%3Cimg%3E&task=%3Cscript%3E", EVIL, f"{EVIL}?step=1", f"{EVIL}/steps/0", f"{EVIL}/steps/2",
     f"{EVIL}/rows/0", f"{EVIL}/state", f"{EVIL}/network", "/compare?a=bad~mixed/gym-evil-7&b=bad~mixed/gym-edit-2-model-0", "/runs/%3Cscript%3Ealert(1)"],
)  # fmt: skip
async def test_text_of_strangers_is_escaped(client: httpx.AsyncClient, path: str) -> None:
    text = (await client.get(path)).text
    assert "<img src=x" not in text and "<script>" not in text and 'onerror="' not in text and "&{{" not in text
    assert text.count("<script") <= 1


async def test_looking_writes_nothing(client: httpx.AsyncClient, runs: Path) -> None:
    before = listing(runs)
    for path in ("/", "/grid", "/runs/good", EVIL, f"{EVIL}/state", f"{EVIL}/export"):
        assert (await client.get(path)).status_code == 200
    assert listing(runs) == before


async def test_filters_pages_and_neighbours_go_along(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/runs/bad~mixed?flaky=1")).text
    assert "2 episodes of 4" in " ".join(listed.split()) and "episodes/gym-edit-1-model-1?flaky=1" in listed
    page = (await client.get("/runs/bad~mixed/episodes/gym-edit-1-model-0?flaky=1&step=2")).text
    assert "1 of 2" in page and 'rel="next" href="/runs/bad~mixed/episodes/gym-edit-1-model-1?flaky=1"' in page
    assert "uigym run gym/edit --policy CHECKPOINT-OF-model --seeds 1" in page and "press Control+Enter" in page
    assert "Nothing is like that" in (await client.get("/runs/good?q=zebra")).text


async def test_a_demonstration_tells_its_proof(client: httpx.AsyncClient) -> None:
    page = (await client.get("/runs/good/episodes/gym-edit-1-oracle-0")).text
    assert (
        "proven demonstration" in page
        and "uigym replay" in page
        and "a password" in page
        and "2026-12-01T00:00:00Z" in page
    )


async def test_what_pages_complained_of_stands_at_its_step(client: httpx.AsyncClient) -> None:
    path = "/runs/bad~mixed/episodes/gym-edit-1-model-0"
    page = (await client.get(path)).text
    assert "1 console message<" in page and 'href="?step=2" data-step="2">step 3</a>' in page
    assert [("exception: TypeError" in (await client.get(f"{path}/steps/{at}")).text) for at in (1, 2, 3)] == [
        False,
        True,
        False,
    ]


async def test_other_tries_are_those_of_the_same_task_and_seed(client: httpx.AsyncClient) -> None:
    await client.get("/grid")  # what has been read is known
    page = (await client.get("/runs/good/episodes/gym-edit-1-oracle-0")).text
    assert page.count("/compare?a=") == 2


# --- one file ---


def test_a_file_holds_everything_once_and_nothing_of_this_machine(runs: Path, tmp_path: Path) -> None:
    run = Run("mixed", runs / "bad" / "mixed", "episodes")
    html = export_run(run)
    assert html.count("data:image/webp;base64,") == len(list(run.folder.rglob("*.png")))
    assert "http-equiv" in html and "unsafe" not in html and str(runs) not in html
    assert "<img src=x" not in html and "<script>alert" not in html and 'src="/' not in html and 'href="/' not in html
    assert "data:image/png" in export_episode(run, "gym-edit-1-model-0", exact=True)
    assert write(tmp_path / "deep" / "run.html", html).read_text() == html
    assert "3 more are not in this file" in export_run(run, most=1)
    with pytest.raises(ConfigError, match="nobody"):
        export_episode(run, "nobody")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        write(tmp_path / "file" / "run.html", html)


def test_the_command_writes_one_run_or_one_episode(runs: Path, tmp_path: Path) -> None:
    place = runs / "good" / "episodes" / "gym-edit-2-oracle-0"
    assert episode_of([place]) == ([(runs / "good").resolve()], "gym-edit-2-oracle-0") and episode_of([runs]) == (
        [runs],
        "",
    )
    for what in (place, runs / "good"):
        result = CliRunner().invoke(command, ["view", str(what), "--export", str(tmp_path / "out.html")])
        assert result.exit_code == 0 and "Set row 2 to done." in (tmp_path / "out.html").read_text()
    result = CliRunner().invoke(command, ["view", str(runs), "--export", str(tmp_path / "out.html")])
    assert result.exit_code == 2 and "Name one of them" in result.output
    result = CliRunner().invoke(command, ["view", str(tmp_path / "nowhere")])
    assert result.exit_code == 2 and "no folder" in result.output


def test_the_command_prints_an_address_that_opens_and_ends_when_told(runs: Path) -> None:
    command = [sys.executable, "-m", "uigym", "view", str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with httpx.Client(follow_redirects=True, trust_env=False) as person:
            assert "Task by policy" in person.get(address).text
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


def test_an_empty_run_has_a_page(tmp_path: Path) -> None:
    RunStore(tmp_path / "run")
    assert "No episode is complete yet" in export_run(Run("run", tmp_path / "run", "episodes"))


def test_a_training_run_has_curves_and_what_was_kept(tmp_path: Path) -> None:
    rows = [
        {"phase": "grpo", "update": n, "success/all": n / 10, "reward/mean": n / 10, "success/task/edit": n / 10}
        for n in range(1, 6)
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"cut')
    from uigym.report.gallery import Gallery

    store = RunStore(tmp_path / "clips")
    for seed in range(3):
        episode = add(store, "edit", seed, "model", (Click(10, 10), Type(HOSTILE), Done()))
        Gallery(tmp_path).add(episode, {name: store.image(name) for name in {*(s.image for s in episode.steps), episode.final_image}}, update=seed, split="train")  # fmt: skip
    html = export_run(Run("run", tmp_path, "training"))
    assert "Does it learn?" in html and "Task by task" in html and html.count("data:image/webp") == 12
    assert "<img src=x" not in html
    assert [run.name for run in Catalog([tmp_path]).runs()] == ["clips", tmp_path.name]
