"""The engine: a model that learns from windows, on one processor or on several GPUs, as a source of weights."""

from uigym.train.engine.apart import Apart
from uigym.train.engine.engine import Engine
from uigym.train.engine.settings import EngineSettings, Lora

__all__ = ["Apart", "Engine", "EngineSettings", "Lora"]
