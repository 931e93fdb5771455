"""For those who write harnesses: the check that `uigym check` runs, for a test of their own.

report = await check_harness(crm)
assert report.ok, report.failed
"""

from uigym.check.checker import check_harness
from uigym.check.findings import CHECKS, Counts, Finding, Report
from uigym.check.stage import Progress

__all__ = ["CHECKS", "Counts", "Finding", "Progress", "Report", "check_harness"]
