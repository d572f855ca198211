"""What became of a test, from pytest's report of it: for upstream_tests.py and library_tests.py."""

from __future__ import annotations

from typing import Any


def settles(report: Any) -> bool:
    """Is this part of a test its verdict? What comes before and after the test is where it did not pass."""
    return bool(report.when == "call" or report.outcome != "passed")


def reason(report: Any) -> str:
    """Why a test was skipped, failed, or was expected to fail; "" where it passed."""
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    if report.outcome == "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        return str(getattr(crash, "message", report.longrepr))
    return ""
