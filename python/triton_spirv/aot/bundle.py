"""Bundles: a folder that runs kernels where neither Triton nor this package is installed.

    bundle.json          every variant: which kernel, compiled for what, how its arguments are passed
    NAME.TARGET.spv      the SPIR-V module
    NAME.TARGET.bin      native code, where there is some
    NAME.h               for C: entry, argument layout, local size
    loader.py            for Python with pyopencl and numpy

NAME is the kernel's, with eight digits of a digest where a bundle has it in several configurations.
Configurations that compile to the same words share a file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path

from ..artifact import Artifact
from ..dataclass import dataclass
from ..errors import UsageError
from ..standalone import loader_source
from ..target import Target
from .header import header
from .signature import Signature
from .targets import device_kind, native_device
from .work import Lowered, Result

FORMAT = 1
INDEX, LOADER = "bundle.json", "loader.py"


@dataclass(frozen=True)
class Plan:
    """A variant before it is compiled. lower: runs the front end; target_name: as the
    caller wrote it; source: what tells kernels of one name apart."""

    lower: Callable[[], Lowered]
    name: str
    signature: Signature
    options: dict[str, object]
    target_name: str
    target: Target
    native: bool | str = "auto"
    grf_mode: str = "default"
    source: str = ""

    @property
    def device(self) -> str:
        """For ocloc; empty where no native code is wanted or possible."""
        return native_device(self.target) if self.native else ""

    @property
    def digest(self) -> str:
        """Eight digits that tell configurations of one kernel apart."""
        told = f"{self.source} {self.signature} {sorted(self.options.items())}"
        return hashlib.sha256(told.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Variant:
    """A kernel compiled in one configuration for one target. words_of: the stem of the variant whose file
    has the same words."""

    stem: str
    kernel: str
    signature: Signature
    options: dict[str, object]
    target: str
    device_kind: str
    artifact: Artifact
    native: bytes = b""
    facts: dict[str, object] = field(default_factory=dict)
    warning: str = ""
    words_of: str = ""

    @property
    def spv_file(self) -> str:
        """The first variant's with the same words."""
        return f"{self.words_of or self.stem}.{file_name(self.target)}.spv"

    @property
    def native_file(self) -> str:
        """Empty where there is no native code."""
        return f"{self.stem}.{file_name(self.target)}.bin" if self.native else ""

    def to_json(self) -> dict[str, object]:
        """What bundle.json says about it."""
        words = self.artifact.words
        return {
            "name": self.stem, "kernel": self.kernel, "target": self.target, "device_kind": self.device_kind,
            "types": self.signature.types, "divisible": list(self.signature.divisible),
            "constants": {name: plain(value) for name, value in self.signature.constants.items()},
            "options": {name: plain(value) for name, value in self.options.items()},
            "entry": self.artifact.entry, "artifact": self.artifact.to_json(),
            "struct_format": self.artifact.struct_format if self.artifact.passing == "struct" else "",
            "spv": self.spv_file, "spv_sha256": hashlib.sha256(words).hexdigest(),
            "native": self.native_file, "native_sha256": hashlib.sha256(self.native).hexdigest(),
            "native_facts": {name: plain(value) for name, value in self.facts.items()},
        }


@dataclass(frozen=True)
class Bundle:
    """What one call has compiled."""

    variants: tuple[Variant, ...]

    def find(self, kernel: str = "", target: str = "", **constants: object) -> Variant:
        """The first variant of these; UsageError where there is none."""
        for variant in self.variants:
            known = {**variant.signature.constants, **variant.options}
            if (kernel in ("", variant.kernel, variant.stem) and target in ("", variant.target)
                    and all(known.get(name) == value for name, value in constants.items())):
                return variant
        have = ", ".join(f"{variant.stem} for {variant.target}" for variant in self.variants)
        raise UsageError(f"the bundle has no such variant; it has {have}")

    def write(self, folder: Path) -> Path:
        """All files; files of the same names are replaced."""
        from .. import __version__

        folder.mkdir(parents=True, exist_ok=True)
        for variant in self.variants:
            (folder / variant.spv_file).write_bytes(variant.artifact.words)
            if variant.native:
                (folder / variant.native_file).write_bytes(variant.native)
        for stem in dict.fromkeys(variant.stem for variant in self.variants):
            mine = [variant for variant in self.variants if variant.stem == stem]
            (folder / f"{stem}.h").write_text(header(stem, mine), encoding="utf-8")
        index = {"format": FORMAT, "made_by": f"triton-spirv {__version__}",
                 "variants": [variant.to_json() for variant in self.variants]}
        (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        (folder / LOADER).write_text(loader_source(), encoding="utf-8")
        return folder


def variant_of(plan: Plan, stem: str, result: Result) -> Variant:
    """A plan and what became of it."""
    assert result.artifact is not None
    return Variant(stem, plan.name, plan.signature, plan.options, plan.target_name, device_kind(plan.target),
                   result.artifact, result.native, result.facts, result.warning)


def sharing_files(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants; those with the same words for a target name one file."""
    first: dict[tuple[str, bytes], str] = {}
    return tuple(replace(variant, words_of=first.setdefault((variant.target, variant.artifact.words),
                                                            variant.stem)) for variant in variants)


def stems(plans: Sequence[Plan]) -> list[str]:
    """File names without target and ending; one for each configuration."""
    configurations = {(plan.name, plan.digest) for plan in plans}
    several = Counter(name for name, _ in configurations)
    return [f"{plan.name}-{plan.digest}" if several[plan.name] > 1 else plan.name for plan in plans]


def file_name(target: str) -> str:
    """A target's name as a part of a file's."""
    return target.replace(":", "-")


def plain(value: object) -> object:
    """A value as JSON can have it; what it has no form for, by its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    return getattr(value, "__name__", None) or str(value)
