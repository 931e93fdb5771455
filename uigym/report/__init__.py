"""A run as one self-contained page: what was learned, how sure that is, and what it looks like."""

from uigym.report.film import Clip as Clip
from uigym.report.page import render_clips as render_clips
from uigym.report.page import write_report as write_report

__all__ = ["Clip", "render_clips", "write_report"]
