"""Files of Triton IR as sources: what their entry takes is read from the text."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from ..errors import UsageError
from ..ir import FloatType, IntegerType, PointerType, Type, parse
from ..plugin import front_end
from ..target import Target
from .bundle import Plan
from .signature import Signature
from .targets import named
from .work import Lowered

ENDINGS = (".ttir", ".ttgir")

_LANES = re.compile(r'"ttg\.threads-per-warp" = (\d+)')


def plan(path: Path, target_name: str, options: dict[str, object], native: bool | str = "auto",
         grf_mode: str = "default") -> Plan:
    """The plan for a file; UsageError for one that cannot be read or that the target does not compile."""
    target = named(target_name)
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path} is neither .ttir nor .ttgir")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if path.suffix == ".ttgir":
        target = _fitting(path, text, target)
    lower = partial(_given, path, text, target, options)
    if path.suffix == ".ttir" and target.lanes:
        lower = partial(front_end().with_layouts, path, target, options)
    name, signature = entry_of(text, path)
    return Plan(lower, name, signature, options, target_name, target, native, grf_mode, str(path))


def _fitting(path: Path, text: str, target: Target) -> Target:
    """The target with sub-groups of the size that the TTGIR is for; UsageError where it has none of it."""
    if not target.lanes:
        raise UsageError(f"{path}: target {target.name} compiles Triton IR (.ttir), not TTGIR")
    lanes = _LANES.search(text)
    if lanes is None or int(lanes[1]) == target.sub_group_size:
        return target
    if int(lanes[1]) not in target.sub_group_sizes or target.name.startswith("cpu"):
        raise UsageError(f"{path} is for warps of {lanes[1]}, target {target.name} has "
                         f"{target.sub_group_size}")
    return target.with_options(sub_group_size=int(lanes[1]))


def _given(path: Path, text: str, target: Target, options: dict[str, object]) -> Lowered:
    """The text as it stands; Triton is not asked."""
    known = {"num_warps": 4, "enable_fp_fusion": True}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError(f"{path}: option {unknown[0]!r} is for the front end; IR takes {', '.join(known)}")
    chosen = {**known, **options}
    ttir, ttgir = (text, "") if path.suffix == ".ttir" else ("", text)
    return Lowered(path.stem, ttir, ttgir, chosen, target)


def entry_of(text: str, path: Path) -> tuple[str, Signature]:
    """The name of the kernel in the text, and its parameters as a signature."""
    module = parse(text, str(path))
    if len(module.public) != 1:
        raise UsageError(f"{path} has {len(module.public)} public functions; a kernel is the only one")
    entry = module.entry
    arguments = entry.regions[0].entry.arguments
    types = {argument.name: triton_name(argument.type) for argument in arguments}
    return entry.attributes["sym_name"], Signature(types)


def triton_name(type: Type) -> str:
    """A type of the IR as signatures spell it."""
    if isinstance(type, PointerType):
        return "*" + triton_name(type.pointee)
    if isinstance(type, FloatType):
        return {"f16": "fp16", "f32": "fp32", "f64": "fp64"}.get(type.name, type.name)
    if isinstance(type, IntegerType):
        return f"i{type.width}"
    return str(type)
