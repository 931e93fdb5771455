"""Screenshots on their way into a model: the same values as the families' own processors, and never resized unasked."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
from conversations import ALL, SIZES, Conversations, as_png, family, folder, noise
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from transformers import Idefics3ImageProcessorPil, Qwen2VLImageProcessorPil, SmolVLMImageProcessorPil

from uigym.models.families.pictures import Pictures, as_bytes
from uigym.models.families.random import KINDS
from uigym.policy.codecs import CODECS, Screen
from uigym.policy.codecs.qwen import smart_resize
from uigym.train.windows import Picture
from uigym.types import Click

PROCESSORS: dict[str, Any] = {"smolvlm": SmolVLMImageProcessorPil, "idefics3": Idefics3ImageProcessorPil}


def theirs(kind: str, pictures: list[np.ndarray]) -> dict[str, torch.Tensor]:
    """What transformers' processor makes of pictures."""
    processor = PROCESSORS.get(kind, Qwen2VLImageProcessorPil).from_pretrained(family(kind).folder)
    images = [Image.fromarray(pixels) for pixels in pictures]
    return dict(processor(images if kind.startswith(("qwen", "tiny")) else [images], return_tensors="pt"))


@pytest.mark.parametrize("kind", ALL)
def test_values_are_those_of_the_familys_processor(kind: str) -> None:
    told = Conversations(kind)
    shots = [noise(seed, *SIZES[kind]) for seed in range(2)]
    row = told.window([told.picture(shot) for shot in shots])
    ours, wanted = told.family.inputs([row], told.pngs, "cpu", torch.float32), theirs(kind, shots)
    torch.testing.assert_close(ours["pixel_values"], wanted["pixel_values"], atol=1e-6, rtol=0)
    if "image_grid_thw" in ours:
        assert torch.equal(ours["image_grid_thw"], wanted["image_grid_thw"])


@pytest.mark.parametrize("kind", ["qwen2_5_vl", "qwen3_vl", "qwen3_5", "tiny"])
def test_what_fits_the_grid_is_never_resized(kind: str) -> None:
    """Each value stands for one value of one pixel: (x / 255 - mean) / deviation."""
    told = Conversations(kind)
    shot = noise(7, *SIZES[kind])
    inputs = told.family.inputs([told.window([told.picture(shot)])], told.pngs, "cpu", torch.float32)
    mean, std = (x.flatten() for x in (told.family._mean, told.family._std))
    values = (torch.from_numpy(shot).reshape(-1, 3) / 255 - mean) / std
    times = inputs["pixel_values"].numel() // values.numel()
    torch.testing.assert_close(
        inputs["pixel_values"].flatten().sort().values, values.flatten().sort().values.repeat_interleave(times)
    )


@pytest.mark.parametrize("kind", ["smolvlm", "idefics3"])
def test_tiles_are_cut_and_never_resized(kind: str) -> None:
    told = Conversations(kind)
    shot = noise(7, *SIZES[kind])
    inputs = told.family.inputs([told.window([told.picture(shot)])], told.pngs, "cpu", torch.float32)
    tiles = (inputs["pixel_values"][0] * 0.5 + 0.5) * 255
    size = told.family.tile
    columns = shot.shape[1] // size
    for number, tile in enumerate(tiles[:-1]):
        r, c = divmod(number, columns)
        cut = shot[r * size : (r + 1) * size, c * size : (c + 1) * size]
        torch.testing.assert_close(tile.permute(1, 2, 0), torch.from_numpy(cut).float(), atol=1e-3, rtol=0)


