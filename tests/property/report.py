"""What a run of generated kernels has found so far, as a page of Markdown: counts by mode, what was refused
and why, and of each failure the command that repeats it and the kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

#: results of a kernel that are failures; the last two end the process
DEATHS = ("crashed", "hung")
FAILURES = ("disagreed", "failed", *DEATHS)

SHOWN = 40  # failures with their kernels; of others the number alone


def counts(entries: Iterable[dict[str, Any]]) -> str:
    """A line for each mode: kernels by result, comparisons by oracle."""
    results: dict[str, Counter[str]] = {}
    oracles: dict[str, Counter[str]] = {}
    for entry in entries:
        results.setdefault(entry["mode"], Counter())[entry["result"]] += 1
        oracles.setdefault(entry["mode"], Counter()).update(entry.get("checks", ()))
    lines = []
    for mode, found in results.items():
        shown = ", ".join(f"{n} {name}" for name, n in found.most_common())
        agreed = ", ".join(f"{name} {n}" for name, n in oracles[mode].most_common())
        lines.append(f"{mode}: {sum(found.values())} kernels: {shown}. Comparisons that agreed: {agreed}")
    return "\n".join(lines)


def page(entries: Sequence[dict[str, Any]], folder: Path, heading: str) -> str:
    """The whole report. Kernels are read from the files of the folder that entries name."""
    failures = [entry for entry in entries if entry["result"] in FAILURES]
    revisions = ", ".join(dict.fromkeys(entry.get("revision", "unknown") for entry in entries))
    parts = [f"# Generated kernels\n\n{heading}\nRevisions: {revisions or 'none'}",
             f"{len(entries)} kernels, {len(failures)} failures\n\n"
             + "\n".join(f"- {line}" for line in counts(entries).splitlines())]
    refused = [entry for entry in entries if entry["result"] == "refused"]
    if refused:
        reasons: dict[tuple[str, str], list[int]] = {}
        for entry in refused:
            reason = re.sub(r"[0-9]+", "N", entry["why"])[:150]
            reasons.setdefault((entry["mode"], reason), []).append(entry["kernel"])
        rows = [f"- {mode}, {len(kernels)} times, first kernel {min(kernels)}: {reason}"
                for (mode, reason), kernels in sorted(reasons.items(), key=lambda item: -len(item[1]))]
        parts.append("## Refused\n\n" + "\n".join(rows))
    if failures:
        parts.append("## Failures")
    parts += [_failure(entry, folder, i < SHOWN) for i, entry in enumerate(failures)]
    return "\n\n".join(parts) + "\n"


def _failure(entry: dict[str, Any], folder: Path, whole: bool) -> str:
    mode, kernel = entry["mode"], entry["kernel"]
    shown = [f"### {entry['result']}: {mode}, kernel {kernel}",
             f"`python -m tests.property.run --modes {mode} --only {kernel}`"]
    if not whole:
        return "\n\n".join([*shown, entry["why"].splitlines()[0][:200]])
    shown.append(f"```\n{entry['why'].strip()[-1500:]}\n```")
    file = folder / entry.get("file", "none")
    if file.is_file():
        shown.append(f"```python\n{file.read_text().strip()}\n```")
    return "\n\n".join(shown)
