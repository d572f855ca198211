"""traversal.py: each value is asked once, in the order of a recursion, however long the chain is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from triton_spirv.traversal import Asking, Known, answer, every, question, some


@dataclass(eq=False)
class Node:
    name: int
    below: tuple[Node, ...] = ()


def chain(length: int) -> Node:
    """Each node is computed from the one before it, twice."""
    node = Node(0)
    for name in range(1, length):
        node = Node(name, (node, node))
    return node


def naming(asked: list[int]) -> Callable[[Node], Asking[int]]:
    """A rule that counts paths, and writes down whom it is asked about."""
    def paths(node: Node) -> Asking[int]:
        asked.append(node.name)
        total = 0 if node.below else 1
        for x in node.below:
            total += yield (x,)
        return total
    return paths


def test_each_value_is_asked_once() -> None:
    asked: list[int] = []
    assert answer(naming(asked), chain(200)) == 1 << 199
    assert asked == list(range(199, -1, -1))


def test_a_long_chain_needs_no_stack() -> None:
    assert answer(naming([]), chain(20_000)) == 1 << 19_999


def test_the_order_is_that_of_a_recursion() -> None:
    left, right = Node(1, (Node(3), Node(4))), Node(2, (Node(5),))
    asked: list[int] = []
    answer(naming(asked), Node(0, (left, right, left)))
    assert asked == [0, 1, 3, 4, 2, 5]


def test_nothing_is_remembered_between_calls_unless_asked() -> None:
    node, asked, known = chain(5), list[int](), Known()
    rule = naming(asked)
    for _ in range(2):
        answer(rule, node)
    assert len(asked) == 10
    for _ in range(2):
        assert answer(rule, node, known=known) == 16
    assert len(asked) == 15


@question
def reaches(node: Node, name: int, how: str) -> Asking[bool]:
    """Is it, or what it is made of, of a name? In all its parts, or in some."""
    if node.name == name:
        return True
    together = every if how == "every" else some
    return bool(node.below) and (yield from together(node.below, name, how))


def test_every_and_some() -> None:
    node = Node(0, (Node(1, (Node(2),)), Node(3, (Node(2), Node(4)))))
    assert reaches(node, 2, "some") and not reaches(node, 2, "every")
    assert reaches(Node(0, (Node(1, (Node(2),)), Node(2))), 2, "every")
    assert not reaches(node, 9, "some")


def test_other_arguments_are_told_apart_by_what_they_equal() -> None:
    asked: list[tuple[int, tuple[int, ...]]] = []

    def rule(node: Node, place: tuple[int, ...]) -> Asking[None]:
        asked.append((node.name, place))
        for i, x in enumerate(node.below):
            yield x, (i,)

    below = Node(1)
    answer(rule, Node(0, (below, below, below)), (7,))
    assert asked == [(0, (7,)), (1, (0,)), (1, (1,)), (1, (2,))]


def test_temporary_values_are_not_taken_for_each_other() -> None:
    def rule(value: Any) -> Asking[int]:
        if isinstance(value, list):
            return value[0]
        total = 0
        for i in range(1000):
            total += yield ([i],)  # a new list each time: its address may be that of one that is gone
        return total

    assert answer(rule, "root") == sum(range(1000))


def test_a_value_made_of_itself_is_an_error() -> None:
    node = Node(0)
    node.below = (node,)
    with pytest.raises(AssertionError, match="made of itself"):
        answer(naming([]), node)


def test_an_error_in_a_rule_comes_out() -> None:
    def rule(node: Node) -> Asking[int]:
        for x in node.below:
            yield (x,)
        raise ValueError(node.name)

    with pytest.raises(ValueError, match="0"):
        answer(rule, chain(3))
