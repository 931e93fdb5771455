"""How fast a full update is at real size, with random weights, and against TRL's GRPOTrainer on the same batch.

    python benchmarks/train_speed.py --toy --out results.json            rehearsal on a CPU, a minute
    python benchmarks/train_speed.py --size 3b --part ours --out 3b-ours.json
    python benchmarks/train_speed.py --size 3b --part trl --out 3b-trl.json
    python benchmarks/train_speed.py --join 3b-ours.json 3b-trl.json --out 3b.json

A row is an episode's window: a system prompt and six turns, each a screenshot of 1280 x 704 px and a reply. One update
is forward and backward over all rows, gradient clipping and AdamW. Nothing is downloaded: the configurations are those
of Qwen2.5-VL, the weights random, the tokenizer a tiny one.

Model FLOPs are those that the language part needs without recomputation: 6 a weight and token in its layers, 12 a
pair of tokens that attend and channel, and the head at reply tokens. Utilisation divides them by the time without the
vision tower's.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image, ImageDraw
from torch import nn
from transformers import AutoConfig, AutoModelForImageTextToText

from uigym.models import families
from uigym.models.families.family import Family
from uigym.models.families.random import random_checkpoint
from uigym.train.engine import Engine, EngineSettings
from uigym.train.losses import LossSettings
from uigym.train.windows import Turn, Window, windows

PEAK = {"H100": 989e12, "H200": 989e12, "A100": 312e12, "H20": 148e12}
"""Dense bfloat16 FLOP/s, from the makers' data sheets."""
SIZES: dict[str, dict[str, Any]] = {
    "toy": {"text": {}, "vision": {}, "screen": (128, 64), "reply": 8},
    "3b": {
        "text": {
            "hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 2,
            "intermediate_size": 11008, "vocab_size": 151936, "tie_word_embeddings": True,
        },
        "vision": {"out_hidden_size": 2048},
        "screen": (1280, 704),
        "reply": 60,
    },
    "7b": {
        "text": {
            "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
            "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": False,
        },
        "vision": {"out_hidden_size": 3584},
        "screen": (1280, 704),
        "reply": 60,
    },
}  # fmt: skip
_ROPE = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
_VISION = {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31]}  # fmt: skip
PICTURES = 6


# --- a model of that size ---


def checkpoint(folder: Path, size: str) -> Path:
    """A folder with configuration, tokenizer and processor; of the toy with weights too."""
    random_checkpoint(folder, "qwen2_5_vl")
    if size == "toy":
        return folder
    (folder / "model.safetensors").unlink()
    config = json.loads((folder / "config.json").read_text())
    text, given = config["text_config"], SIZES[size]
    text |= given["text"] | {"max_position_embeddings": 128000, "rope_parameters": _ROPE}
    text.pop("layer_types", None)
    config["vision_config"] |= _VISION | given["vision"]
    config["tie_word_embeddings"] = given["text"]["tie_word_embeddings"]
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def random_model(folder: Path, dtype: torch.dtype, device: str) -> nn.Module:
    """The model of a configuration with random weights, made where it shall be."""
    torch.manual_seed(0)
    with torch.device(device):
        config = AutoConfig.from_pretrained(folder)
        model = AutoModelForImageTextToText.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return model.to(device).eval()


class Unsaved:
    """A family whose model is made on the spot instead of being read."""

    def __init__(self, family: Family):
        self._family = family

    def __getattr__(self, name: str) -> Any:
        return getattr(self._family, name)

    def load(self, folder: Path, dtype: torch.dtype, device: str) -> nn.Module:
        """The model with random weights."""
        return random_model(folder, dtype, device)


# --- rows ---


