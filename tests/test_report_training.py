"""The page of a training run: true to its numbers, whole, and there while the run goes on."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from test_report import clip, picture

from uigym.report.gallery import MAX_FRAMES, THUMB_PX, Gallery, thumbnail
from uigym.report.health import signs
from uigym.report.lines import Chart, Line, columns, draw, number, round_values, thinned
from uigym.report.training import EPISODES, Page, choose, flat, read_story, write_training
from uigym.types import Answer, Cause, Click, Failure, Stop, Verdict

CONFIG = {
    "harness": "kiosk",
    "seed": 3,
    "policy": {"model": {"path": "models/<b>qwen"}},
    "trainer": {"algorithm": {"name": "dapo"}},
}


def update(number: int, **more: float) -> dict[str, Any]:
    row = {
        "success/all": 0.1 * number,
        "success/task/order": 0.1 * number,
        "reward/mean": 0.2,
        "episodes": 8,
        "steps": 20,
    }
    return {"phase": "grpo", "update": number, **row, **more}  # fmt: skip


def run(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "run.json").write_text(
        json.dumps({"config": CONFIG, "machine": "a small one", "versions": {"torch": "2"}})
    )
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_page_of_a_run_that_has_not_learned_anything_yet(tmp_path: Path) -> None:
    html = write_training(tmp_path, running=True).read_text()
    assert "Nothing learned yet" in html and '<meta http-equiv="refresh"' in html


def test_the_page_tells_tests_updates_and_failures(tmp_path: Path) -> None:
    tests = [{"phase": "test", "update": n, "split": "heldout", "success_rate": r, "low": r - 0.1, "high": r + 0.1} for n, r in ((0, 0.25), (3, 0.75))]  # fmt: skip
    warm = {"phase": "warm_start", "step": 1, "loss": 2.0}
    lost = update(2, **{"failures/browser": 7.0})
    folder = run(tmp_path, warm, tests[0], update(1), lost, update(3, **{"util/env": 0.9, "gap/mean": 0.5}), tests[1])
    html = write_training(folder).read_text()
    words = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "From 25 % to 75 % on seeds that it never trained on" in words
    assert "95 % intervals: 15 % to 35 % at first, 65 % to 85 % at last" in words
    assert "Lost episodes of an update" in words and "browser 7" in words
    assert "environments busy" in words and "order" in words and "Warm start" in words
    assert "not: sampler and trainer agree" in words and "log-probabilities differ by 0.5 nats a token" in words
    assert 'http-equiv="refresh"' not in html and "<b>qwen" not in html and "&lt;b&gt;qwen" in html
    assert not re.search(r'(?:src|href)="(?!data:)', html) and "<script" not in html


def test_a_resumed_runs_repeated_updates_count_once_and_a_cut_line_not_at_all(tmp_path: Path) -> None:
    folder = run(tmp_path, update(1), update(2), update(2, **{"reward/mean": 0.9}))
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"phase": "grpo", "upd')
    assert [row["reward/mean"] for row in read_story(folder).updates] == [0.2, 0.9]


def test_rows_of_the_shared_picture_path_have_the_same_names() -> None:
    row = {"phase": "grpo", "update": 1, "reward": 0.5, "success": 0.25, "rollout_s": 3.0, "failures": {"browser": 2}}
    assert flat(row) == {
        "update": 1, "reward/mean": 0.5, "success/all": 0.25, "time/rollout": 3.0, "failures/browser": 2
    }  # fmt: skip


def test_episodes_are_kept_small_with_what_was_done(tmp_path: Path) -> None:
    gallery = Gallery(tmp_path)
    shown = clip("one", [Click(10, 10), *[Click(20 + i, 30) for i in range(20)], Answer("7")], Verdict(1.0, True))
    record = gallery.add(shown.episode, shown.images, update=4, split="train")
    assert len(record["frames"]) == MAX_FRAMES and "action" not in record["frames"][-1]
    gallery.add(shown.episode, shown.images, update=5, split="train")
    assert len(list(gallery.records())) == 2 and len(list((tmp_path / "pictures").iterdir())) == MAX_FRAMES
    lost = replace(
        shown.episode, stop=Stop.ERROR, verdict=None, failure=Failure(Cause.BROWSER, "it is <gone>"), answer=None
    )
    gallery.add(lost, shown.images, update=6, split="heldout")
    html = write_training(run(tmp_path, update(1))).read_text()
    assert html.count("<details") == 3 and "lost: browser" in html and "it is &lt;gone&gt;" in html
    assert "click at 10, 10" in html and "data:image/webp;base64," in html and "update 6 · heldout" in html


def test_an_episode_whose_pictures_were_not_kept(tmp_path: Path) -> None:
    shown = clip("one", [Click(10, 10)], Verdict(0.0, False))
    Gallery(tmp_path).add(shown.episode, {}, update=1, split="train")
    assert "<details" in write_training(run(tmp_path, update(1))).read_text()


def test_thumbnails_are_narrow() -> None:
    for size, expected in (((1280, 704), (THUMB_PX, 220)), ((320, 256), (320, 256))):
        with Image.open(io.BytesIO(thumbnail(picture("x", size)))) as small:
            assert small.size == expected and small.format == "WEBP"


def test_the_newest_and_some_of_the_first_are_shown() -> None:
    records = [{"update": n} for n in range(100)]
    shown = [record["update"] for record in choose(records)]
    assert len(shown) == EPISODES and shown[0] == 99 and shown[-1] == 0


def test_a_page_is_not_written_at_every_row(tmp_path: Path) -> None:
    page = Page(run(tmp_path, update(1)), every_s=1000)
    page.refresh()
    first = (tmp_path / "training.html").read_text()
    run(tmp_path, update(1), update(2))
    page.refresh()
    assert (tmp_path / "training.html").read_text() == first
    page.end()
    assert "in update 2" in (tmp_path / "training.html").read_text()


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"groups/kept": 1, "groups/zero_variance": 9, "success/all": 0.9}, "groups teach"),
        ({"gap/mean": 0.06}, "sampler and trainer agree"),
        ({"episodes": 9, "failures/browser": 1}, "the machinery holds"),
        ({"ratio/capped": 0.08, "ratio/dropped": 0.05}, "corrections are small"),
        ({"staleness/mean": 3}, "what is learned from is fresh"),
        ({"entropy": 0.0}, "it still explores"),
        ({"episode/refused": 2, "episode/steps": 6}, "it speaks the language"),
        ({"util/env": 0.1, "util/sampler": 0.2}, "nothing idles"),
    ],
)
def test_signs_of_a_run_that_goes_wrong(row: dict[str, float], name: str) -> None:
    bad = [sign.name for sign in signs([row]) if not sign.good]
    assert bad == [name]


def test_signs_are_silent_where_there_are_no_numbers() -> None:
    assert signs([]) == [] and signs([{"update": 1}]) == []


def test_charts_of_odd_numbers() -> None:
    for points in ([(1, 0.0)], [(1, 0.0), (2, 0.0)], [(5, -3.0), (6, 1e9)], [(n, n % 7) for n in range(5000)]):
        for log in (False, True):
            svg = draw(Chart("odd", [Line("a <b>", points), Line("empty", [])], log=log))
            assert "nan" not in svg and "<b>" not in svg and len(svg) < 40_000
    assert "nan" not in columns("odd", [], {"a": 0}) and "nan" not in columns("odd", [(1, {"a": 0.0})], {"a": 0})
    assert len(thinned([(n, 1.0) for n in range(5000)])) <= 240
    assert round_values(0, 1e-9)[0] == 0 and [number(x) for x in (-0.5, 2e6, 12.5)] == ["-0.5", "2M", "12.5"]
