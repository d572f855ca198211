"""Capabilities and extensions: they follow from what a module uses, within what the target has."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import MissingCapability
from . import grammar
from .grammar import Enumerant, Instruction, Version


class Requirements:
    """The capabilities and extensions that a module declares, in the order of their first use.

    `available` is what the target has, None for no limit. `foreign` is the capability that an OpenCL module ("Shader") or a Vulkan
    module ("Kernel") never takes by itself where the grammar offers a choice.
    """

    def __init__(self, version: Version, foreign: str, available: Iterable[str] | None = None) -> None:
        self.version = version
        self.foreign = foreign
        self.available = None if available is None else frozenset().union(*map(grammar.implied, available))
        self.capabilities: dict[str, None] = {}
        self.extensions: dict[str, None] = {}
        self._declared: set[str] = set()    # the capabilities with all that they imply

    def has(self, capability: str) -> bool:
        """Is the capability declared, or implied by one that is?"""
        return capability in self._declared

    def require(self, capability: str, extension: str | None = None, needed_by: str = "") -> None:
        """Declare a capability and its extension, unless that is done already; MissingCapability when the target lacks it."""
        if extension is not None:
            self.extensions[extension] = None
        if capability in self._declared:
            return
        if self.available is not None and capability not in self.available:
            raise self._missing(needed_by or "the module", [capability])
        self.capabilities[capability] = None
        self._declared |= grammar.implied(capability)
        self._extend(grammar.enumerant("Capability", capability), f"the capability {capability}")

    def satisfy(self, entry: Instruction | Enumerant, needed_by: str, width: int | None = None) -> None:
        """Declare what an instruction or enumerant needs: nothing when one of its capabilities is there, else the first possible one.

        Where the alternatives are named after widths (AtomicFloat16AddEXT, AtomicFloat32AddEXT, ...), `width` selects.
        """
        candidates = entry.capabilities
        if width is not None:
            candidates = tuple(name for name in candidates if f"Float{width}" in name) or candidates
        if candidates and self._declared.isdisjoint(candidates):
            self.require(self._choose(candidates, needed_by), needed_by=needed_by)
        self._extend(entry, needed_by)

    def _choose(self, candidates: Iterable[str], needed_by: str) -> str:
        for name in candidates:
            if self.foreign not in grammar.implied(name) and (self.available is None or name in self.available):
                return name
        raise self._missing(needed_by, list(candidates))

    def _extend(self, entry: Instruction | Enumerant, needed_by: str) -> None:
        """Declare the extension that brings the entry, when the module's version does not have it."""
        if entry.version is not None and entry.version <= self.version:
            return
        if entry.extensions:
            if self.extensions.keys().isdisjoint(entry.extensions):
                self.extensions[entry.extensions[0]] = None
        elif entry.version is not None:
            newer, mine = (".".join(map(str, version)) for version in (entry.version, self.version))
            raise MissingCapability(f"{needed_by} needs SPIR-V {newer}; the module is SPIR-V {mine}")

    def _missing(self, needed_by: str, candidates: list[str]) -> MissingCapability:
        wanted = candidates[0] if len(candidates) == 1 else "one of " + ", ".join(candidates)
        has = f"the target has {', '.join(sorted(self.available))}" if self.available else "the target has none of them"
        if self.available is None:
            has = f"a module for {'OpenCL' if self.foreign == 'Shader' else 'Vulkan'} does not take that without Module.require"
        return MissingCapability(f"{needed_by} needs the capability {wanted}; {has}")