def screenshot(draw: random.Random, width: int, height: int) -> bytes:
    """A PNG that looks somewhat like a page: panels and lines of text."""
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for _ in range(40):
        x, y = draw.randrange(width), draw.randrange(height)
        colour = tuple(draw.randrange(256) for _ in range(3))
        pen.rectangle([x, y, x + draw.randrange(20, 300), y + draw.randrange(8, 60)], fill=colour)
        pen.text((draw.randrange(width), draw.randrange(height)), "Settings of account " * 3, fill="black")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def sampled(family: Family, count: int, size: str) -> tuple[list[Window], dict[str, bytes]]:
    """Rows of six screenshots each, with random replies."""
    draw, given = random.Random(0), SIZES[size]
    pngs: dict[str, bytes] = {}
    rows: list[Window] = []
    for _ in range(count):
        turns: list[Turn] = []
        for step in range(PICTURES):
            png = screenshot(draw, *given["screen"])
            name = hashlib.sha256(png).hexdigest()
            picture = family.picture(name, *given["screen"])
            pngs[name] = family.shown(picture, png)
            before = family.closing(turns[-1].reply) if turns else []
            asked = family.asking(f"Step {step}.", [picture]) if turns else family.fresh("Do it.", (), "Go.", [picture])
            reply = tuple(draw.randrange(3, 250) for _ in range(given["reply"]))
            turns.append(Turn(not turns, (*before, *asked), (picture,), reply, (-8.0,) * len(reply)))
        rows += windows(turns)
    return rows, pngs


# --- measuring ---


def flops(config: Any, rows: list[Window]) -> float:
    """Of the language part's forward and backward pass over rows."""
    text = config.text_config
    hidden, head = text.hidden_size, text.hidden_size // text.num_attention_heads
    attention = hidden * head * (2 * text.num_attention_heads + 2 * text.num_key_value_heads)
    weights = text.num_hidden_layers * (attention + 3 * hidden * text.intermediate_size)
    tokens = sum(len(row.ids) for row in rows)
    pairs = sum(len(row.ids) ** 2 / 2 for row in rows)
    replies = sum(len(row.logprobs) for row in rows)
    return (
        6.0 * weights * tokens
        + 12.0 * text.num_hidden_layers * hidden * pairs
        + 6.0 * hidden * text.vocab_size * replies
    )


class Vision:
    """Time that the vision tower's forward pass takes."""

    def __init__(self, tower: nn.Module, device: str):
        self._gpu, self._pairs = device == "cuda", []
        self._begun: Any = None
        tower.register_forward_pre_hook(lambda *_: setattr(self, "_begun", self._now()))
        tower.register_forward_hook(lambda *_: self._pairs.append((self._begun, self._now())))

    def _now(self) -> Any:
        if not self._gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def take(self) -> float:
        """Seconds since the last time, after the device has finished."""
        pairs, self._pairs = self._pairs, []
        return sum(a.elapsed_time(b) / 1000 if self._gpu else b - a for a, b in pairs)


@dataclass
class Result:
    """What was measured."""

    name: str
    size: str
    rows: int
    tokens: int
    updates: int
    seconds: float
    """Of an update: the median."""
    all_seconds: list[float]
    vision_seconds: float
    tokens_s: float
    peak_gib: float | None
    tflops: float
    """Model FLOPs of the language part a second, without the vision tower's time, in units of 1e12."""
    mfu: float | None
    loss: float
    first_update_s: float
    options: dict[str, Any]
    machine: dict[str, Any]


