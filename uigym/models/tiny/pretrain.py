"""Teach the tiny model to read and click, from nothing, on generic synthetic pages.

    python -m uigym.models.tiny.pretrain --out DIR --minutes 30

Workers draw pages in Chromium while the trainer learns: each row is a picture with several lessons about it, and,
in training only, a probe that names the characters under every picture token. Runs on a GPU or on a CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import multiprocessing as mp
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from uigym.models.forward import SharedPrefix
from uigym.models.optim import make_optimizers
from uigym.models.prompt import Prompts
from uigym.models.tiny.build import PATCH_PX, make_config, make_model, make_tokenizer, save
from uigym.models.tiny.lessons import dictation, make_lessons
from uigym.models.tiny.pages import HEIGHT, WIDTH, make_page
from uigym.models.tiny.render import SHEET, Easel
from uigym.policy.codecs.tiny import cell, decode
from uigym.types import Click

LESSONS = 16
"""Made for a page; each visit to the page takes some of them."""
CHARACTERS = 94
"""Printable ASCII without the space: what the probe names."""
MAX_CHARS = 256
REPORT_S = 60
VISITED_FIRST = 20_000
"""Visits for which pages are drawn ahead."""
HELDOUT = 10**6
"""Seeds of the pages that are only tested on begin here."""


# --- pages ---------------------------------------------------------------------------------------------------


def take(queue: Any, workers: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The next sheet of pages.

    Raises:
        RuntimeError: A worker died.
    """
    while True:
        try:
            return queue.get(timeout=5)
        except Empty:
            if dead := [w for w in workers if w.exitcode]:
                raise RuntimeError(f"a process that draws pages ended with code {dead[0].exitcode}") from None


def _sheet(
    easel: Easel, loop: asyncio.AbstractEventLoop, rng: random.Random, prompts: Prompts
) -> list[tuple[Any, ...]]:
    pages = [make_page(rng) for _ in range(SHEET[0] * SHEET[1])]
    drawn = loop.run_until_complete(easel.draw([p.markup for p in pages]))
    out = []
    for page, picture in zip(pages, drawn, strict=True):
        lessons = make_lessons(rng, picture, page.facts, LESSONS)
        encoded = [(prompts.prompt(x.instruction, x.past), prompts.reply(x.action)) for x in lessons]
        if encoded:
            out.append((picture.image, encoded, characters(picture.chars)))
    return out


