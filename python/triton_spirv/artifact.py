"""What compiling a kernel yields."""

from __future__ import annotations

import json
from dataclasses import asdict, field, fields
from functools import cached_property
from typing import Any

from .check_layout import Site
from .dataclass import dataclass
from .target import Requirement, Target

#: struct.pack code and size in bytes of each parameter type.
PACKING = {"ptr": ("Q", 8), "i1": ("B", 1), "i8": ("b", 1), "i16": ("h", 2), "i32": ("i", 4), "i64": ("q", 8),
           "f16": ("e", 2), "bf16": ("H", 2), "f32": ("f", 4), "f64": ("d", 8)}


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: its name and its type, a key of PACKING."""

    name: str
    type: str


@dataclass(frozen=True)
class Artifact:
    """A SPIR-V module with one kernel, and what a launcher must know about it.

    words        the module
    plan         what was decided before the words were made: lower/plan/records.py, as text
    passing      "struct": one by-value struct with the natural alignment of C; "arguments": one kernel
                 argument per parameter; "push": that struct as push constants, from offset 0; "buffer": that
                 struct in a buffer, whose 64-bit address is the only push constant
    hidden       extra pointer parameters behind the user's, which the runtime supplies
    overflow_bytes
                 what a program has of the hidden buffer `overflow_buffer`, for arrays that shared memory has
                 no room for: programs' parts lie in the order of their numbers; 0: all arrays have room
    written      per parameter: may the kernel write through it?
    local_size   work-items per work-group in x, y, z
    formats      what the kernel prints into `print_buffer`: per record its format (of C) and its values'
                 types, see docs/notes/vulkan.md
    counts_programs
                 does it ask how many programs there are? Then the grid is one dispatch
    register_bytes
                 what products need at once of the registers of a hardware thread, estimated; 0: it is not
    grf_mode     the registers of a thread that follow from it: "default", or "256" for twice as many
    requires     a launch for which one does not hold needs the kernel compiled with block_io=False
    asserts      (file, line, function, message, shape of the condition) per device_assert; the assert buffer
                 says which one failed, and where: assert_layout.py
    in_parts     may a launch be made in parts? As in Target; not without arguments, or where programs are
                 no functions
    exports      the name of the function of one program, which can be called by its address: as
                 environment/opencl/programs.py says; empty: there is none
    private_bytes
                 of all private arrays of a work-group
    waits        may a program wait for another one of the same launch?
    assumes_disjoint
                 are barriers left out because no argument that it writes overlaps another one? A launch for
                 which that does not hold needs the kernel compiled with overlapping=True
    follows      where it first accesses memory at an address that no argument gave it, one that it loads or
                 makes of a number: file, line and column; empty: nowhere
    place        where its function begins: file and line
    reach        how far it may reach through each of its pointers: nodes, and which of them for each
                 parameter (facts/reach.py); empty: not asked
    sites        of a kernel in checked mode: the places that may report, as check_layout.Site has them
    """

    words: bytes
    entry: str
    parameters: tuple[Parameter, ...]
    passing: str = "arguments"
    hidden: tuple[str, ...] = ()
    written: tuple[bool, ...] = ()
    local_size: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    overflow_bytes: int = 0
    sub_group_size: int = 1
    num_warps: int = 1
    asserts: tuple[tuple[str, int, str, str, tuple[int, ...]], ...] = ()
    prints: bool = False
    register_bytes: int = 0
    grf_mode: str = "default"
    requires: tuple[Requirement, ...] = ()
    formats: tuple[tuple[str, tuple[str, ...]], ...] = ()
    counts_programs: bool = False
    in_parts: bool = False
    exports: str = ""
    private_bytes: int = 0
    waits: bool = False
    assumes_disjoint: bool = False
    follows: str = ""
    place: str = ""
    plan: str = ""
    reach: tuple[Any, ...] = ()
    sites: tuple[Site, ...] = ()
    target: Target | None = field(default=None, compare=False)

    @cached_property
    def listing(self) -> str:
        """The words, readable; made when first asked for, since it takes a fifth of a small compilation."""
        from .spirv.asm import listing  # launching a kernel of the cache needs nothing of spirv/

        return listing(self.words)

    @property
    def is_checked(self) -> bool:
        """Does it report to an array of checks? (Perhaps there is no place that could.)"""
        return "check_buffer" in self.hidden

    @property
    def struct_format(self) -> str:
        """The struct.pack format of the by-value argument, padding included."""
        text, size = "<", 0
        for type in [p.type for p in self.parameters] + ["ptr"] * len(self.hidden):
            code, width = PACKING[type]
            padding = -size % width
            text += f"{padding}x" * bool(padding) + code
            size += padding + width
        alignment = max([PACKING[p.type][1] for p in self.parameters] + [8] * len(self.hidden), default=1)
        return text + f"{-size % alignment}x" * bool(-size % alignment)

    def to_json(self) -> dict[str, Any]:
        """Everything but the module, as plain data."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)
                 if each.name not in ("words", "plan", "target")}
        plain["sites"] = tuple(map(asdict, self.sites))
        plain["parameters"] = [[p.name, p.type] for p in self.parameters]
        return plain

    @staticmethod
    def from_json(plain: dict[str, Any], words: bytes = b"") -> Artifact:
        """The inverse of `to_json`."""
        known = dict(plain)
        known["parameters"] = tuple(Parameter(name, type) for name, type in plain["parameters"])
        for name in ("hidden", "written", "local_size"):
            known[name] = tuple(known[name])
        known["formats"] = tuple((text, tuple(types)) for text, types in known["formats"])
        known["reach"] = tuple(known.get("reach", ()))
        known["requires"] = tuple(Requirement(*row) for row in known.get("requires", ()))
        known["sites"] = tuple(map(Site.from_json, known.get("sites", ())))
        known["asserts"] = tuple((*row[:4], tuple(row[4])) for row in known["asserts"])
        return Artifact(words=words, **known)


def metadata_of(text: str) -> dict[str, Any] | None:
    """What Triton keeps beside a kernel of this package, NAME.json; None where the text is damaged."""
    try:
        plain = json.loads(text)
        complete = all(plain[name] for name in ("name", "hash", "spirv_digest", "target")) \
            and all(name in plain["artifact"] for name in ("entry", "parameters", "passing", "written"))
    except (ValueError, KeyError, TypeError):
        return None
    return plain if complete else None
