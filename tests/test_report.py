"""The page of a run: whole, self-contained, true to its numbers."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from uigym.errors import StoreError
from uigym.report import Clip, write_report
from uigym.report.charts import curve, percent, running_mean, ticks
from uigym.report.film import MAX_FRAMES, caption, frames, marks
from uigym.report.page import duration, render
from uigym.types import (
    Action,
    Answer,
    Cause,
    Click,
    Done,
    Drag,
    Episode,
    Failure,
    Invalid,
    Key,
    Part,
    Scroll,
    StepRecord,
    Stop,
    Type,
    Verdict,
)


def picture(text: str, size: tuple[int, int] = (320, 256)) -> bytes:
    image = Image.new("RGB", size, "#fbf7ef")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, size[0], 34), fill="#20443a")
    draw.text((10, 10), text, fill="white")
    for i, name in enumerate(("Green tea", "Espresso", "Lemon cake", "Bagel")):
        left, top = 12 + 152 * (i % 2), 50 + 62 * (i // 2)
        draw.rounded_rectangle((left, top, left + 144, top + 54), 6, fill="white", outline="#d8d0c0")
        draw.text((left + 12, top + 20), name, fill="#20443a")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def clip(title: str, actions: list[Action], verdict: Verdict | None = None, **more: Any) -> Clip:
    pngs = [picture(f"{title}: screen {i}") for i in range(len(actions) + 1)]
    names = [hashlib.sha256(png).hexdigest() for png in pngs]
    steps = tuple(
        StepRecord(name, action, error="that is outside the viewport" if isinstance(action, Drag) else None)
        for name, action in zip(names, actions, strict=False)
    )
    episode = Episode(
        id=title, harness="kiosk", task="order", seed=2_000_007, params={}, steps=steps, verdict=verdict,
        instruction="Order two green teas for table 3.", stop=more.pop("stop", Stop.DONE), final_image=names[-1],
        appearance={"theme": "plum", "layout": "tiles"}, wall_s=1.7, **more,
    )  # fmt: skip
    return Clip(title, episode, dict(zip(names, pngs, strict=True)))


def clips() -> list[Clip]:
    wrong = Verdict(
        0.0, False,
        (Part("added(order_lines)", 0.0, "expected one new row with item=Green tea, quantity=2; found item=Espresso, quantity=1"),
         Part("unchanged", 1.0)),
        "expected one new row with item=Green tea", ("orders[41]: new",),
    )  # fmt: skip
    right = Verdict(1.0, True, (Part("added(order_lines)", 1.0), Part("unchanged", 1.0)))
    return [
        clip("before", [Click(230, 76), Click(82, 140), Drag(((20, 20), (900, 90))), Done()], wrong),
        clip("after", [Click(82, 76), Click(82, 76), Scroll(160, 180, 0, 90), Type("3"), Key("Enter"), Done()], right),
    ]


def summary(**changes: Any) -> dict[str, Any]:
    tasks = {
        "order": (0.42, 0.93),
        "order_two": (0.31, 0.88),
        "cancel": (0.55, 0.9),
        "owed": (0.38, 0.71),
        "pay": (0.6, 0.55),
    }

    def rate(value: float, which: int) -> dict[str, Any]:
        per_task = {f"kiosk/{k}": {"success_rate": v[which], "episodes": 60} for k, v in tasks.items()}
        return {"success_rate": value, "low": value - 0.06, "high": value + 0.05, "episodes": 300, "tasks": per_task}

    wave = [((i * 37) % 11 - 5) / 60 for i in range(40)]
    found: dict[str, Any] = {
        "harness": "kiosk", "seed": 0,
        "phases": {"check": 21.0, "demonstrations": 64.2, "warm_start": 182.0, "evaluate_before": 48.0, "grpo": 411.0, "evaluate_after": 46.0},
        "before": {"sampled": rate(0.412, 0), "greedy": rate(0.47, 0)},
        "after": {"sampled": rate(0.861, 1), "greedy": rate(0.9, 1)},
        "curve": [{"update": i + 1, "reward": min(1.0, 0.42 + i / 80 + w), "success": min(1.0, 0.4 + i / 80 - w), "wall_s": i * 10.0} for i, w in enumerate(wave)],
        "failures": {"browser": 2}, "steps_per_s": 24.6,
        "machine": "x86_64, 2 cores, 8 GiB, no GPU used", "versions": {"uigym": "0.1.0", "torch": "2.13.0"},
        "command": "uigym quickstart --out runs/quickstart --seed 0",
    }  # fmt: skip
    return {**found, **changes}


def test_report_says_the_headline_numbers(tmp_path: Path) -> None:
    html = write_report(summary(), tmp_path / "new", clips()).read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "From 41 % to 86 % on screens it had never seen" in text
    assert "+45 points" in text
    assert "Order two green teas for table 3." in text
    assert "expected one new row with item=Green tea, quantity=2" in text
    assert list(tmp_path.glob("new/*")) == [tmp_path / "new" / "report.html"]


def test_report_needs_nothing_beside_itself() -> None:
    html = render(summary(), clips())
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", html)
    assert "url(" not in html and "@import" not in html and "<script" not in html
    assert html.count("data:image/png;base64,") == 12


def test_what_a_policy_says_is_shown_as_text() -> None:
    said = clip("before", [Type("<script>alert(1)</script>"), Invalid("<b>bold", "no action")], Verdict(0.0, False))
    html = render(summary(harness="<i>kiosk"), [said])
    assert "<script" not in html and "<b>bold" not in html and "<i>kiosk" not in html


def test_without_updates_clips_and_failures_there_is_still_a_page() -> None:
    html = render(summary(curve=[], failures={}))
    assert "How it learned" not in html and "One task" not in html
    assert "every episode got its verdict" in html


def test_an_episode_without_verdict_names_its_cause() -> None:
    lost = clip("before", [Click(1, 1)], stop=Stop.ERROR, failure=Failure(Cause.BROWSER, "the page crashed"))
    assert "lost to the browser: the page crashed" in render(summary(), [lost])


def test_a_full_disk_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file in the way")
    with pytest.raises(StoreError, match=r"cannot write .*report\.html"):
        write_report(summary(), tmp_path / "out")


def test_long_strips_are_cut_and_pictures_that_were_not_kept_are_left_out() -> None:
    long = clip("after", [Click(i, i) for i in range(MAX_FRAMES + 5)], Verdict(0.0, False))
    assert len(frames(long)) == MAX_FRAMES
    assert "5 more steps are not shown" in render(summary(), [long])
    assert frames(Clip("after", long.episode, {})) == []


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(12, 40.4), "click at 12, 40"),
        (Click(1, 2, "right", 1, ("Control",)), "Control right click at 1, 2"),
        (Click(1, 2, count=2), "double click at 1, 2"),
        (Drag(((0, 0), (5, 5), (9, 8))), "drag from 0, 0 to 9, 8"),
        (Scroll(1, 1, 0, 120), "scroll by 0, 120"),
        (Type("tea"), "type “tea”"),
        (Key("Control+A"), "press Control+A"),
        (Answer("12.50"), "answer “12.50”"),
        (Done(), "say: done"),
        (Invalid("hm", "no action"), "no action: “hm”"),
    ],
)
def test_captions(action: Action, words: str) -> None:
    assert caption(StepRecord("", action)) == words


def test_marks_stand_where_the_pointer_was() -> None:
    assert 'cx="82.0" cy="76.0"' in marks(Click(82, 76), 320, 256)
    assert 'viewBox="0 0 320 256"' in marks(Click(82, 76), 320, 256)
    assert marks(Type("x"), 320, 256) == ""


def test_numbers_as_people_read_them() -> None:
    assert [percent(v) for v in (0.0, 0.004, 0.5, 1.0)] == ["0 %", "0.4 %", "50 %", "100 %"]
    assert [duration(v) for v in (8.24, 59.0, 75, 3700)] == ["8.2 s", "59 s", "1 min 15 s", "1 h 1 min"]
    assert running_mean([0.0, 1.0, 1.0], 2) == [0.0, 0.5, 1.0]
    assert ticks(1, 40) == [10, 20, 30, 40]


def test_a_curve_reaches_from_its_first_to_its_last_update() -> None:
    svg = curve("Reward", "reward", [(1, 0.0), (2, 1.0)], window=1)
    assert 'points="50.0,210.0 500.0,14.0"' in svg
