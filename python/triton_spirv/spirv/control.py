"""Structured control flow: selections and loops as `with` blocks, in the form of the specification, 2.11.

    with if_(m, condition):
        ...

    branch = IfElse(m, condition)
    with branch.then():
        branch.yield_([x])
    with branch.otherwise():
        branch.yield_([y])
    branch.results                              # one phi for each yielded value

    loop = For(m, lower, upper, step, carried=[total])
    with loop:
        loop.yield_([m.emit("OpIAdd", loop.carried[0], loop.index, type=Int(32))])
    loop.results                                # the initial values when the loop does not run

    loop = While(m, carried=[x])
    with loop.before():
        loop.condition(go_on, [a, b])
    with loop.body():
        loop.arguments                          # a, b
        loop.yield_([next_x])
    loop.results                                # a, b of the last round

Every header has its merge instruction, every loop one continue block. A block may end early, by OpReturn or
OpUnreachable, and then does not reach the merge block; a merge block that nothing reaches is OpUnreachable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from .module import Module
from .types import Bool
from .values import Control, Label, Value


@contextmanager
def if_(m: Module, condition: Value, control: Control = "None") -> Iterator[None]:
    """The block is executed when the scalar `condition` holds."""
    then, merge = m.label(), m.label()
    m.emit("OpSelectionMerge", merge, control)
    m.emit("OpBranchConditional", condition, then, merge)
    m.begin(then)
    mark = m.mark
    yield
    if not m.terminated:
        m.emit("OpBranch", merge)
    m.leave(mark)
    m.begin(merge)


class IfElse:
    """Both ways of a condition, `then()` and `otherwise()`; the values that they yield meet in `results`."""

    def __init__(self, m: Module, condition: Value, control: Control = "None") -> None:
        self.module = m
        self.results: list[Value] = []
        self._then, self._otherwise, self._merge = m.label(), m.label(), m.label()
        self._yielded: Sequence[Value] = ()
        self._arms: list[tuple[Label, Sequence[Value]]] = []    # those that reach the merge block
        self._mark = m.mark
        m.emit("OpSelectionMerge", self._merge, control)
        m.emit("OpBranchConditional", condition, self._then, self._otherwise)

    @contextmanager
    def then(self) -> Iterator[None]:
        """The block where the condition holds."""
        self.module.begin(self._then)
        yield
        self._end_arm()
        self.module.leave(self._mark)

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The block where it does not; after it `results` are there."""
        m, mark, left_early = self.module, self.module.mark, not self._arms
        m.begin(self._otherwise)
        yield
        ends = m.terminated
        self._end_arm()
        if ends and not left_early:
            m.rejoin(self._mark)
        if ends or not left_early:
            m.leave(mark)
        m.begin(self._merge)
        if self._arms:
            self.results = self._merge_values()
        else:
            self.module.emit("OpUnreachable")

    def yield_(self, values: Sequence[Value]) -> None:
        """The values of this way, given at its end."""
        self._yielded = list(values)

    def _end_arm(self) -> None:
        m = self.module
        if not m.terminated:
            assert m.block is not None
            self._arms.append((m.block, self._yielded))
            m.emit("OpBranch", self._merge)
        self._yielded = ()

    def _merge_values(self) -> list[Value]:
        labels, arms = zip(*self._arms, strict=True)
        if len({len(values) for values in arms}) > 1:
            raise ValueError(f"IfElse: the two ways yield {len(arms[0])} and {len(arms[1])} values")
        return [_phi(self.module, values, labels) for values in zip(*arms, strict=True)]


class For:
    """`for index in range(lower, upper, step)` with a step above 0, and values carried from round to round.

    `lower`, `upper`, `step` are of one integer type, compared as signed or unsigned; `inclusive` lets the
    index reach `upper`. The header holds the phis and the test, so the phis are the results however often the
    body runs.
    """

    def __init__(self, m: Module, lower: Value, upper: Value, step: Value, carried: Sequence[Value] = (),
                 signed: bool = True, control: Control = "None", inclusive: bool = False,
                 goes_on: Callable[[Value], Value] = lambda test: test) -> None:
        """`goes_on`: the condition of a round, of the test of the index."""
        self.module = m
        self._lower, self._upper, self._step = lower, upper, step
        self._test = f"Op{'S' if signed else 'U'}LessThan{'Equal' if inclusive else ''}"
        self._loop = _Loop(m, control, [lower, *carried])
        self._goes_on = goes_on
        self._yielded: Sequence[Value] = ()
        self.index, *self.carried = self._loop.phis
        self.results = self.carried

    def __enter__(self) -> For:
        m = self.module
        body = m.label()
        go_on = self._goes_on(m.emit(self._test, self.index, self._upper, type=Bool()))
        self._loop.watch(go_on)
        self._loop.merge_instruction()
        m.emit("OpBranchConditional", go_on, body, self._loop.merge)
        self._loop.mark = m.mark
        m.begin(body)
        return self

    def yield_(self, values: Sequence[Value]) -> None:
        """The carried values of the next round, given at the end of the body."""
        self._yielded = list(values)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is not None:
            return
        m, loop = self.module, self._loop
        values = _next_round(m, "For", self._yielded, self.carried)
        loop.begin_continue()
        loop.repeat([m.emit("OpIAdd", self.index, self._step, type=self.index.type), *values])


