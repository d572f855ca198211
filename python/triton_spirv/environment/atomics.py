"""Atomic operations, as rules ask for them of an environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from ..spirv.builder import Builder
from ..spirv.control import While
from ..spirv.module import Value
from ..spirv.types import Type

#: The instructions of `atomic`.
ATOMICS = {
    "add": "OpAtomicIAdd",
    "fadd": "OpAtomicFAddEXT",
    "max": "OpAtomicSMax",
    "umax": "OpAtomicUMax",
    "min": "OpAtomicSMin",
    "umin": "OpAtomicUMin",
    "fmax": "OpAtomicFMaxEXT",
    "fmin": "OpAtomicFMinEXT",
    "and": "OpAtomicAnd",
    "or": "OpAtomicOr",
    "xor": "OpAtomicXor",
    "exchange": "OpAtomicExchange",
}


class Atomics(ABC):
    """What environments say of words in memory that several work-items change. Names and orders are Triton's;
    scope: "cta", "gpu" or "sys"."""

    b: Builder

    @abstractmethod
    def has_atomic(self, name: str, type: Type) -> bool:
        """Does the device have `atomic` of this name on a type? (Otherwise: `compare_exchange` in a loop.)"""

    @abstractmethod
    def atomic_load(self, pointer: Value, scope: str, order: str) -> Value:
        """An integer of 32 or 64 bits; order: relaxed or acquire."""

    @abstractmethod
    def atomic_store(self, pointer: Value, value: Value, scope: str, order: str) -> None:
        """Store an integer of 32 or 64 bits; order: relaxed or release."""

    @abstractmethod
    def atomic(self, name: str, pointer: Value, value: Value, scope: str, order: str) -> Value:
        """The old value; name: add fadd max umax min umin fmax fmin and or xor exchange. order: relaxed
        acquire release acq_rel.
        """

    @abstractmethod
    def fence(self, scope: str, order: str) -> None:
        """Orders the work-item's own accesses around a relaxed atomic as one of this order does: release
        before it, acquire behind it. Nothing for relaxed.
        """

    @abstractmethod
    def compare_exchange(self, pointer: Value, compare: Value, value: Value, scope: str, order: str) -> Value:
        """The old value of an integer in memory, replaced by `value` where it equalled `compare`."""

    def update_word(self, pointer: Value, scope: str, change: Callable[[Value], Value]) -> Value:
        """Replace an integer in memory by `change` of it, whatever others do there meanwhile; what it was. A
        loop of compare-and-exchange that orders nothing else (see `fence`)."""
        b = self.b
        loop = While(b.module, [self.atomic_load(pointer, scope, "relaxed")])
        with loop.before():
            word = loop.carried[0]
            seen = self.compare_exchange(pointer, word, change(word), scope, "relaxed")
            loop.condition(b.compare("OpINotEqual", seen, word), [seen])
        with loop.body():
            loop.yield_(loop.arguments)
        return loop.results[0]
