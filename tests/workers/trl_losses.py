"""What TRL's GRPOTrainer makes of given log-probabilities and rewards. Runs in TRL's own environment, knows nothing of uigym.

    python trl_losses.py < cases.json > answers.json

A case: {"config": of GRPOConfig, "new", "old", "reference": rows of log-probabilities, "sampled": those or null, "rewards": one a
row, null for none}. An answer: {"loss", "gradient": of the loss by "new", "advantages": one a row}. Only the model's forward pass and
the sampling are stood in for; the formulas are TRL's.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer


def checkpoint(folder: str) -> None:
    """A text model of a few thousand parameters, with a tokenizer of four words."""
    words = Tokenizer(models.WordLevel({"<pad>": 0, "<eos>": 1, "a": 2, "b": 3}, unk_token="a"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>").save_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    Qwen2ForCausalLM(Qwen2Config(vocab_size=4, num_key_value_heads=2, **small)).save_pretrained(folder)


def padded(rows: list[list[float]]) -> torch.Tensor:
    """Rows of different lengths, zeros on the right."""
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def trainer_of(case: dict[str, Any], model: str, out: str) -> GRPOTrainer:
    """A trainer that plays and scores the case's rows."""
    rows = len(case["new"])
    plain = {"use_cpu": True, "bf16": False, "report_to": "none", "gradient_checkpointing": False, "output_dir": out}
    sizes = {"per_device_train_batch_size": rows, "steps_per_generation": 1, "num_generations": rows}
    trainer = GRPOTrainer(
        model,
        reward_funcs=lambda completions, **_: case["rewards"],
        args=GRPOConfig(**plain, **sizes, **case["config"]),
        train_dataset=Dataset.from_dict({"prompt": ["a"] * rows}),
    )
    trainer.current_gradient_accumulation_steps = 1
    # Switched on afterwards, for the correction alone: no server is asked for anything.
    trainer.use_vllm = case["sampled"] is not None
    ids = [[2] * (len(row) - 1) + [1] for row in case["new"]]
    trainer._generate = lambda prompts: ([[2]] * rows, ids, None, ["a"] * rows, case["sampled"], {}, None, None)
    return trainer


def answer(case: dict[str, Any], model: str, out: str) -> dict[str, Any]:
    """TRL's numbers for one case."""
    trainer = trainer_of(case, model, out)
    new, old, reference = padded(case["new"]).requires_grad_(), padded(case["old"]), padded(case["reference"])

    def forward(asked: Any, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor, None]:
        known = reference if asked is trainer.ref_model else new if torch.is_grad_enabled() else old
        return known, torch.zeros_like(known), None

    trainer._get_per_token_logps_and_entropies = forward
    trainer.model.train()
    inputs = trainer._generate_and_score_completions([{"prompt": "a"} for _ in case["new"]])
    inputs.setdefault("old_per_token_logps", old)
    loss = trainer._compute_loss(trainer.model, inputs)
    (gradient,) = torch.autograd.grad(loss, new)
    kept = [row[: len(own)].tolist() for row, own in zip(gradient, case["new"], strict=True)]
    return {"loss": loss.item(), "gradient": kept, "advantages": inputs["advantages"].tolist()}


def main() -> None:
    """Cases in, answers out."""
    cases = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint(str(Path(folder) / "model"))
        torch.set_default_dtype(torch.float64)
        answers = [answer(case, str(Path(folder) / "model"), folder) for case in cases]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
