"""The tiny model: what ships, that it reads, and that it can be made from nothing."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration

from uigym.models.tiny import tiny_checkpoint
from uigym.models.tiny.build import ACTION_TOKENS, make_config, make_model, make_tokenizer
from uigym.models.tiny.lessons import CLICKABLE, act, dictation, make_lessons
from uigym.models.tiny.pages import HEIGHT, WIDTH, Page, make_page
from uigym.models.tiny.pretrain import characters
from uigym.models.tiny.render import Drawn, Easel
from uigym.policy.codecs.tiny import decode
from uigym.policy.hf import TransformersPolicy
from uigym.types import Click, Invalid, Type

FRESH = 77_000_000
"""Seeds of pages that pretraining never drew."""
Sheet = list[tuple[Page, Drawn]]


# --- what ships ----------------------------------------------------------------------------------------------


def test_the_checkpoint_is_small_and_whole() -> None:
    files = list(tiny_checkpoint().iterdir())
    assert sum(file.stat().st_size for file in files) <= 8 * 2**20
    weights = load_file(tiny_checkpoint() / "model.safetensors")
    assert all(value.dtype == torch.bfloat16 and value.isfinite().all() for value in weights.values())
    assert not any("probe" in name for name in weights)


def test_the_checkpoint_is_what_the_code_builds() -> None:
    built = make_model(make_config(make_tokenizer()))
    shipped = Qwen3VLForConditionalGeneration.from_pretrained(tiny_checkpoint())
    sizes = {name: value.shape for name, value in shipped.state_dict().items()}
    assert sizes == {name: value.shape for name, value in built.state_dict().items()}
    assert built.num_parameters() < 4_000_000
    tokenizer = AutoTokenizer.from_pretrained(tiny_checkpoint())
    text = "".join(ACTION_TOKENS) + "<|im_start|>Open Tea – 2 €\n<|im_end|>"
    assert tokenizer.encode(text) == make_tokenizer().encode(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert shipped.generation_config.eos_token_id == tokenizer.convert_tokens_to_ids("<|im_end|>")


# --- pages and lessons ---------------------------------------------------------------------------------------


def test_pages_are_a_function_of_the_seed() -> None:
    pages = [make_page(random.Random(seed)).markup for seed in range(40)]
    assert pages == [make_page(random.Random(seed)).markup for seed in range(40)] and len(set(pages)) == 40


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    """32 fresh pages as Chromium draws them."""
    rng = random.Random(FRESH)
    pages = [make_page(rng) for _ in range(32)]

    async def draw() -> list[Drawn]:
        async with Easel() as easel:
            return [drawn for at in (0, 16) for drawn in await easel.draw([p.markup for p in pages[at : at + 16]])]

    return list(zip(pages, asyncio.run(draw()), strict=True))


@pytest.mark.browser
def test_pages_are_drawn_with_what_lies_where(sheet: Sheet) -> None:
    assert all(drawn.image.shape == (HEIGHT, WIDTH, 3) for _, drawn in sheet)
    assert all(len(np.unique(drawn.image)) > 10 and len(drawn.chars) > 10 for _, drawn in sheet)
    boxes = np.array([e["box"] for _, drawn in sheet for e in drawn.elements if e["shown"]])
    assert len(boxes) > 200 and boxes.min() >= 0 and (boxes[:, [2, 3]] <= (WIDTH + 1, HEIGHT + 1)).all()
    x, y = np.concatenate([drawn.chars[:, 1:] for _, drawn in sheet]).T
    assert x.min() >= 0 and y.min() >= 0 and x.max() < WIDTH and y.max() < HEIGHT


@pytest.mark.browser
def test_lessons_are_actions_on_what_is_shown(sheet: Sheet) -> None:
    rng, verbs = random.Random(0), set()
    for page, drawn in sheet:
        for lesson in make_lessons(rng, drawn, page.facts, 16):
            action = decode(lesson.action, WIDTH, HEIGHT)
            assert not isinstance(action, Invalid), lesson
            assert lesson.instruction and not any(isinstance(decode(p, WIDTH, HEIGHT), Invalid) for p in lesson.past)
            verbs.add(type(action).__name__)
            if isinstance(action, Click):
                assert any(inside(action, e) for e in drawn.elements if e["shown"]), lesson
    assert verbs >= {"Click", "Answer", "Done"}


def test_dictations_say_what_to_type() -> None:
    rng = random.Random(0)
    for lesson in (dictation(rng) for _ in range(200)):
        action = decode(lesson.action, WIDTH, HEIGHT)
        assert isinstance(action, Type) and action.text in lesson.instruction
        assert len(lesson.past) < 2 and all(isinstance(decode(p, WIDTH, HEIGHT), Click) for p in lesson.past)


def inside(click: Any, element: dict[str, Any]) -> bool:
    x0, y0, x1, y1 = element["box"]
    return isinstance(click, Click) and x0 <= click.x <= x1 and y0 <= click.y <= y1


def test_the_probe_is_told_which_characters_lie_where() -> None:
    told = characters(np.array([[ord("A"), 0, 0], [ord("~"), 319, 255], [ord("x"), 400, 3]]))
    assert told[:2].tolist() == [ord("A") - 33, 319 * 94 + 93] and (told[2:] == -1).all()


# --- it reads ------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_it_clicks_the_label_that_it_is_told(sheet: Sheet, tiny: Callable[..., TransformersPolicy]) -> None:
    """Measured: 99 % of some 270 labels on 96 pages like these."""
    policy, rng = tiny(temperature=0.0), random.Random(0)
    shared = policy.cache(WIDTH, HEIGHT).shared
    asked = [(n, e) for n, (_, drawn) in enumerate(sheet) for e in plain_labels(rng, drawn)]
    with torch.no_grad():
        images = [np.stack([drawn.image for _, drawn in sheet[at : at + 8]]) for at in range(0, len(sheet), 8)]
        prefixes = torch.cat([shared.prefill(shared.features(shared.pixels(some))) for some in images])
    prompts = [policy.prompts.prompt(f"Click {e['l']}.", []) for _, e in asked]
    got = shared.sample(prefixes[[n for n, _ in asked]], prompts, max_tokens=8, temperature=0.0)
    hits = [inside(decode(policy.prompts.read(i), WIDTH, HEIGHT), e) for i, (_, e) in zip(got.ids, asked, strict=True)]
    assert len(hits) > 60 and sum(hits) / len(hits) >= 0.9


def test_it_types_what_it_is_told(tiny: Callable[..., TransformersPolicy]) -> None:
    """Measured: 88 % of 200 texts, the exact text each."""
    policy, rng = tiny(temperature=0.0), random.Random(0)
    shared, lessons = policy.cache(WIDTH, HEIGHT).shared, [dictation(rng) for _ in range(80)]
    with torch.no_grad():
        blank = np.full((1, HEIGHT, WIDTH, 3), 240, np.uint8)
        prefixes = shared.prefill(shared.features(shared.pixels(blank)))[[0] * len(lessons)]
    prompts = [policy.prompts.prompt(x.instruction, x.past) for x in lessons]
    got = shared.sample(prefixes, prompts, max_tokens=40, temperature=0.0, banned=policy.prompts.banned)
    right = [policy.prompts.read(ids) == x.action for ids, x in zip(got.ids, lessons, strict=True)]
    assert sum(right) / len(right) >= 0.7


def plain_labels(rng: random.Random, drawn: Drawn) -> list[dict[str, Any]]:
    """Up to three things on a page that can be seen and whose label names nothing else."""
    names = [e["l"].lower() for e in drawn.elements if e["k"] not in ("value", "count", "line")]
    plain = [
        e
        for e in drawn.elements
        if e["k"] in CLICKABLE and e["shown"] and e["box"][3] - e["box"][1] >= 9 and names.count(e["l"].lower()) == 1
    ]
    return rng.sample(plain, min(3, len(plain)))


def test_the_lessons_own_aim_is_inside() -> None:
    element = {"box": [100.0, 40.0, 140.0, 60.0]}
    assert inside(decode(act(element), WIDTH, HEIGHT), element)


# --- from nothing --------------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.slow
def test_pretraining_from_nothing(tmp_path: Path) -> None:
    """The command, with sizes so small that it ends at once."""
    name = f"pretrain-{uuid.uuid4()}"
    sizes = ["--steps", "20", "--batch", "1", "--capacity", "16", "--heldout", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "uigym.models.tiny.pretrain", "--out", str(tmp_path / "model"), *sizes],
        env={**os.environ, "UIGYM_TEST": name},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads((tmp_path / "model" / "log.jsonl").read_text().splitlines()[-1])
    assert told["final"] and told["step"] == 20 and 0 <= told["all"] <= 1
    assert told["lessons"] < math.log(384) - 0.05, "below what a model that knows nothing has"
    assert not running_with(name)
    TransformersPolicy(tmp_path / "model")


@pytest.mark.browser
@pytest.mark.slow
def test_a_killed_pretraining_leaves_no_process(tmp_path: Path) -> None:
    name = f"pretrain-{uuid.uuid4()}"
    sizes = ["--minutes", "5", "--batch", "1", "--capacity", "16", "--heldout", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "uigym.models.tiny.pretrain", "--out", str(tmp_path / "model"), *sizes],
        env={**os.environ, "UIGYM_TEST": name},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as trainer:
        deadline = time.monotonic() + 120
        while len(running_with(name)) < 6 and time.monotonic() < deadline:  # it, its workers, their browsers
            time.sleep(0.1)
        trainer.kill()
    while running_with(name) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not running_with(name)


def running_with(name: str) -> list[str]:
    """Processes that inherited a test's name."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [file.parent.name] if name.encode() in file.read_bytes() else []
        except OSError:  # it has just ended, or is somebody else's
            continue
    return found
