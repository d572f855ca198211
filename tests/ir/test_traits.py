"""What the table of dialects says of operations: everybody asks it, so it must be whole and said once."""

from __future__ import annotations

import pytest
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
