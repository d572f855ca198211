"""Capabilities and extensions: they follow from what a module uses, within what the target has."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import MissingCapability
from . import grammar
from .grammar import Enumerant, Instruction, Version


class Requirements:
    """The capabilities and extensions that a module declares, in the order of their first use.

    `available` is what the target has; None sets no limit. `foreign` is the capability of the other world,
    "Shader" for an OpenCL module and "Kernel" for a Vulkan one: nothing that implies it is taken where the
    grammar offers a choice.
    """

    def __init__(self, version: Version, foreign: str, available: Iterable[str] | None = None) -> None:
        self.version = version
        self.foreign = foreign
        self.available: frozenset[str] | None = None
        if available is not None:
            self.available = frozenset().union(*map(grammar.implied, available))
        self.capabilities: dict[str, None] = {}
        self.extensions: dict[str, None] = {}
        self._declared: set[str] = set()    # the capabilities with all that they imply

    def has(self, capability: str) -> bool:
        """Is the capability declared, or implied by one that is?"""
        return capability in self._declared

    def offers(self, capability: str) -> bool:
        """Is the target known to have the capability?"""
        return self.available is not None and capability in self.available

    def require(self, capability: str, extension: str | None = None, needed_by: str = "the module") -> None:
        """Declare a capability and its extension; MissingCapability when the target lacks it."""
        if capability not in self._declared:
            entry = grammar.enumerant("Capability", capability)
            if self.available is not None and entry.name not in self.available:
                raise self._missing(needed_by, [capability])
            self._extend(entry, f"the capability {capability}")
            self.capabilities[entry.name] = None
            self._declared |= grammar.implied(entry.name)
        if extension is not None:
            self.extensions[extension] = None

    def satisfy(self, entry: Instruction | Enumerant, needed_by: str, width: int | None = None) -> None:
        """Declare what an instruction or enumerant needs, unless one of its capabilities is there already.

        The first possible one is taken; where they are named for a width, as AtomicFloat32AddEXT, `width`
        selects.
        """
        candidates = entry.capabilities
        if width is not None:
            candidates = tuple(name for name in candidates if f"Float{width}" in name) or candidates
        if candidates and self._declared.isdisjoint(candidates):
            self.require(self._choose(candidates, needed_by), needed_by=needed_by)
        self._extend(entry, needed_by)

    def _choose(self, candidates: Iterable[str], needed_by: str) -> str:
        for name in candidates:
            possible = self.available is None or name in self.available
            if possible and self.foreign not in grammar.implied(name):
                return name
        raise self._missing(needed_by, list(candidates))

    def _extend(self, entry: Instruction | Enumerant, needed_by: str) -> None:
        """Declare the extension that brings an entry, if this version of SPIR-V does not have it."""
        if entry.version is not None and entry.version <= self.version:
            return
        if entry.extensions:
            if self.extensions.keys().isdisjoint(entry.extensions):
                self.extensions[entry.extensions[0]] = None
        elif entry.version is not None:
            newer, mine = (".".join(map(str, version)) for version in (entry.version, self.version))
            raise MissingCapability(f"{needed_by} needs SPIR-V {newer}, the module is SPIR-V {mine}: "
                                    f"give Module a newer version, if the target takes it")

    def _missing(self, needed_by: str, candidates: list[str]) -> MissingCapability:
        wanted = candidates[0] if len(candidates) == 1 else "one of " + ", ".join(candidates)
        if self.available is None:
            reason = f"it implies {self.foreign}, which this module takes only by Module.require"
        else:
            reason = f"the target has {', '.join(sorted(self.available)) or 'none'}"
        return MissingCapability(f"{needed_by} needs the capability {wanted}; {reason}")
