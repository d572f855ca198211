"""`triton-spirv ops`: which operations of Triton's IR have a rule, and why the others have none."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from ..errors import UsageError
from .output import Output

EXAMPLES = ("ops", "ops tt.dot math.", "ops --missing", "ops --of kernel.ttir", "ops --json")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only operations whose name contains this")
    parser.add_argument("--missing", action="store_true", help="only operations that cannot be compiled")
    parser.add_argument("--of", type=Path, metavar="FILE",
                        help="only the operations in this .ttir or .ttgir file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if --of names a file with an operation that cannot be compiled as it stands there: a pass that
    replaces an operation runs before a file of IR is written."""
    from ..ir.dialects import OPERATIONS

    names = list(OPERATIONS) if options.of is None else used_in(options.of)
    rows = [row_of(name) for name in names if not options.names
            or any(part in name for part in options.names)]
    refused = ("none",) if options.of is None else ("none", "pass")
    missing = [row for row in rows if row["state"] in refused]
    shown = missing if options.missing else rows
    if not rows:
        raise UsageError(f"no operation is called {' or '.join(options.names)}; 'triton-spirv ops' lists all")
    if options.json:
        out.json(shown)
    else:
        table = [(row["operation"], row["state"], row["where"] or row["reason"]) for row in shown]
        styles = {"rule": "good", "part": "faint", "pass": "good", "none": "warning"}
        out.table(("operation", "state", "where, or why not"), table, [styles[row[1]] for row in table])
        count = Counter(row["state"] for row in rows)
        out.line(f"{len(rows)} operations: {count['rule']} with a rule, {count['part']} parts of others, "
                 f"{count['pass']} replaced by passes, {count['none']} without")
    return 1 if options.of and missing else 0


def row_of(name: str) -> dict[str, str]:
    """state: rule, part (of the operation around it), pass (Triton's or this package's passes replace it) or
    none; where: of the rule; reason: for the others."""
    from ..compiler import STRUCTURE
    from ..lower import RULES
    from .operations import REPLACED, STRUCTURAL, reason

    if name in RULES:
        return {"operation": name, "state": "rule", "where": RULES[name].location, "reason": ""}
    if name in STRUCTURE:
        return {"operation": name, "state": "part", "where": "", "reason": STRUCTURAL}
    why = reason(name)
    return {"operation": name, "state": "pass" if why.startswith(REPLACED) else "none", "where": "",
            "reason": why}


def used_in(path: Path) -> list[str]:
    """The distinct operations of an IR file, in the order of the text."""
    from ..ir import parse

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return list(dict.fromkeys(op.name for op in parse(text, str(path)).walk()))
