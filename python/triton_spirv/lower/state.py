"""What is known while a module is lowered: bound values, layouts, the scopes of evaluated fragments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..environment.base import Environment
from ..ir.dialects import OPERATIONS
from ..ir.model import Operation, PointerType, TensorType, Type, Value
from ..layout import Layout, row_major, squares
from ..spirv.builder import Builder
from ..spirv.module import Value as Register
from ..spirv.types import Pointer
from ..target import Target
from .budget import Budget
from .lanes.shared import SharedMemory
from .launch_contract import LaunchContract
from .plan.recorder import Recorder
from .plan.records import Walk
from .prepared import Prepared
from .values.tensor import Deferred, Fragment, Stored
from .values.types import storage_type
from .walk.arrays import Arrays
from .walk.indices import Indices

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


@dataclass
class Frame:
    """Values of one function instance; `parent` is set for regions that see the values around them."""

    values: dict[Value, Any] = field(default_factory=dict)
    lowered: set[Operation] = field(default_factory=set)
    pending: list[Deferred] = field(default_factory=list)


@dataclass(eq=False)
class Scope:
    """Code that dominates what is emitted until the scope closes, and nothing behind it: what is made within
    is forgotten then. `walks`: every turn of the walk around it comes through it, or through its other arm,
    which does the same.
    """

    walks: bool = False
    fragments: dict[tuple[int, Layout], Fragment] = field(default_factory=dict)
    spilled: dict[int, Stored] = field(default_factory=dict)
    kept: set[Deferred] = field(default_factory=set)  # made before the scope, evaluated for good in it
    written: set[tuple[OpenWalk, Deferred]] = field(default_factory=set)  # by-products, on all ways to here


@dataclass(frozen=True)
class ByProduct:
    """Where a walk writes a value that it computes anyway: an array, under the layout in which it comes to
    the value. over: the tensor whose array that was."""

    stored: Stored
    layout: Layout
    over: Stored | None = None


@dataclass(eq=False)
class OpenWalk:
    """A walk that is being emitted. by_products: decided before it. record: it in the plan, still without its
    body. scopes, pieces: how many scopes and pieces of the step there were before it."""

    by_products: dict[Deferred, ByProduct]
    record: Walk
    scopes: int
    pieces: int

    def keep_nothing(self) -> None:
        """What it computes goes where its own code says."""
        self.by_products.clear()
        self.record = replace(self.record, keeps=())


class State:
    """`b` builds instructions, `env` knows the environment, `target` the device. The parts: `launch`, what
    the launcher must know; `indices`, index arithmetic under layouts; `arrays`, private memory; `shared`,
    shared memory; `prepared`, what was made before a loop; `recorder`, the plan as far as it is carried out.
    The rest is what has been lowered so far. """

    def __init__(self, b: Builder, env: Environment, target: Target, functions: dict[str, Operation]) -> None:
        self.b, self.env, self.target = b, env, target
        self.functions = functions
        self.frames = [Frame()]
        self.scopes = [Scope()]
        self.memo_roots: list[object] = []  # keeps what the scopes know by its id
        self.waiting: list[Deferred] = []  # loads of lanes that are not emitted yet
        self.walks: list[OpenWalk] = []
        self.proven: list[set[tuple[int, Layout]]] = []
        self.refuted: tuple[int, Layout] | None = None  # a mask that is not true everywhere in this window
        self.brief = False  # this code hardly ever runs: short rather than fast
        self.call_stack: list[str] = []
        self.called = 0  # operations of called functions so far
        self.num_warps = 1
        self.parted = False  # lanes may have parted ways, so that no barrier may stand here
        self.budget = Budget()
        self.recorder = Recorder()
        self._answers: dict[tuple[object, ...], Any] = {}
        self.launch = LaunchContract(b.module, env, target)
        self.indices = Indices(b, env)
        self.arrays = Arrays(b, env, target.vector_width, self.indices, self.recorder)
        self.from_below = False  # what is evaluated has all that it waits for
        self.scalars: set[int] = set()  # ids of what all lanes of the program have the same of
        self.options: dict[str, Any] = {}
        self.shared = SharedMemory(self)  # type: ignore[arg-type]  # every State is a Context
        self.prepared = Prepared()
        self.has_atomics = False
        self.across: dict[tuple[int, ...], int] = {}  # shapes of tensors that are accessed across their rows

    @property
    def lanes_of_program(self) -> int:
        """Work-items that run a program together."""
        return self.num_warps * self.target.sub_group_size

    def remembered(self, question: tuple[object, ...], about: object, ask: Callable[[], T]) -> T:
        """The answer to a question about a tensor that has the same answer at all times; `question` may name
        the tensor, or what is in it, by its id."""
        answers = self._answers
        if question not in answers:
            answers[question] = ask()
            self.memo_roots.append(about)  # keeps its id unique
        return answers[question]

    # --- layouts --------------------------------------------------------------------------------------------

    def layout_of(self, type: Type) -> Layout:
        """The layout under which values of a tensor type are held: its encoding's, or row-major in vector
        mode.
        """
        assert isinstance(type, TensorType)
        if type.encoding is not None:
            from .values.encoding import layout_of_encoding
            return layout_of_encoding(type.encoding, type.shape, self.num_warps, self.target.sub_group_size)
        return self.default_layout(type.shape)

    def default_layout(self, shape: tuple[int, ...]) -> Layout:
        """Row-major, walked in steps where the tensor has more registers than fit; by squares where some
        access goes across the rows."""
        window = 1 if self.brief else self.target.window
        if shape in self.across and not self.brief:
            return squares(shape, self.across[shape], self.target.vector_width, self.target.max_registers)
        return row_major(shape, self.target.vector_width, self.target.max_registers, window)

    def is_natural(self, layout: Layout) -> bool:
        """Is this the layout under which a tensor of this shape is walked (in any order of steps)?"""
        natural = self.default_layout(layout.shape)
        return (
            layout.origin == 0
            and natural.component == layout.component
            and natural.register == layout.register
            and sorted(natural.step) == sorted(layout.step)
        )

    # --- bound values ---------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def value(self, value: Value) -> Any:
        """What `value` was bound to: a register (scalars) or a Tensor."""
        return self.frame.values[value]

    def bind(self, value: Value, bound: object) -> None:
        if isinstance(bound, Deferred):
            self.frame.pending.append(bound)
        elif isinstance(bound, Register) and not self.parted:
            self.scalars.add(bound.id)
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

    # --- scopes ---------------------------------------------------------------------------------------------

    def open_scope(self, walks: bool = False) -> None:
        """Enter a scope whose code does not dominate what follows it."""
        self.scopes.append(Scope(walks))

    def close_scope(self) -> Scope:
        """Leave it: what was evaluated in it is not, for what follows."""
        scope = self.scopes.pop()
        for node in scope.kept:
            node.stored = None
        return scope

    def keep(self, node: Deferred, value: Fragment | Stored) -> None:
        """A deferred value is in registers or an array from here on, until this scope closes, or its own."""
        node.stored = value
        if node.scope is not self.scopes[-1]:
            self.scopes[-1].kept.add(node)

    def is_kept_for_now(self, node: Deferred) -> bool:
        """Will a value that is kept be deferred again, when a scope closes?"""
        return any(node in scope.kept for scope in self.scopes[1:])
