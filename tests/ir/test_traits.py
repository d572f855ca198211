"""What the table of dialects says of operations: everybody asks it, so it must be whole and said once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import triton_spirv
from triton_spirv.ir import dialects
from triton_spirv.ir.dialects import OPERATIONS, TRAITS, with_trait
from triton_spirv.lower import RULES
from triton_spirv.lower.registry import SOURCE_LAYOUTS, elementwise, lowers, pulled, symbolic


def test_every_trait_is_known() -> None:
    for spec in OPERATIONS.values():
        words = {word.partition("=")[0] for word in spec.trait_text.split()}
        assert words <= TRAITS.keys(), spec.name
        assert ("writes" in words) == (spec.written is not None), spec.name
        assert spec.written is None or spec.written in spec.positions, spec.name


@pytest.mark.parametrize("effect", ["reads", "writes", "atomic", "terminator"])
def test_what_has_an_effect_is_not_pure(effect: str) -> None:
    assert not with_trait(effect) & with_trait("pure")


def test_views_have_one_operand() -> None:
    """What asks for views follows that operand."""
    assert all(len(OPERATIONS[name].operands) == 1 for name in with_trait("view"))


def test_rules_and_traits_agree() -> None:
    """A rule that works register by register is of an elementwise operation. One that asks another layout
    of its operand holds the operand's elements, moved or repeated. What writes is executed where it stands.
    """
    by_register = {name for name, entry in RULES.items() if entry.kind == "elementwise"}
    assert by_register <= with_trait("elementwise")
    assert set(SOURCE_LAYOUTS) <= with_trait("pure")
    deferred = {name for name, entry in RULES.items() if entry.kind != "lowers"}
    assert not deferred & (with_trait("writes") | with_trait("atomic"))


def test_an_operation_has_one_line() -> None:
    with pytest.raises(AssertionError, match=r"two lines for arith\.addi"):
        dialects._op("arith.addi", "lhs rhs", "$lhs")


def test_rules_are_checked_as_they_are_registered() -> None:
    with pytest.raises(AssertionError, match=r"two rules for arith\.addi"):
        elementwise("arith.addi")(lambda ctx, op, lhs, rhs: lhs)
    with pytest.raises(AssertionError, match=r"two symbolic forms for arith\.addi"):
        symbolic("arith.addi")(lambda ctx, op, lhs, rhs: lhs)
    with pytest.raises(AssertionError, match="takes 1 operands, the operation has 2"):
        symbolic("math.powf")(lambda ctx, op, lhs: lhs)
    with pytest.raises(AssertionError, match="not elementwise"):
        elementwise("ttg.fp4_to_fp")(lambda ctx, op, src: src)
    with pytest.raises(AssertionError, match="takes 1 operands, the operation has 2"):
        elementwise("arith.scaling_extf")(lambda ctx, op, src: src)
    with pytest.raises(AssertionError, match="rule takes"):
        pulled("arith.scaling_extf")(lambda ctx, op, layout, value: value)
    with pytest.raises(AssertionError, match="rule takes"):
        lowers("cf.assert")(lambda ctx, op, condition: None)


#: folder or file -> why names of operations stand there side by side, though they are no property to ask for
LISTED = {
    "ir": "the table itself, and the reader and printer of its formats",
    "compiler.py": "what needs no rule, for the refusal of what has none",
    "cli/operations.py": "a page for people",
}


def lists_of_names(source: str) -> list[tuple[int, list[str]]]:
    """(line, names) of each tuple, list or set that names two operations or more."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            names = [x.value for x in node.elts if isinstance(x, ast.Constant) and x.value in OPERATIONS]
            if len(names) > 1:
                found.append((node.lineno, names))
    return found


def test_a_list_of_names_is_found() -> None:
    found = lists_of_names('x = op.name in ("tt.splat", "tt.broadcast")')
    assert found == [(1, ["tt.splat", "tt.broadcast"])]
    assert not lists_of_names('x = op.name == "tt.splat" or {"tt.dot": 1, "tt.trans": 2}[op.name]')


def test_no_lists_of_names_beside_the_table() -> None:
    """What an operation is, its traits say: a list of names elsewhere forgets the operation that is added
    next. (A table from names to what is done for each is a rule, and so is the comparison with one name.)"""
    package = Path(triton_spirv.__file__).parent
    lists: dict[str, list[str]] = {}
    for path in package.rglob("*.py"):
        place = path.relative_to(package).as_posix()
        if place.partition("/")[0] not in LISTED and place not in LISTED:
            lists |= {f"{place}:{line}": names
                      for line, names in lists_of_names(path.read_text(encoding="utf-8"))}
    assert not lists
