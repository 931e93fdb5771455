"""Demonstrations in the formats of others: written for trainers and archives, and read from them.

    export(RunStore("data/demos"), None, FORMATS["atif"], Path("data/atif"))
    for told in FORMATS["atif"].read(Path("data/atif")): told.actions

What a format cannot hold is said when it is written: each action is read back before it counts as held.
"""

from __future__ import annotations

from uigym.exchange import adp, anthropic, atif, hf, llamafactory, openai, opencua, transcripts, trl
from uigym.exchange.formats import Exported as Exported
from uigym.exchange.formats import Format as Format
from uigym.exchange.formats import Options as Options
from uigym.exchange.formats import export as export
from uigym.exchange.told import Told as Told
from uigym.exchange.told import ToldStep as ToldStep

FORMATS: dict[str, Format] = {
    "hf": Format("Hugging Face Parquet: a row for each step, screenshots embedded", hf.writing, hf.read),
    "trl": Format("TRL's conversations as Parquet, screenshots embedded", trl.writing, trl.read),
    "llamafactory": Format("LLaMA-Factory's folder with dataset_info.json", llamafactory.writing, llamafactory.read),
    "openai": Format("OpenAI's Responses with computer_call items", openai.writing, openai.read),
    "anthropic": Format("Anthropic's Messages with tool_use blocks", anthropic.writing, anthropic.read),
    "qwen": Format("Qwen's computer_use", transcripts.writing("qwen3", "qwen2.5"), transcripts.read),
    "uitars": Format("UI-TARS's actions", transcripts.writing("uitars"), transcripts.read),
    "atif": Format("Agent Trajectory Interchange Format v1.7: a JSON file a demonstration", atif.writing, atif.read),
    "adp": Format("Agent Data Protocol 1.2.0: a JSON line a demonstration", adp.writing, adp.read),
    "opencua": Format("OpenCUA's AgentNet: a JSON line a demonstration", opencua.writing, opencua.read),
}
"""By name, as `uigym export --to` says it."""
