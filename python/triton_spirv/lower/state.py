"""What is known while a module is lowered: bound values, layouts, the scopes of evaluated fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ..environment.base import Environment
from ..ir.dialects import OPERATIONS
from ..ir.model import Operation, PointerType, TensorType, Type, Value
from ..layout import Layout, row_major, squares
from ..spirv.builder import Builder
from ..spirv.module import Value as Register
from ..spirv.types import Pointer
from ..target import Target
from .answers import Answers
from .budget import Budget
from .calls import Calls, Frame
from .convergence import Convergence
from .kernel import Kernel
from .known_masks import KnownMasks
from .lanes.shared import SharedMemory
from .launch_contract import LaunchContract
from .plan.recorder import Recorder
from .prepared import Prepared
from .values.encoding import layout_of_encoding
from .values.tensor import Deferred, Stored
from .values.types import storage_type
from .walk.arrays import Arrays
from .walk.indices import Indices
from .walk.scopes import OpenWalk, Scopes

T = TypeVar("T")


def named(op: Operation, bound: Sequence[Any]) -> list[Any]:
    """Bound operands by the dialect's names: None for an absent one, a tuple for a variadic one."""
    if op.segments is None:
        return list(bound)
    result: list[Any] = []
    start = 0
    for operand, count in zip(OPERATIONS[op.name].operands, op.segments, strict=True):
        part = tuple(bound[start:start + count])
        result.append(part if operand.quantity == "*" else part[0] if part else None)
        start += count
    return result


class State:
    """`b` builds instructions, `env` knows the environment, `target` the device, `kernel` what is compiled.

    The parts: `launch`, what the launcher must know; `indices`, index arithmetic under layouts; `arrays`,
    private memory; `shared`, shared memory; `prepared`, what was made before a loop; `recorder`, the plan as
    far as it is carried out; `calls`, functions and what their values are bound to; `scopes`, what has been
    evaluated; `walks` around the code at hand; `masks` that are known there; `convergence` of lanes there;
    `answers` to questions about tensors; `budget`, the time. """

    def __init__(self, b: Builder, env: Environment, target: Target, kernel: Kernel) -> None:
        self.b, self.env, self.target, self.kernel = b, env, target, kernel
        self.calls = Calls()
        self.scopes = Scopes()
        self.walks: list[OpenWalk] = []
        self.masks = KnownMasks()
        self.convergence = Convergence()
        self.answers = Answers()
        self.budget = Budget()
        self.recorder = Recorder()
        self.launch = LaunchContract(b.module, env, target)
        self.indices = Indices(b, env)
        self.arrays = Arrays(b, env, target.vector_width, self.indices, self.recorder)
        self.shared = SharedMemory(self)  # type: ignore[arg-type]  # every State is a Context
        self.prepared = Prepared()
        self.waiting: list[Deferred] = []  # loads of lanes that are not emitted yet
        self.brief = False  # this code hardly ever runs: short rather than fast
        self.fetches_later = False  # what the loads of this walk read next is fetched elsewhere
        self.from_below = False  # what is evaluated has all that it waits for

    @property
    def lanes_of_program(self) -> int:
        """Work-items that run a program together."""
        return self.kernel.num_warps * self.target.sub_group_size

    # --- layouts --------------------------------------------------------------------------------------------

    def layout_of(self, type: Type) -> Layout:
        """The layout under which values of a tensor type are held: its encoding's, or row-major in vector
        mode.
        """
        assert isinstance(type, TensorType)
        if type.encoding is not None:
            return layout_of_encoding(type.encoding, type.shape, self.kernel.num_warps,
                                      self.target.sub_group_size)
        return self.default_layout(type.shape)

    def default_layout(self, shape: tuple[int, ...]) -> Layout:
        """Row-major, walked in steps where the tensor has more registers than fit; by squares where some
        access goes across the rows."""
        window = 1 if self.brief else self.target.window
        if shape in self.kernel.across and not self.brief:
            return squares(shape, self.kernel.across[shape], self.target.vector_width,
                           self.target.max_registers)
        return row_major(shape, self.target.vector_width, self.target.max_registers, window)

    def holds_windows(self, layout: Layout) -> bool:
        """Does each turn hold one of the windows in which tensors of this shape are walked, whichever comes
        first? That is enough to put the elements into an array, or to fetch them. It does not say that the
        turns of two walks go together: `Layout.in_step_with`."""
        own = self.default_layout(layout.shape)
        return (
            layout.origin == 0
            and own.component == layout.component
            and own.register == layout.register
            and sorted(own.step) == sorted(layout.step)
        )

    # --- bound values ---------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.calls.frame

    def value(self, value: Value) -> Any:
        """What `value` was bound to: a register (scalars) or a Tensor."""
        return self.frame.values[value]

    def bind(self, value: Value, bound: object) -> None:
        if isinstance(bound, Deferred):
            self.frame.pending.append(bound)
        elif isinstance(bound, Register):
            self.convergence.bound(bound)
        elif isinstance(bound, Stored):
            self.recorder.name(bound, value)
        self.frame.values[value] = bound

    def is_pointer(self, register: Register) -> bool:
        """Is this a scalar pointer of the environment, rather than an address?"""
        return isinstance(register.type, Pointer)

    def as_scalar(self, register: Register, type: Type) -> Register:
        """A component of a tensor as the scalar value of an IR type: addresses become pointers."""
        return (
            self.env.pointer(register, storage_type(type.pointee))
            if isinstance(type, PointerType)
            else register
        )