@pytest.mark.parametrize("kind", ALL)
@given(width=st.integers(40, 1500), height=st.integers(40, 1200))
def test_what_is_shown_is_not_resized_again(kind: str, width: int, height: int) -> None:
    """A server's processor that is sent the picture at its size leaves it as it is."""
    made = family(kind)
    picture = made.picture("x", width, height)
    again = made.picture("x", picture.width, picture.height)
    assert again == picture and picture.tokens == sum(made.runs(picture)) > 0
    if kind in PROCESSORS:
        assert max(picture.width, picture.height) == 4 * made.tile
    else:
        assert picture.tokens * made.cell**2 == picture.width * picture.height <= 1280 * made.cell**2


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_as_many_placeholders_as_the_processor_counts(kind: str) -> None:
    told = Conversations(kind)
    for width, height in ((130, 70), (71, 190)):
        shot = noise(3, width, height)
        picture = told.picture(shot)
        shown = told.family.shown(picture, told.pngs[picture.hash])
        with Image.open(io.BytesIO(shown)) as image:
            assert image.size == (picture.width, picture.height)
            made = theirs(kind, [np.array(image)])
        each = 4  # patches a placeholder, or placeholders a tile
        values = made["pixel_values"]
        assert picture.tokens == (len(values) // each if kind.startswith("qwen") else values.shape[1] * each)
        ours = told.family.inputs([told.window([picture])], told.pngs, "cpu", torch.float32)["pixel_values"]
        torch.testing.assert_close(ours, values, atol=1e-6, rtol=0)


def test_the_real_grids() -> None:
    for kind, size, tokens in (
        ("qwen2_5_vl", (1288, 728), 1196),
        ("qwen3_vl", (1280, 704), 880),
        ("qwen3_vl", (640, 480), 300),
    ):
        picture = family(kind).picture("x", *size)
        assert (picture.width, picture.height, picture.tokens) == (*size, tokens)


@given(width=st.integers(200, 3000), height=st.integers(200, 2000))
def test_the_codec_and_the_family_mean_the_same_pixels(width: int, height: int) -> None:
    """Qwen2.5-VL's codec takes points of the picture as a processor resizes it; ours is never resized again."""
    picture = family("qwen2_5_vl").picture("x", width, height)
    assert smart_resize(picture.width, picture.height) == (picture.width, picture.height)
    screen = Screen(width, height, (picture.width, picture.height))
    call = {"action": "left_click", "coordinate": [picture.width / 2, picture.height / 2]}
    (click,) = CODECS["qwen2.5"].decode({"name": "computer_use", "arguments": call}, screen)
    assert isinstance(click, Click) and abs(click.x - width / 2) < 1 and abs(click.y - height / 2) < 1


def test_a_picture_of_its_size_is_the_very_same_png() -> None:
    told = Conversations("qwen3_vl")
    png = as_png(noise(1, 96, 64))
    assert told.family.shown(told.family.picture("x", 96, 64), png) is png


def test_pictures_are_decoded_once_within_a_budget() -> None:
    decoded: list[int] = []

    def prepare(image: Image.Image) -> torch.Tensor:
        decoded.append(image.width)
        return as_bytes(image)

    pngs = {str(width): as_png(noise(width, width, 10)) for width in (10, 11, 12)}
    kept = Pictures(prepare, Image.Resampling.BICUBIC, budget=2 * 3 * 10 * 12)
    first, second, third = (Picture(key, int(key), 10, 1) for key in pngs)
    for picture in (first, first, second, first, third, first, second):
        assert torch.equal(kept.get(picture, pngs), torch.from_numpy(noise(picture.width, picture.width, 10)))
    assert decoded == [10, 11, 12, 11]  # the one that was not used for longest went first
    larger = Pictures(prepare, Image.Resampling.BICUBIC, budget=1)
    assert larger.get(first, pngs).shape == (10, 10, 3) and not larger._kept


def test_a_picture_with_an_alpha_channel_or_a_palette() -> None:
    pixels = noise(1, 12, 10)
    for mode in ("RGBA", "P", "L"):
        out = io.BytesIO()
        Image.fromarray(pixels).convert(mode).save(out, "PNG")
        kept = Pictures(as_bytes, Image.Resampling.BICUBIC)
        assert kept.get(Picture("x", 12, 10, 1), {"x": out.getvalue()}).shape == (10, 12, 3)


def test_values_are_made_in_the_models_precision() -> None:
    told = Conversations("qwen3_vl")
    inputs = told.family.inputs(told.rows(1), told.pngs, "cpu", torch.bfloat16)
    assert inputs["pixel_values"].dtype == torch.bfloat16
    assert folder("qwen3_vl") == family("qwen3_vl").folder
