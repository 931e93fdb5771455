"""One forward pass for training and sampling: many texts about one picture cost the picture once.

A row of a batch is a picture followed by segments, each a text about that picture. Every segment attends to the
picture and to itself, with the positions that it would have alone, so that its log-probabilities equal those of a
forward pass of picture + segment. Members of a group start from one picture and often meet the same ones later;
the picture is most of a row, so sharing it is most of the saving.

Works on transformers' Qwen3-VL with pictures of one size. Shapes: B pictures, L tokens, P = 1 + V prefix tokens
(vision start and V picture tokens), N rows of text, T new tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import DynamicCache, Qwen3VLForConditionalGeneration
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Spans:
    """Where each segment lies: one entry a segment, in the order given."""

    row: Tensor
    """int64 [N]: the picture that the segment belongs to."""
    start: Tensor
    """int64 [N]: index of the segment's first token in its row."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Completions as they were sampled: these ids, with these log-probabilities."""

    ids: list[list[int]]
    """Without padding; the end token is included where it was sampled."""
    logprobs: list[list[float]]
    """Natural logarithms, at the sampling temperature, one a token."""


class SharedPrefix:
    """A Qwen3-VL model with pictures of height x width px, each used by any number of texts.

    Args:
        model: A transformers model; the tiny one or a real one.
        height, width: Of the pictures, px; multiples of patch size times merge size.

    Raises:
        ValueError: The size is not a multiple of the patch grid, so that a processor would have to resize.
    """

    def __init__(self, model: Qwen3VLForConditionalGeneration, height: int, width: int):
        self.config: Any = model.config
        vision: Any = self.config.vision_config
        cell = vision.patch_size * vision.spatial_merge_size
        if height % cell or width % cell:
            raise ValueError(f"pictures of {width} x {height} px do not fit the {cell} px grid of the model")
        self.model = model
        self.patch, self.merge, self.temporal = vision.patch_size, vision.spatial_merge_size, vision.temporal_patch_size
        self.rows, self.columns = height // self.patch, width // self.patch
        self.num_visual = (self.rows // self.merge) * (self.columns // self.merge)
        self.prefix = [self.config.vision_start_token_id] + [self.config.image_token_id] * self.num_visual
        self.grid = torch.tensor([[1, self.rows, self.columns]])
        self._tables: dict[torch.device, Any] = {}

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.lm_head.weight.device

    # --- pictures ---

    def pixels(self, images: np.ndarray | Tensor) -> Tensor:
        """uint8 [B, H, W, 3] -> [B, patches, values], exactly as the family's image processor lays them out."""
        x = torch.as_tensor(images, device=self.device).permute(0, 3, 1, 2).float().div_(127.5).sub_(1)
        m, p = self.merge, self.patch
        x = x.reshape(len(x), 3, self.rows // m, m, p, self.columns // m, m, p).permute(0, 2, 5, 3, 6, 1, 4, 7)
        x = x.unsqueeze(6).expand(*x.shape[:6], self.temporal, *x.shape[6:])
        return x.reshape(len(x), self.rows * self.columns, 3 * self.temporal * p * p)

    def features(self, pixels: Tensor) -> tuple[Tensor, list[Tensor]]:
        """[B, patches, values] -> picture tokens [B, V, hidden], and the deep ones of each deepstack layer."""
        vision = self.model.model.visual
        cos, sin, index, weight = self._vision_tables(vision)
        embed = vision.patch_embed.proj
        x = F.linear(pixels.to(embed.weight.dtype), embed.weight.flatten(1), embed.bias)
        x = x + (vision.pos_embed(index) * weight[:, :, None]).sum(1)
        deep = []
        for number, block in enumerate(vision.blocks):
            x = x + self._attend(block.attn, block.norm1(x), cos, sin)
            x = x + block.mlp(block.norm2(x))
            if number in vision.deepstack_visual_indexes:
                merger = vision.deepstack_merger_list[vision.deepstack_visual_indexes.index(number)]
                deep.append(merger(x.flatten(0, 1)).view(len(x), self.num_visual, -1))
        return vision.merger(x.flatten(0, 1)).view(len(x), self.num_visual, -1), deep

    def _attend(self, attention: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = attention.qkv(x).view(*x.shape[:2], 3, attention.num_heads, -1).unbind(2)
        q, k = (t * cos + qwen.rotate_half(t) * sin for t in (q, k))
        out = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return attention.proj(out.transpose(1, 2).flatten(2))

    def _vision_tables(self, vision: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        if self.device not in self._tables:
            index, weight = qwen.get_vision_interpolation_indices_and_weights(
                self.grid,
                num_grid_per_side=vision.num_grid_per_side,
                mode=vision.interpolation_mode,
                align_corners=vision.interpolation_align_corners,
                spatial_merge_size=self.merge,
            )
            positions = qwen.get_vision_position_ids(self.grid, self.merge)
            cos, sin = vision.rotary_pos_emb(torch.zeros(1, device=self.device), positions.to(self.device))
            tables = (cos[None, :, None], sin[None, :, None], index, weight)
            self._tables[self.device] = tuple(t.to(self.device) for t in tables)
        return self._tables[self.device]

    # --- texts ---

    def prefix_positions(self) -> Tensor:
        """int64 [3, P]: temporal, height and width positions of vision start and the picture tokens."""
        wide = self.columns // self.merge
        at = torch.arange(self.num_visual)
        picture = torch.stack([torch.ones_like(at), 1 + at // wide, 1 + at % wide])
        return torch.cat([torch.zeros(3, 1, dtype=torch.long), picture], 1)

    @property
    def text_start(self) -> int:
        """Position of the first token after the picture."""
        return 1 + max(self.rows, self.columns) // self.merge

    def hidden(self, features: tuple[Tensor, list[Tensor]], rows: Sequence[Sequence[Ids]]) -> tuple[Tensor, Spans]:
        """Last hidden states of pictures with their segments.

        Args:
            features: Of B pictures, from `features`.
            rows: B lists of segments; a segment is the ids of what follows the picture tokens.

        Returns:
            [B, L, hidden], and where the segments lie.
        """
        prefix = len(self.prefix)
        length = prefix + max(sum(map(len, segments)) for segments in rows)
        ids = np.full((len(rows), length), self.config.text_config.pad_token_id, np.int64)
        owner = np.full((len(rows), length), -1, np.int64)
        positions = np.zeros((len(rows), length), np.int64)
        spans = []
        ids[:, :prefix], owner[:, :prefix] = self.prefix, 0
        for b, segments in enumerate(rows):
            at = prefix
            for number, segment in enumerate(segments, start=1):
                end = at + len(segment)
                ids[b, at:end], owner[b, at:end] = segment, number
                positions[b, at:end] = np.arange(self.text_start, self.text_start + len(segment))
                spans.append((b, at))
                at = end
        where = torch.tensor(spans)
        owners = torch.from_numpy(owner).to(self.device)
        mask = self._block_mask(owners)
        three = torch.from_numpy(positions).expand(3, *positions.shape).clone()
        three[:, :, :prefix] = self.prefix_positions()[:, None]
        out = self._language(features, torch.from_numpy(ids).to(self.device), three.to(self.device), mask)
        return out, Spans(where[:, 0], where[:, 1])

    def _block_mask(self, owner_BL: Tensor) -> Tensor:
        length = owner_BL.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=owner_BL.device).tril()
        same = (owner_BL[:, None, :] == 0) | (owner_BL[:, None, :] == owner_BL[:, :, None])
        return (causal & same)[:, None]

    def _language(
        self,
        features: tuple[Tensor, list[Tensor]] | None,
        ids: Tensor,
        positions: Tensor,
        mask: Tensor,
        cache: Any = None,
    ) -> Tensor:
        """Run the language part; with features, `ids` begin with the prefix; without, the cache already holds it."""
        language = self.model.model.language_model
        embeds = language.embed_tokens(ids)
        deep_args = {}
        if features is not None:
            visual, deep = features
            embeds = torch.cat([embeds[:, :1], visual.to(embeds.dtype), embeds[:, 1 + self.num_visual :]], 1)
            if deep:
                places = ids == self.config.image_token_id
                deep_args = {"visual_pos_masks": places, "deepstack_visual_embeds": [d.flatten(0, 1) for d in deep]}
        return language(
            inputs_embeds=embeds,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=cache is not None,
            **deep_args,
        ).last_hidden_state

    def text_hidden(self, prefixes: Tensor, texts: Sequence[Ids]) -> Tensor:
        """Last hidden states of texts alone, with gradients that stop at the picture.

        Args:
            prefixes: From `prefill`, one for each of N texts.
            texts: What follows the picture tokens.

        Returns:
            [N, length of the longest, hidden], padded on the left.
        """
        ids, positions, mask = self._padded(texts)
        return self._language(None, ids, positions, mask, _cache(prefixes))

    # --- sampling ---

    @torch.no_grad()
    def prefill(self, features: tuple[Tensor, list[Tensor]]) -> Tensor:
        """Keys and values of the prefix: [B, layers, 2, heads, P, head size], computed once a picture."""
        count, length = len(features[0]), len(self.prefix)
        ids = torch.tensor([self.prefix] * count, device=self.device)
        positions = self.prefix_positions()[:, None].expand(3, count, -1).to(self.device)
        mask = torch.ones(length, length, dtype=torch.bool, device=self.device).tril().expand(count, 1, -1, -1)
        cache: Any = DynamicCache()
        self._language(features, ids, positions, mask, cache)
        return torch.stack([torch.stack([layer.keys, layer.values], 1) for layer in cache.layers], 1)

    @torch.no_grad()
    def sample(
        self,
        prefixes: Tensor,
        texts: Sequence[Ids],
        *,
        max_tokens: int,
        temperature: float = 1.0,
        banned: Sequence[int] = (),
        generator: torch.Generator | None = None,
    ) -> Sampled:
        """Complete texts about pictures, until the end token or `max_tokens`.

        Args:
            prefixes: From `prefill`, one for each of N texts.
            texts: N prompts: the ids that follow the picture tokens.
            temperature: 0 takes the likeliest token.
            banned: Ids that are never sampled (vision placeholders); their probability is 0 in the log-probabilities.
            generator: Source of randomness; None is torch's own.
        """
        cache = _cache(prefixes)
        ids, positions, mask = self._padded(texts)
        hidden = self._language(None, ids, positions, mask, cache)[:, -1]
        keep = mask[:, :, -1:, :]
        at = torch.tensor([self.text_start + len(t) for t in texts], device=self.device)
        ended = torch.zeros(len(texts), dtype=torch.bool, device=self.device)
        eos = self.config.text_config.eos_token_id
        drawn: list[tuple[Tensor, Tensor, Tensor]] = []
        for step in range(max_tokens):
            token, logprob = self._draw(hidden, temperature, banned, generator)
            drawn.append((token, logprob, ~ended))
            ended = ended | (token == eos)
            if step + 1 == max_tokens or bool(ended.all()):
                break
            keep = F.pad(keep, (0, 1), value=True)
            place = (at + step)[None, :, None].expand(3, -1, 1)
            hidden = self._language(None, token[:, None], place, keep, cache)[:, -1]
        return _collect(*(torch.stack(part, 1) for part in zip(*drawn, strict=True)))

    def logits(self, hidden: Tensor, banned: Sequence[int] = ()) -> Tensor:
        """Unnormalised log-probabilities over the vocabulary, float32; banned ids get -inf."""
        logits = self.model.lm_head(hidden).float()
        if banned:
            logits = logits.index_fill(-1, torch.tensor(list(banned), device=logits.device), float("-inf"))
        return logits

    def _draw(self, hidden: Tensor, temperature: float, banned: Sequence[int], generator: Any) -> tuple[Tensor, Tensor]:
        logprobs = (self.logits(hidden, banned) / (temperature or 1.0)).log_softmax(-1)
        token = (
            logprobs.argmax(-1) if not temperature else torch.multinomial(logprobs.exp(), 1, generator=generator)[:, 0]
        )
        return token, logprobs.gather(1, token[:, None])[:, 0]

    def _padded(self, texts: Sequence[Ids]) -> tuple[Tensor, Tensor, Tensor]:
        """Prompts padded on the left, after the prefix, so that all end together."""
        length, prefix = max(map(len, texts)), len(self.prefix)
        ids = np.full((len(texts), length), self.config.text_config.pad_token_id, np.int64)
        positions = np.zeros((len(texts), length), np.int64)
        real = np.zeros((len(texts), length), bool)
        for n, text in enumerate(texts):
            ids[n, length - len(text) :] = text
            positions[n, length - len(text) :] = np.arange(self.text_start, self.text_start + len(text))
            real[n, length - len(text) :] = True
        causal = np.tril(np.ones((length, length), bool))
        # A padding token attends to itself as well, since a row without any key has no softmax.
        own = causal[None] & (real[:, None, :] | np.eye(length, dtype=bool)[None])
        mask = np.concatenate([np.ones((len(texts), length, prefix), bool), own], 2)[:, None]
        three = torch.from_numpy(positions).expand(3, *positions.shape)
        return torch.from_numpy(ids).to(self.device), three.to(self.device), torch.from_numpy(mask).to(self.device)


def _cache(prefixes: Tensor) -> DynamicCache:
    cache = DynamicCache()
    for number in range(prefixes.shape[1]):
        cache.update(prefixes[:, number, 0], prefixes[:, number, 1], number)
    return cache


def _collect(ids_NT: Tensor, logprobs_NT: Tensor, live_NT: Tensor) -> Sampled:
    ids, logprobs, live = ids_NT.tolist(), logprobs_NT.tolist(), live_NT.tolist()
    lengths = [sum(row) for row in live]
    return Sampled(
        [r[:n] for r, n in zip(ids, lengths, strict=True)], [r[:n] for r, n in zip(logprobs, lengths, strict=True)]
    )
