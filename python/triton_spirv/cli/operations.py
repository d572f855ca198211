"""docs/operations.md: every operation that can be read, and its rule or the reason why there is none.

    python -m triton_spirv --operations-table > docs/operations.md

Made of the dialect table and the registry. Files and functions are named without line numbers, so that the
page changes when what it says changes; `--list-rules` has the lines.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from ..compiler import STRUCTURE
from ..ir.dialects import OPERATIONS
from ..lower import RULES
from ..lower.registry import Entry

#: kind of a rule -> how it is used
KINDS = {
    "elementwise": "element by element; scalars too",
    "pulled": "when asked, under any layout",
    "lowers": "where it stands",
}

STRUCTURAL = "part of the operation around it"

#: how the reasons begin of operations that compile all the same
REPLACED = "a pass has replaced it"

#: operation, or the part of its name before a `*` -> why it has no rule; the longest that fits counts
REASONS = {
    "arith.convertf": "no front end of Triton writes it: `tt.fp_to_fp` converts",
    "arith.scaling_*": "no front end of Triton writes it: `tt.dot_scaled` has the scales",
    "builtin.*": "no conversion is left unfinished in what the passes give",
    "cf.assert": "no front end of Triton writes it: `tt.assert` asserts",
    "cf.switch": "no front end of Triton writes it",
    "gpu.*": "Triton programs ask for their program, not for threads; Gluon writes it",
    "tt.advance": "a pass has replaced it by pointer arithmetic: rewrite-tensor-pointer",
    "tt.descriptor_*": "a pass has replaced it by loads and stores: rewrite-tensor-descriptor-to-pointer",
    "tt.make_tensor_descriptor": "a pass has replaced it: rewrite-tensor-descriptor-to-pointer",
    "tt.make_tensor_ptr": "a pass has replaced it by pointer arithmetic: rewrite-tensor-pointer",
    "ttg.*": "GPU pipelines and Gluon write it; the passes that run here do not",
    "ub.unreachable": "no front end of Triton writes it",
}

HEAD = """\
# Operations

This page lists every operation of Triton's IR and says whether triton-spirv can compile it. If an operation
has no rule, the third column gives the reason. A kernel that uses such an operation is refused before it
runs, with the lines of your file. `triton-spirv ops --of kernel.ttir` checks one kernel.

For developers: the second column names the rule's file and function. A rule is used in one of three ways
([architecture.md](architecture.md) explains them):

- *element by element*: a function from registers to a register, for scalars, tensors and combiners;
- *when asked, under any layout*: the rule runs for the registers that a consumer needs;
- *where it stands*: effects, control flow, and operations that need whole tensors.

This page is generated: `python -m triton_spirv --operations-table > docs/operations.md`.
"""


def table() -> str:
    """The text of docs/operations.md."""
    dialects = dict.fromkeys(dialect_of(name) for name in OPERATIONS)
    parts = [HEAD, "\n".join(_counts())]
    for dialect in dialects:
        names = [name for name in OPERATIONS if dialect_of(name) == dialect]
        rows = [f"| `{name}` | {' | '.join(_row(name))} |" for name in names]
        head = [f"## {dialect}", "", "| operation | rule | used |", "|---|---|---|"]
        parts.append("\n".join([*head, *rows, ""]))
    return "\n".join(parts)


def dialect_of(name: str) -> str:
    """The part of an operation's name before the first dot."""
    return name.partition(".")[0]


def fits(key: str, name: str) -> bool:
    """Is the operation meant by a key of REASONS?"""
    return name == key or (key.endswith("*") and name.startswith(key[:-1]))


def reason(name: str) -> str:
    """Why an operation has no rule."""
    fitting = [key for key in REASONS if fits(key, name)]
    return REASONS[max(fitting, key=len)] if fitting else "not written yet"


def place(entry: Entry) -> str:
    """file, function of a rule."""
    function = inspect.unwrap(entry.function)
    file = entry.location.rpartition(":")[0]
    return f"[{file}](../python/triton_spirv/{file}) `{function.__qualname__.partition('.<locals>')[0]}`"


def _row(name: str) -> tuple[str, str]:
    if name in RULES:
        return place(RULES[name]), KINDS[RULES[name].kind]
    if name in STRUCTURE:
        return "", STRUCTURAL
    return "none", reason(name)


def _counts() -> Iterator[str]:
    names = list(OPERATIONS)
    ruled = sum(name in RULES for name in names)
    inner = sum(name in STRUCTURE for name in names)
    yield f"{len(names)} operations can be read: {ruled} have rules, {inner} are parts of others, " \
          f"{len(names) - ruled - inner} have none.\n"