def characters(chars: np.ndarray) -> np.ndarray:
    """int16 [MAX_CHARS]: token index * 94 + character, for every visible character; -1 fills up."""
    inside = (chars[:, 1] >= 0) & (chars[:, 1] < WIDTH) & (chars[:, 2] >= 0) & (chars[:, 2] < HEIGHT)
    chars = chars[inside]
    cell = (chars[:, 2] // PATCH_PX) * (WIDTH // PATCH_PX) + chars[:, 1] // PATCH_PX
    found = (cell * CHARACTERS + chars[:, 0] - 33)[:MAX_CHARS]
    return np.pad(found, (0, MAX_CHARS - len(found)), constant_values=-1).astype(np.int16)


def draw_pages(seed: int, queue: Any, stop: Any) -> None:
    """Worker process: draw sheets of pages until told to stop."""
    loop = asyncio.new_event_loop()
    easel = Easel()
    loop.run_until_complete(easel.__aenter__())
    rng, prompts = random.Random(seed), Prompts(make_tokenizer())
    try:
        while _is_wanted(stop):
            _offer(queue, _sheet(easel, loop, rng, prompts), stop)
    finally:
        loop.run_until_complete(easel.__aexit__())
        queue.cancel_join_thread()


def _is_wanted(stop: Any) -> bool:
    """Until told to stop, or the trainer has died."""
    trainer = mp.parent_process()
    return not stop.is_set() and (trainer is None or trainer.is_alive())


def _offer(queue: Any, sheet: list[tuple[Any, ...]], stop: Any) -> None:
    while _is_wanted(stop):
        try:
            return queue.put(sheet, timeout=0.5)
        except Full:  # look again whether anybody still wants it
            continue


def end(workers: Sequence[Any], *stops: Any) -> None:
    """Let processes that draw pages close their browsers and end; one that does not is ended."""
    for stop in stops:
        stop.set()
    for worker in workers:
        worker.join(timeout=20)
        worker.terminate()


class Pool:
    """The latest pages, on the trainer's device."""

    def __init__(self, capacity: int, device: torch.device):
        self.images = torch.empty(capacity, HEIGHT, WIDTH, 3, dtype=torch.uint8, device=device)
        self.chars = torch.full((capacity, MAX_CHARS), -1, dtype=torch.int16, device=device)
        self.lessons: list[Any] = [None] * capacity
        self.drawn = 0
        self.visited = 0
        self._lock = threading.Lock()

    def add(self, sheet: list[tuple[Any, ...]]) -> None:
        """Take in a sheet of pages in place of the oldest ones."""
        at = [(self.drawn + i) % len(self.lessons) for i in range(len(sheet))]
        with self._lock:
            self.images[at] = torch.from_numpy(np.stack([s[0] for s in sheet])).to(self.images.device)
            self.chars[at] = torch.from_numpy(np.stack([s[2] for s in sheet])).to(self.chars.device)
            for i, (_, lessons, _) in zip(at, sheet, strict=True):
                self.lessons[i] = lessons
            self.drawn += len(sheet)

    def choose(self, rng: random.Random, count: int) -> tuple[Tensor, Tensor, list[Any]]:
        """Random pages: uint8 [count, H, W, 3], int16 [count, MAX_CHARS], and their lessons."""
        with self._lock:
            at = [rng.randrange(self.size) for _ in range(count)]
            self.visited += count
            return self.images[at], self.chars[at], [self.lessons[i] for i in at]

    @property
    def size(self) -> int:
        """How many pages there are."""
        return min(self.drawn, len(self.lessons))


# --- learning ------------------------------------------------------------------------------------------------


def lesson_loss(shared: SharedPrefix, features: Any, rows: Sequence[Sequence[tuple[list[int], list[int]]]]) -> Tensor:
    """Mean negative log-likelihood of the replies' tokens."""
    hidden, spans = shared.hidden(features, [[p + r for p, r in row] for row in rows])
    flat = [lesson for row in rows for lesson in row]
    b, at, target = list[int](), list[int](), list[int]()
    for row, start, (prompt, reply) in zip(spans.row.tolist(), spans.start.tolist(), flat, strict=True):
        first = start + len(prompt) - 1
        b += [row] * len(reply)
        at += range(first, first + len(reply))
        target += reply
    logits = shared.logits(hidden[torch.tensor(b, device=hidden.device), torch.tensor(at, device=hidden.device)])
    return F.cross_entropy(logits, torch.tensor(target, device=hidden.device))


def dictation_loss(shared: SharedPrefix, prompts: Prompts, features: Any, rng: random.Random, count: int) -> Tensor:
    """Mean negative log-likelihood of what is dictated, beside one picture that does not matter."""
    lessons = [dictation(rng) for _ in range(count)]
    texts = [(prompts.prompt(x.instruction, x.past), prompts.reply(x.action)) for x in lessons]
    prefix = shared.prefill((features[0][:1].detach(), [d[:1].detach() for d in features[1]]))
    hidden = shared.text_hidden(prefix.expand(count, *prefix.shape[1:]), [p + r for p, r in texts])
    picked = torch.cat([h[-len(r) - 1 : -1] for h, (_, r) in zip(hidden, texts, strict=True)])
    target = torch.tensor([token for _, r in texts for token in r], device=hidden.device)
    return F.cross_entropy(shared.logits(picked), target)


def probe_loss(probe: nn.Linear, features: Tensor, chars: Tensor) -> Tensor:
    """How badly the picture tokens tell which characters lie under them."""
    target = torch.zeros(len(features), features.shape[1] * CHARACTERS + 1, device=features.device)
    nowhere = features.shape[1] * CHARACTERS
    index = torch.where(chars < 0, nowhere, chars.long()).clamp(0, nowhere)
    target.scatter_(1, index, 1.0)
    target = target[:, :-1].view(*features.shape[:2], CHARACTERS)
    loss = F.binary_cross_entropy_with_logits(probe(features).float(), target, reduction="none").sum(-1)
    weight = torch.where(target.sum(-1) > 0, 1.0, 0.2)
    return (loss * weight).sum() / weight.sum()


@torch.no_grad()
def examine(shared: SharedPrefix, prompts: Prompts, sheets: list[list[tuple[Any, ...]]]) -> dict[str, float]:
    """Share of right next actions on pages never trained on, by verb; a click may be one cell off."""
    right: dict[str, list[bool]] = {}
    for sheet in sheets:
        images = torch.from_numpy(np.stack([s[0] for s in sheet]))
        features = shared.features(shared.pixels(images))
        pairs = [(i, p, r) for i, (_, lessons, _) in enumerate(sheet) for p, r in lessons[:6]]
        prefixes = shared.prefill(features)[[i for i, _, _ in pairs]]
        got = shared.sample(prefixes, [p for _, p, _ in pairs], max_tokens=20, temperature=0, banned=prompts.banned)
        for (_, _, wanted), ids in zip(pairs, got.ids, strict=True):
            want, have = prompts.read(wanted), prompts.read(ids)
            right.setdefault(want[1 : want.index(">")], []).append(_alike(want, have))
    scores = {verb: round(sum(v) / len(v), 3) for verb, v in sorted(right.items())}
    return {**scores, "all": round(sum(map(sum, right.values())) / sum(map(len, right.values())), 3)}


def _alike(want: str, have: str) -> bool:
    meant, said = decode(want, WIDTH, HEIGHT), decode(have, WIDTH, HEIGHT)
    if not (isinstance(meant, Click) and isinstance(said, Click) and meant.count == said.count):
        return want == have
    (x, y), (right, down) = (cell(click.x, click.y, WIDTH, HEIGHT) for click in (meant, said))
    return abs(x - right) <= 1 and abs(y - down) <= 1


def schedule(share: float, step: int) -> float:
    """Learning rate factor: warm-up over 100 steps, then a cosine down to a fiftieth."""
    return min(1.0, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, share))))