class While:
    """A loop that tests between its parts `before()` and `body()`; without a body, a `do ... while`."""

    def __init__(self, m: Module, carried: Sequence[Value] = (), control: Control = "None") -> None:
        self.module = m
        self._loop = _Loop(m, control, carried)
        self._condition: Value | None = None
        self._yielded: Sequence[Value] = ()
        self.carried = self._loop.phis
        self.arguments: list[Value] = []
        self.results: list[Value] = []

    @contextmanager
    def before(self) -> Iterator[None]:
        """Where the condition is made of `carried`."""
        m = self.module
        first = m.label()
        self._loop.merge_instruction()
        m.emit("OpBranch", first)
        m.begin(first)
        yield
        if self._condition is None:
            raise ValueError("While: before() ends without condition()")

    def condition(self, go_on: Value, forwarded: Sequence[Value] = ()) -> None:
        """Go on to the body if `go_on` holds; `forwarded` are its `arguments`, in the end the `results`."""
        # All ways to the body and out of the loop lead from here: the values need no phis.
        self._condition = go_on
        self.arguments = self.results = list(forwarded)

    @contextmanager
    def body(self) -> Iterator[None]:
        """Where the values of the next round are made of `arguments`."""
        m = self.module
        first = m.label()
        assert self._condition is not None
        self._loop.watch(self._condition)
        m.emit("OpBranchConditional", self._condition, first, self._loop.merge)
        self._loop.mark = m.mark
        m.begin(first)
        yield
        values = _next_round(m, "While", self._yielded, self.carried)
        self._loop.begin_continue()
        self._loop.repeat(values)

    def yield_(self, values: Sequence[Value]) -> None:
        """The carried values of the next round, given at the end of the body."""
        self._yielded = list(values)


class _Loop:
    """The blocks of a loop: header with phis, entered from the open block; continue block; merge block."""

    def __init__(self, m: Module, control: Control, initial: Sequence[Value]) -> None:
        self.module = m
        self.control = control
        self.header, self.continue_, self.merge = m.label(), m.label(), m.label()
        self.mark = 0                                # where the body begins, as `Module.leave` takes it
        self._watched: Value | None = None
        entry = m.block
        m.emit("OpBranch", self.header)
        m.begin(self.header)
        assert entry is not None
        self.phis = [_phi(m, [value], [entry], fold=False) for value in initial]

    def merge_instruction(self) -> None:
        self.module.emit("OpLoopMerge", self.merge, self.continue_, self.control)

    def watch(self, go_on: Value) -> None:
        """The condition of this round, in the block that branches on it."""
        if self.module.watch is not None:
            self._watched = self.module.watch.goes_on(go_on)

    def begin_continue(self) -> None:
        """Leave the body for the continue block, unless the body has ended already."""
        m = self.module
        if not m.terminated:
            m.emit("OpBranch", self.continue_)
        m.begin(self.continue_)

    def repeat(self, values: Sequence[Value]) -> None:
        """Back to the header with the values of the next round; the merge block is the current one then."""
        m = self.module
        for phi, value in zip(self.phis, values, strict=True):
            m.add_incoming(phi, value, self.continue_)
        m.emit("OpBranch", self.header)
        m.leave(self.mark)
        m.begin(self.merge)
        if m.watch is not None and self._watched is not None:
            m.watch.left(self._watched)


def _phi(m: Module, values: Sequence[Value], labels: Sequence[Label], fold: bool = True) -> Value:
    """The phi of values by the block they come from; a value that comes from all of them is itself."""
    if fold and all(value is values[0] for value in values):
        return values[0]
    phi = m.phi(values[0].type)
    for value, label in zip(values, labels, strict=True):
        m.add_incoming(phi, value, label)
    return phi


def _next_round(m: Module, what: str, yielded: Sequence[Value], carried: Sequence[Value]) -> Sequence[Value]:
    """The values that a body yields; any will do where it never comes to its end."""
    if m.terminated:
        return [m.undef(value.type) for value in carried]
    if len(yielded) != len(carried):
        raise ValueError(f"{what}: {len(carried)} values are carried, {len(yielded)} are yielded")
    return yielded
