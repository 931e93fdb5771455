"""Demonstrations: episodes that show how it is done, by a person at a remote browser, or by an oracle."""

from __future__ import annotations

from uigym.record.by_code import record as record
from uigym.record.demo import Demo as Demo
from uigym.record.demo import Proof as Proof
from uigym.record.demo import read_demo as read_demo
from uigym.record.demo import write_demo as write_demo
from uigym.record.played import Recording as Recording
from uigym.record.played import demonstrate as demonstrate
from uigym.record.played import keep as keep
from uigym.record.played import requests as requests
from uigym.record.played import solvable as solvable