@dataclass(frozen=True, slots=True)
class Course:
    """How to learn."""

    minutes: float
    steps: float
    """The sooner of both ends it."""
    batch: int
    """Pictures a step."""
    taught: int
    """Of those, how many come with lessons; the probe alone reads the others, at a fifth of the cost."""
    lessons: int
    """A picture."""
    dictations: int
    """A step: texts to type, which need no picture."""
    rate: float = 1.0
    """Factor of the learning rates; small batches and a checkpoint to go on from want less."""
    init: str = ""
    """Checkpoint to go on from."""


def train(pool: Pool, course: Course, out: Path, heldout: list[Any]) -> None:
    """Learn from the pool and write the checkpoint, every minute and at the end."""
    device, tokenizer = pool.images.device, make_tokenizer()
    model: Any = make_model(make_config(tokenizer))
    model.to(device)
    if course.init:
        model.load_state_dict({k: v.float() for k, v in load_file(f"{course.init}/model.safetensors").items()})
    shared, prompts = SharedPrefix(model, HEIGHT, WIDTH), Prompts(tokenizer)
    model.probe = probe = make_probe(shared, pool, fit=bool(course.init))
    optimizers = make_optimizers(model, matrix_lr=0.01 * course.rate, other_lr=2e-3 * course.rate)
    bases = [[g["lr"] for g in o.param_groups] for o in optimizers]
    begun, step, said = time.monotonic(), 0, 0.0
    average: dict[str, Tensor] = {}
    rng = random.Random(0)
    while (spent := time.monotonic() - begun) < course.minutes * 60 and step < course.steps:
        for optimizer, base in zip(optimizers, bases, strict=True):
            for group, lr in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = lr * schedule(max(spent / (course.minutes * 60), step / course.steps), step)
        images, chars, lessons = pool.choose(rng, course.batch)
        rows = [rng.sample(x, min(course.lessons, len(x))) for x in lessons[: course.taught]]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            features, deep = shared.features(shared.pixels(images))
            some = features[: course.taught], [d[: course.taught] for d in deep]
            losses = {
                "lessons": lesson_loss(shared, some, rows),
                "dictation": dictation_loss(shared, prompts, some, rng, course.dictations),
                "probe": probe_loss(probe, features, chars),
            }
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        (losses["lessons"] + 0.5 * losses["dictation"] + 0.2 * losses["probe"]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        step += 1
        for name, loss in losses.items():
            weight = max(0.02, 1 / step)  # at first the plain mean of all steps
            average[name] = torch.lerp(average.get(name, loss.detach()), loss.detach(), weight)
        if spent - said > REPORT_S:
            said = spent
            report(out, model, tokenizer, shared, prompts, heldout, _told(step, spent, pool, average))
    last = {**_told(step, spent, pool, average), "final": True}
    report(out, model, tokenizer, shared, prompts, heldout, last)


def make_probe(shared: SharedPrefix, pool: Pool, *, fit: bool) -> nn.Linear:
    """The probe; fitted first to a vision tower that reads already, which a bad probe would only spoil."""
    probe = nn.Linear(shared.config.text_config.hidden_size, CHARACTERS).to(shared.device)
    nn.init.constant_(probe.bias, -4.0)
    if fit:
        images, chars, _ = pool.choose(random.Random(0), 128)
        with torch.no_grad():
            features = torch.cat([shared.features(shared.pixels(some))[0] for some in images.split(16)])
        optimizer = torch.optim.AdamW(probe.parameters(), lr=1e-2)
        for _ in range(100):
            optimizer.zero_grad()
            probe_loss(probe, features, chars).backward()
            optimizer.step()
    return probe


def _told(step: int, spent: float, pool: Pool, average: dict[str, Tensor]) -> dict[str, Any]:
    losses = {name: round(float(value), 4) for name, value in average.items()}
    return {"step": step, "s": round(spent), "drawn": pool.drawn, **losses}


def report(
    out: Path,
    model: Any,
    tokenizer: Any,
    shared: SharedPrefix,
    prompts: Prompts,
    heldout: list[Any],
    row: dict[str, Any],
) -> None:
    """Save the checkpoint, without the probe, and say how it does."""
    probe, model.probe = model.probe, None
    del model.probe
    copy = make_model(model.config)
    copy.load_state_dict({k: v.detach().cpu() for k, v in model.state_dict().items()})
    save(copy, tokenizer, out)
    model.eval()
    row.update(examine(shared, prompts, heldout))
    model.train()
    model.probe = probe
    with (out / "log.jsonl").open("a") as log:
        log.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)  # noqa: T201