def measure(name: str, update: Callable[[], float], vision: Vision, plan: Plan, options: dict[str, Any]) -> Result:
    """Time updates until the time is over: one to warm up, then at least two."""
    begun = time.perf_counter()
    loss = update()
    first, _ = time.perf_counter() - begun, vision.take()
    if plan.gpu:
        torch.cuda.reset_peak_memory_stats()
    times, towers = [], []
    while len(times) < 2 or (time.perf_counter() - begun < plan.seconds and len(times) < plan.most):
        start = time.perf_counter()
        loss = update()
        if plan.gpu:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        towers.append(vision.take())
    median, tower = sorted(times)[len(times) // 2], sorted(towers)[len(towers) // 2]
    rate = flops(plan.config, plan.rows) / (median - tower)
    tokens = sum(len(row.ids) for row in plan.rows)
    peak = torch.cuda.max_memory_allocated() / 2**30 if plan.gpu else None
    machine = {"device": plan.device_name, "torch": torch.__version__}
    limit = next((value for key, value in PEAK.items() if key in plan.device_name), None)
    return Result(
        name, plan.size, len(plan.rows), tokens, len(times), median, times, tower, tokens / median, peak, rate / 1e12,
        rate / limit if limit else None, loss, first, options, machine,
    )  # fmt: skip


@dataclass
class Plan:
    """What is measured, and for how long."""

    size: str
    folder: Path
    family: Family
    rows: list[Window]
    pngs: dict[str, bytes]
    seconds: float
    most: int

    @property
    def gpu(self) -> bool:
        """Whether there is one."""
        return torch.cuda.is_available()

    @property
    def device(self) -> str:
        """Where it runs."""
        return "cuda" if self.gpu else "cpu"

    @property
    def device_name(self) -> str:
        """As the driver calls it."""
        return torch.cuda.get_device_name() if self.gpu else "CPU"

    @property
    def config(self) -> Any:
        """Of the model."""
        return AutoConfig.from_pretrained(self.folder)

    @property
    def advantages(self) -> list[float]:
        """Half of the rows did well."""
        return [1.0 if i % 2 else -0.5 for i in range(len(self.rows))]


# --- the two trainers ---


def ours(plan: Plan, args: argparse.Namespace) -> Result:
    """uigym's engine."""
    settings = EngineSettings(
        recompute=args.recompute, compile=args.compile, liger=args.liger, windows=args.windows, budget=args.budget, vision=args.vision,
        precision="bf16",
    )  # fmt: skip
    engine = Engine(
        Unsaved(plan.family), plan.folder, settings, loss=LossSettings(importance="none"), device=plan.device
    )  # type: ignore[arg-type]
    vision = Vision(plan.family.vision(engine.model), plan.device)

    def update() -> float:
        return engine.train(plan.rows, plan.advantages, plan.pngs, denominator=1.0 * len(plan.rows))["loss"]

    try:
        return measure("uigym", update, vision, plan, asdict(settings))
    finally:
        engine.close()


def trl(plan: Plan, args: argparse.Namespace) -> Result:
    """TRL's GRPOTrainer: its own loss on tensors that are already on the device, its own optimizer; a row at a time."""
    import trl as package
    from datasets import Dataset
    from transformers import AutoTokenizer

    dtype = torch.bfloat16 if args.trl_dtype == "bf16" else torch.float32
    model = random_model(plan.folder, dtype, plan.device)
    plan.family.vision(model).requires_grad_(args.trl_vision)
    with tempfile.TemporaryDirectory() as out:
        config = package.GRPOConfig(
            output_dir=out, bf16=plan.gpu, use_cpu=not plan.gpu, report_to=[], learning_rate=1e-6, beta=0.0,
            num_generations=2, per_device_train_batch_size=2, gradient_checkpointing=True, max_grad_norm=1.0,
        )  # fmt: skip
        trainer = package.GRPOTrainer(
            model=model, args=config, reward_funcs=lambda completions, **_: [0.0] * len(completions),
            train_dataset=Dataset.from_dict({"prompt": ["Go."] * 4}),
            processing_class=AutoTokenizer.from_pretrained(plan.folder, padding_side="left"),
        )  # fmt: skip
        trainer.create_optimizer()
        wrapped, optimizer = trainer.accelerator.prepare(trainer.model, trainer.optimizer)
        wrapped.train()
        if config.gradient_checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        trainer.current_gradient_accumulation_steps = len(plan.rows)
        batches = [trl_inputs(plan, i, dtype) for i in range(len(plan.rows))]
        vision = Vision(plan.family.vision(model), plan.device)

        def update() -> float:
            total = torch.zeros((), device=plan.device)
            for inputs in batches:
                loss = trainer._compute_loss(wrapped, inputs)
                trainer.accelerator.backward(loss)
                total += loss.detach()
            trainer.accelerator.clip_grad_norm_(wrapped.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            return float(total)

        options = {"trl": package.__version__, "dtype": args.trl_dtype, "vision": args.trl_vision, "batch": 1}
        return measure("trl", update, vision, plan, options)


def trl_inputs(plan: Plan, index: int, dtype: torch.dtype) -> dict[str, Any]:
    """A row as TRL's loss wants it: prompt, completion with everything after it, and a mask of what was sampled."""
    row = plan.rows[index]
    inputs = plan.family.inputs([row], plan.pngs, plan.device, dtype)
    first = row.replies[0][0]
    ids = inputs.pop("input_ids")
    inputs.pop("attention_mask")
    inputs.pop("position_ids", None)
    said = torch.zeros_like(ids)
    said[0, row.positions] = 1
    ones = torch.ones_like(ids)
    return {
        **inputs,
        "prompt_ids": ids[:, :first], "prompt_mask": ones[:, :first],
        "completion_ids": ids[:, first:], "completion_mask": ones[:, first:], "tool_mask": said[:, first:],
        "advantages": torch.tensor([plan.advantages[index]], device=ids.device),
        "num_images": [len(row.pictures)],
        "num_items_in_batch": torch.tensor(sum(len(r.logprobs) for r in plan.rows), device=ids.device),
    }  # fmt: skip


def compared(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Each of our results over each of TRL's, of one size."""
    pairs = [
        (a, b)
        for a in results
        for b in results
        if a["name"] == "uigym" and b["name"] == "trl" and a["size"] == b["size"]
    ]
    return {
        "results": results,
        "compared": [
            {
                "size": a["size"], "options": [a["options"], b["options"]],
                "tokens_s": a["tokens_s"] / b["tokens_s"],
                "peak": a["peak_gib"] / b["peak_gib"] if a["peak_gib"] and b["peak_gib"] else None,
            }
            for a, b in pairs
        ],
    }  # fmt: skip


# --- the command ---


@contextlib.contextmanager
def planned(size: str, args: argparse.Namespace) -> Iterator[Plan]:
    """A checkpoint folder and rows."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = checkpoint(Path(temporary), size)
        family = families.open(folder)
        rows, pngs = sampled(family, args.rows, size)
        yield Plan(size, folder, family, rows, pngs, args.seconds, args.most)


def main() -> None:
    """Measure one part, or put results together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=list(SIZES), default="3b")
    parser.add_argument("--part", choices=["ours", "trl", "both"], default="ours")
    parser.add_argument("--toy", action="store_true", help="size toy on a CPU")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=90, help="after which no further update is begun")
    parser.add_argument("--most", type=int, default=12, help="updates that are timed")
    parser.add_argument("--recompute", type=float, default=1.0, help="share of layers that are recomputed")
    parser.add_argument("--budget", type=int, default=8192, help="tokens of a micro-batch")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--liger", action="store_true")
    parser.add_argument(
        "--windows", action="store_true", help="the vision tower attends in all windows at once, in ours"
    )
    parser.add_argument("--vision", action="store_true", help="the vision tower learns too, in ours")
    parser.add_argument("--trl-vision", action="store_true", help="it learns in TRL, as by its defaults")
    parser.add_argument("--trl-dtype", choices=["bf16", "fp32"], default="bf16", help="of TRL's weights")
    parser.add_argument("--join", nargs="+", type=Path, help="results to put together")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.toy:
        args.size, args.rows, args.most = "toy", min(args.rows, 4), 2
    said: Any
    if args.join:
        said = compared([json.loads(path.read_text()) for path in args.join])
    else:
        results = []
        for part in ("ours", "trl") if args.part == "both" else (args.part,):
            with planned(args.size, args) as plan:
                results.append(asdict({"ours": ours, "trl": trl}[part](plan, args)))
        said = results[0] if len(results) == 1 else compared(results)
    text = json.dumps(said, indent=2)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    main()
