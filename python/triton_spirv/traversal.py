"""Questions that are answered from what a value is made of: each value is asked once, however many use it.

Values are shared. In a chain of which every link uses the one before it twice, 24 links are 16 million paths,
so a recursion over operands never ends, and one of some hundred links is more than Python's stack takes. A
*question* has neither problem. Its rule is a generator: it yields what it asks next, is sent the answer, and
returns its own.

    @question
    def reads(tensor: Any) -> Asking[bool]:
        if isinstance(tensor, Deferred):
            return (yield from some(tensor.operands))
        return isinstance(tensor, Stored)

`reads(tensor)` asks, in the order of a recursion, so that a rule may emit code on its way. What is asked is
the tuple of the rule's arguments, `yield (operand, layout)`: the first is the value, known by its identity,
the others by what they equal. A rule that needs more than that, such as a context, is a function inside
another: `answer(rule, value)`.

What is remembered lasts for one call. Tensors are evaluated as lowering goes on, and then answers change; in
between nothing does. A rule that evaluates tensors itself asks about them before, not after. Questions about
what never changes (operations, operands) may keep their answers: `answer(rule, value, known=...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")

#: What a rule is: it yields the arguments of what it asks next.
Asking = Generator[tuple[Any, ...], Any, Answer]

#: (identity of the value, the other arguments) -> the value, which keeps its identity, and the answer
Known = dict[tuple[Any, ...], list[Any]]

_ASKED = object()  # in place of an answer that is still to come


def answer(rule: Callable[..., Asking[Answer]], value: Any, *rest: Any, known: Known | None = None) -> Answer:
    """The rule's answer for a value; `known` holds earlier ones, and takes those that are found."""
    known = {} if known is None else known
    stack: list[tuple[list[Any], Asking[Any]]] = []
    wanted: tuple[Any, ...] = (value, *rest)
    while True:
        asked = [wanted[0], _ASKED]
        found = known.setdefault((id(wanted[0]), *wanted[1:]), asked)  # looked up once: layouts are keys, too
        if found is asked:
            stack.append((asked, rule(*wanted)))
            given = None
        else:
            given = found[1]
            assert given is not _ASKED, f"{rule.__qualname__}: a value that is made of itself"
        while stack:
            asked, asking = stack[-1]
            try:
                wanted = asking.send(given)
                break
            except StopIteration as end:
                stack.pop()
                given = asked[1] = end.value
        else:
            return given  # type: ignore[return-value]  # the answer of the first that was asked


def question(rule: Callable[Arguments, Asking[Answer]]) -> Callable[Arguments, Answer]:
    """The function that a rule is a rule of: its answers are remembered for the time of a call."""

    @wraps(rule)
    def ask(*arguments: Arguments.args, **nothing: Arguments.kwargs) -> Answer:
        return answer(rule, *arguments)

    return ask


def every(values: Iterable[Any], *rest: Any) -> Asking[bool]:
    """In a rule, `yield from every(values)`: is the answer for all of them yes? The first no ends it."""
    for value in values:
        if not (yield (value, *rest)):
            return False
    return True


def some(values: Iterable[Any], *rest: Any) -> Asking[bool]:
    """In a rule, `yield from some(values)`: is the answer for any of them yes? The first yes ends it."""
    for value in values:
        if (yield (value, *rest)):
            return True
    return False