def main() -> None:
    """Command line: start the workers, fill the pool, learn, stop the workers."""
    gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--steps", type=float, default=math.inf, help="end after so many steps, if that is sooner")
    parser.add_argument("--workers", type=int, default=8 if gpu else 1, help="Chromiums that draw pages")
    parser.add_argument("--batch", type=int, default=256 if gpu else 16, help="pictures a step")
    parser.add_argument("--taught", type=int, help="pictures a step that come with lessons; all of them, if not said")
    parser.add_argument("--lessons", type=int, default=6, help="lessons a picture")
    parser.add_argument("--rate", type=float, default=1.0, help="factor of the learning rates")
    parser.add_argument("--dictations", type=int, default=32, help="texts to type a step")
    parser.add_argument("--visits", type=float, default=4.0, help="to a page; the more, the less is drawn")
    parser.add_argument("--threads", type=int, default=1, help="of the trainer, on a CPU")
    parser.add_argument(
        "--capacity", type=int, default=60_000 if gpu else 4000, help="pages kept in memory, 250 kB each"
    )
    parser.add_argument("--heldout", type=int, default=12 if gpu else 4, help="sheets of 16 pages to test on")
    parser.add_argument("--init", default="", help="checkpoint to go on from")
    options = parser.parse_args()
    device = torch.device("cuda" if gpu else "cpu")
    if device.type == "cpu":
        torch.set_num_threads(options.threads)
    context = mp.get_context("spawn")
    queue, stop = context.Queue(maxsize=4 * options.workers), context.Event()
    seed = random.SystemRandom().randrange(1000) * 1000 if options.init else 0
    workers = [
        context.Process(target=draw_pages, args=(seed + i, queue, stop), daemon=True) for i in range(options.workers)
    ]
    test_stop, test_queue = context.Event(), context.Queue(maxsize=2)
    tester = context.Process(target=draw_pages, args=(HELDOUT, test_queue, test_stop), daemon=True)
    for worker in (*workers, tester):
        worker.start()
    pool = Pool(options.capacity, device)

    def fill() -> None:
        while not stop.is_set():
            if pool.drawn * options.visits > pool.visited + VISITED_FIRST:
                time.sleep(0.2)  # enough for now: the processor is wanted for learning
            else:
                pool.add(take(queue, workers))

    try:
        options.out.mkdir(parents=True, exist_ok=True)
        heldout = [take(test_queue, [tester]) for _ in range(options.heldout)]
        test_stop.set()
        while pool.size < min(options.capacity, 40 * options.batch):
            pool.add(take(queue, workers))
        threading.Thread(target=fill, daemon=True).start()
        course = Course(
            minutes=options.minutes,
            steps=options.steps,
            batch=options.batch,
            taught=min(options.batch, options.taught or options.batch),
            lessons=options.lessons,
            dictations=options.dictations,
            rate=options.rate,
            init=options.init,
        )
        train(pool, course, options.out, heldout)
    finally:
        end([*workers, tester], stop, test_stop)


if __name__ == "__main__":
    main()
