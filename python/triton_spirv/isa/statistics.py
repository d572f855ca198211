"""A module through ocloc, and everything that is known of the result."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from ..dataclass import dataclass
from ..native import NativeBinary, compile_spirv, zebin
from .listing import Listing, read
from .mix import Mix, hottest, innermost_loops, measure

#: the flag that has the ISA written, which is this module's own business
_DUMP = re.compile(r"-igc_opts '[^']*'")


@dataclass(frozen=True)
class Statistics:
    """whole: every instruction; loops: the innermost ones; hot: the one that matters, None without loops.
    code_bytes: of the kernel's instructions. `listing` is None where the compiler left no text."""

    native: NativeBinary
    code_bytes: int
    listing: Listing | None = None
    whole: Mix | None = None
    loops: tuple[Mix, ...] = ()

    @property
    def hot(self) -> Mix | None:
        return hottest(self.loops)

    def to_json(self) -> dict[str, Any]:
        """Plain data, for other programs."""
        facts = self.native.metadata()
        facts["build_flags"] = _DUMP.sub("", facts["build_flags"]).strip()
        keep = ("device", "ocloc_version", "build_flags", "simd_size", "grf_count", "spill_bytes", "n_spills",
                "exact",
                "slm_size", "private_size", "barrier_count", "has_dpas")
        hot = self.hot
        return {**{name: facts[name] for name in keep}, "code_bytes": self.code_bytes,
                "whole": self.whole.to_json() if self.whole else None,
                "loops": [loop.to_json() for loop in self.loops], "hot": hot.label if hot else None}


def statistics(words: bytes, device: str, kernel: str, *, num_warps: int = 4,
               grf_mode: str = "default", expected_grf: str = "default") -> Statistics:
    """Compile a module for a device that need not be there, and count. Takes and raises what
    native.compile_spirv does.
    """
    with tempfile.TemporaryDirectory(prefix="triton-spirv-isa-") as folder:
        dump = Path(folder)
        made = compile_spirv(words, device, kernel, num_warps=num_warps, grf_mode=grf_mode,
                             expected_grf=expected_grf, dump=dump)
        texts = [path.read_text(errors="replace") for path in sorted(dump.rglob("*.asm"))]
    size = code_bytes(made.binary, kernel)
    listing = kept_listing(texts, kernel, made, size)
    if listing is None:
        return Statistics(made, size)
    return Statistics(made, size, listing, measure(listing.items, listing.register_bytes),
                      tuple(innermost_loops(listing)))


def code_bytes(binary: bytes, kernel: str) -> int:
    """The size of the kernel's section."""
    return next((len(section.data) for section in zebin.sections(binary)
                 if section.name == f".text.{kernel}"), 0)


def kept_listing(texts: list[str], kernel: str, made: NativeBinary, size: int) -> Listing | None:
    """Of all attempts that the compiler wrote down, the one that the binary holds: its registers are those
    of the binary, and its length fits best."""
    candidates = [listing for listing in map(read, texts) if listing.kernel == kernel]
    fitting = [listing for listing in candidates if listing.registers in (-1, made.grf_count)]
    return min(fitting or candidates, key=lambda listing: abs(encoded(listing) - size), default=None)


def encoded(listing: Listing) -> int:
    """About how many bytes the instructions take: 16 each, 8 where one is compacted."""
    whole = read_lines(listing.text)
    return 16 * len(whole) - 8 * sum("Compacted" in line for line in whole)


def read_lines(text: str) -> list[str]:
    """The lines that stand for instructions."""
    plain = (line.strip() for line in text.splitlines())
    return [line for line in plain if line and not line.startswith("//") and not line.endswith(":")]
