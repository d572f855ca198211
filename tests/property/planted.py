"""Bugs planted in the emitter, to see that generated kernels find them: `python -m tests.property.planted`
prints after how many kernels each is found.

A bug is a rule or a table with one mistake that a person could make. None stands in the repository: they are
put in place in this process, for as long as it looks for them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from property.header import HEADER
from property.worker import SIZES, environment, outcome, program_of, runs

SMALL = 128  # elements: what shows in small tensors is looked for in those, they cost less
Set = Callable[[Any, str, Any], None]  # of an object's attribute, or of a table's entry


@dataclass(frozen=True)
class Bug:
    """`plant(set)` makes the mistake; it is looked for in kernels of `mode`.

    Kernels whose source lacks one of the patterns `needs` cannot show it: they count, and are not run."""

    name: str
    plant: Callable[[Set], None]
    needs: tuple[str, ...] = ()
    mode: str = "vector"
    large: bool = False  # only tensors that are walked in steps can show it


def _entry(table: str, key: str, value: Any) -> Callable[[Set], None]:
    """A wrong entry in a table of lower/elementwise.py."""

    def plant(put: Set) -> None:
        from triton_spirv.lower import elementwise

        put(getattr(elementwise, table), key, value)

    return plant


def _rule(name: str, wrong: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[Set], None]:
    """A rule that is made of the right one."""

    def plant(put: Set) -> None:
        import triton_spirv.lower  # noqa: F401
        from triton_spirv.lower.registry import RULES

        put(RULES, name, replace(RULES[name], function=wrong(RULES[name].function)))

    return plant


def _within(module: str, path: str, wrong: Callable[[Any], Any]) -> Callable[[Set], None]:
    """A function (or method) of a module of lower/, made of the right one."""

    def plant(put: Set) -> None:
        import importlib

        owner = importlib.import_module(f"triton_spirv.lower.{module}")
        *holders, name = path.split(".")
        for holder in holders:
            owner = getattr(owner, holder)
        put(owner, name, wrong(getattr(owner, name)))

    return plant


def _like(name: str, other: str) -> Callable[[Set], None]:
    def plant(put: Set) -> None:
        import triton_spirv.lower  # noqa: F401
        from triton_spirv.lower.registry import RULES

        put(RULES, name, replace(RULES[name], function=RULES[other].function))

    return plant


def _late_loads(put: Set) -> None:
    """Loads that wait are not executed before a store."""
    from triton_spirv.lower.walking import Walking

    right = Walking.settle

    def settle(self: Any, memory_only: bool, op: Any = None) -> None:
        if not memory_only:
            right(self, memory_only, op)

    put(Walking, "settle", settle)


def _one_too_far(put: Set) -> None:
    from triton_spirv.lower.masks import ORDERED

    put(ORDERED, "slt", ("OpSLessThanEqual", True))


def _swapped(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ctx, op, lhs, rhs: right(ctx, op, rhs, lhs)


def _nothing(right: Any) -> Any:
    return lambda *arguments, **named: None


VARIABLES = r"[vc]\d+ %s [vc]\d+"

BUGS: tuple[Bug, ...] = (
    # operands, signs, comparisons
    Bug("a subtraction of floats swaps its operands", _rule("arith.subf", _swapped), (" - ", "float")),
    Bug("a subtraction of integers swaps its operands", _rule("arith.subi", _swapped), (" - ",)),
    Bug("unsigned < is signed", _entry("COMPARE_INTEGERS", "ult", "OpSLessThan"), ("uint", VARIABLES % "<")),
    Bug("unsigned // is signed", _entry("INTEGER", "arith.divui", "OpSDiv"), ("uint", "//")),
    Bug(
        "the remainder has the sign of the divisor",
        _entry("INTEGER", "arith.remsi", "OpSMod"),
        (r"[vc]\d+ % ", "int"),
    ),
    Bug(
        "a signed right shift fills with zeros",
        _entry("INTEGER", "arith.shrsi", "OpShiftRightLogical"),
        (">>",),
    ),
    Bug(
        "the unsigned maximum is signed",
        _entry("INTEGER_FUNCTION", "arith.maxui", "s_max"),
        ("uint", "maximum|largest"),
    ),
    Bug(
        "the high half of a product is signed",
        _entry("INTEGER_FUNCTION", "tt.mulhiui", "s_mul_hi"),
        ("umulhi",),
    ),
    Bug("< holds for NaN", _entry("COMPARE_FLOATS", "olt", "OpFUnordLessThan"), (VARIABLES % "<", "float")),
    Bug("!= does not hold for NaN", _entry("COMPARE_FLOATS", "une", "OpFOrdNotEqual"), ("!=",)),
    Bug(
        "the remainder of floats rounds its quotient",
        _entry("FLOAT_FUNCTION", "arith.remf", "remainder"),
        (r"[vc]\d+ % ", "float"),
    ),
    Bug("signed integers widen with zeros", _like("arith.extsi", "arith.extui"), (r"\.to\(tl\.u?int",)),
    # rounding
    Bug(
        "f32 becomes bf16 by cutting bits off",
        _within("cast", "f32_to_bf16", lambda right: lambda b, value, rounding: right(b, value, "rtz")),
        ("bfloat16",),
    ),
    Bug(
        "rounding toward zero is forgotten",
        _within("cast", "f32_to_f16", lambda right: lambda ctx, value, rounding: right(ctx, value, "rtne")),
        ("rtz", "float16"),
    ),
    Bug(
        "8-bit floats are cut off",
        _within("cast", "float_to_float8", lambda right: lambda b, x, to, how: right(b, x, to, "rtz")),
        ("float8",),
    ),
    # memory
    Bug(
        "masked-off elements are 0, not `other`",
        _within("memory", "_others", lambda right: lambda ctx, other, *rest: right(ctx, None, *rest)),
        ("other=",),
    ),
    Bug("a window counts as inside one element too far", _one_too_far),
    Bug("loads wait beyond a store to the same place", _late_loads, large=True),
    Bug(
        "every load of a loop counts as in place",
        _within("hazard", "in_place", lambda right: lambda op, *tensors: True),
        ("tl.store",),
        large=True,
    ),
    Bug(
        "a gather takes the neighbour",
        _within(
            "gather", "_places",
            lambda right: lambda ctx, *rest: [ctx.b.ixor(x, 1) for x in right(ctx, *rest)],
        ),
        ("tl.gather",),
    ),
    Bug(
        "a histogram forgets its mask",
        _rule("tt.histogram", lambda right: lambda ctx, op, src, mask: right(ctx, op, src, None)),
        ("histogram",),
    ),
    # layouts
    Bug(
        "join has its operands the wrong way round",
        _rule("tt.join", lambda right: lambda ctx, op, layout, lhs, rhs: right(ctx, op, layout, rhs, lhs)),
        ("join|interleave|cat",),
    ),
    Bug(
        "both halves of a split are the first",
        _within("view", "_split_source", lambda right: lambda op, layout, index=0: right(op, layout, 0)),
        ("split",),
    ),
    Bug(
        "a broadcast drops one bit too few",
        _within("view", "log2", lambda right: lambda n: max(right(n) - (n == 8), 0)),
        ("broadcast_to",),
    ),
    # along an axis
    Bug(
        "a scan forgets what other registers carry",
        _within("scan", "Blocks._put_behind", _nothing),
        ("scan|cumsum",),
    ),
    Bug(
        "the identity of & is 0",
        _within("reduce", "identity", lambda right: lambda name, type: (
            0 if name == "arith.andi" else right(name, type)
        )),
        ("bit_and",),
        large=True,
    ),
    # control flow
    Bug(
        "a loop forgets how far its pointers have moved",
        _within("carry", "MovingCarrier.bound", lambda right: lambda self, registers: self.initial),
        ("for ",),
    ),
    Bug(
        "an array that a loop overwrites keeps its old fragments",
        _within("carry", "StoredCarrier.bound", lambda right: lambda self, registers: self.array),
        ("for |while ",),
        large=True,
    ),
    # lanes and warps
    Bug("no barriers", _within("shared", "needed_barriers", lambda right: lambda *rest: {}), (), "simt8"),
    Bug(
        "a scan forgets other lanes",
        _within("scan", "Blocks._join_lanes", _nothing),
        ("scan|cumsum",), "simt8",
    ),
    Bug(
        "a scan forgets other warps",
        _within("scan", "Blocks._join_warps", _nothing),
        ("scan|cumsum",), "simt8",
    ),
    Bug(
        "a reduction forgets other warps",
        _within("reduce", "_reduce_warps", lambda right: lambda ctx, region, layout, rows, mask: rows),
        ("reduce|argm|tl.max|tl.sum|tl.min",),
        "simt8",
    ),
    Bug(
        "a conversion of layouts picks registers without asking the lane",
        _within("convert_layout", "_added", lambda right: lambda ctx, registers, *rest: list(registers)),
        (),
        "simt8",
    ),
)


NONE = Bug("nothing", lambda put: None)


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The bug is in place, and a cache of its own."""
    undo: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, dict):
            undo.append((owner, name, owner[name]))
            owner[name] = value
        else:
            undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)

    before = os.environ.get("TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="planted-") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        try:
            bug.plant(put)
            yield
        finally:
            for owner, name, value in undo:
                if isinstance(owner, dict):
                    owner[name] = value
                else:
                    setattr(owner, name, value)
            if before is None:
                del os.environ["TRITON_CACHE_DIR"]
            else:
                os.environ["TRITON_CACHE_DIR"] = before


def found_after(
    bug: Bug, most: int, first: int = 0, tell: Callable[[int], None] = lambda ran: None
) -> int | None:
    """How many kernels were run when one showed the bug; None if `most` kernels show nothing."""
    ran, number = 0, first - 1
    with planted(bug), tempfile.TemporaryDirectory() as folder:
        while ran < most:
            number += 1
            large = SIZES[number % len(SIZES)] > SMALL
            if runs(number, bug.mode) and large == bug.large:
                ran += 1
                tell(ran)
                source = program_of(number)[0].source()[len(HEADER) :]
                if not all(re.search(pattern, source) for pattern in bug.needs):
                    continue
                made = outcome(number, bug.mode, Path(folder) / "current.py")
                if made["result"] in ("disagreed", "failed"):
                    return ran
    return None


def in_child(bug: Bug, most: int, first: int = 0) -> tuple[bool, int, int]:
    """(found, kernels run, how the process ended) of looking for the bug in a process of its own, which it
    may kill."""
    os.environ.update(environment(bug.mode))
    import property.launch  # noqa: F401  once, not in each process

    reading, writing = os.pipe()
    child = os.fork()  # nothing has opened a device yet, and a fork has imported everything
    if not child:
        sys.stderr = open(os.devnull, "w")
        os.dup2(sys.stderr.fileno(), 2)
        try:
            found = found_after(bug, most, first, lambda ran: os.write(writing, b"."))
            os._exit(0 if found is None else FOUND)
        except BaseException:
            os._exit(BROKEN)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        ran = len(pipe.read())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != BROKEN, f"{bug.name}: cannot be planted any more"
    return code != 0, ran, code


FOUND, BROKEN = 3, 4  # exit statuses of a process that has found a bug, or failed itself


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", default="", help="only the bugs of this mode")
    parser.add_argument("--most", type=int, default=200, help="kernels for one bug")
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel")
    parser.add_argument("--only", default="", help="bugs with this in their name")
    parser.add_argument("--none", action="store_true", help="plant nothing, which must not be found")
    arguments = parser.parse_args()
    missed = 0
    for bug in (NONE,) if arguments.none else BUGS:
        if arguments.mode not in ("", bug.mode) or arguments.only not in bug.name:
            continue
        before = dict(os.environ)
        found, ran, code = in_child(bug, arguments.most, arguments.first)
        os.environ.clear()
        os.environ.update(before)
        missed += not found
        how = "" if code in (0, FOUND) else f" (the process ended with {code})"
        print(f"{bug.mode:7} {'' if found else 'not '}found in {ran:3}: {bug.name}{how}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
