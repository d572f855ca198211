"""What the table of dialects says of operations: everybody asks it, so it must be whole and said once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
import triton_spirv
from triton_spirv.ir import dialects
from triton_spirv.ir.dialects import OPERATIONS, with_trait
from triton_spirv.ir.traits import BRINGS, TRAITS
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
    "lower/plan/text.py": "a page for people",
    "lower/tensors/idle_turns.py": "what each combiner leaves as it is; one that has none runs every turn",
    "passes/checked/inheritance.py": "which value of an operand decides the result; else all operands do",
    "passes/checked/origins.py": "operands whose use a check watches; what has none is not watched",
    "facts/foreign_pointers.py": "operands that may be addresses; of what is not there no result is one",
}

#: Methods by which a part of a name is asked for.
PARTS = {"startswith", "endswith", "partition", "rpartition", "split", "rsplit", "removeprefix",
         "removesuffix"}

DIALECTS = {name.partition(".")[0] for name in OPERATIONS}
LAST = {name.rpartition(".")[2] for name in OPERATIONS}


def names_in(nodes: Iterable[ast.AST | None]) -> list[str]:
    return [x.value for x in nodes if isinstance(x, ast.Constant) and x.value in OPERATIONS]


def says_what_they_are(node: ast.AST) -> list[str]:
    """Names of operations that stand here side by side to say what they are; or how a part of a name does."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return names_in(node.elts)
    if isinstance(node, ast.Dict):  # from names to what is done for each is a rule; to numbers is a property
        return names_in(node.keys) if all(map(is_number, node.values)) else []
    if isinstance(node, ast.BoolOp):
        compared = [value for value in node.values if isinstance(value, ast.Compare)]
        parts: dict[str, list[str]] = {}
        for each in compared:
            parts.setdefault(ast.unparse(each.left), []).extend(names_in(each.comparators))
        return max(parts.values(), key=len, default=[])
    if isinstance(node, ast.MatchOr):
        return names_in(x.value for x in node.patterns if isinstance(x, ast.MatchValue))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = re.split(r"[\s,|]+", node.value)
        return words if len(words) > 1 and all(word in OPERATIONS for word in words) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARTS:
        of = ast.unparse(node.func.value)
        asked = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        parts = [x for x in asked if x.rpartition(".")[2] in LAST or x.partition(".")[0] in DIALECTS]
        if of.endswith(".name") and "." in "".join(asked) and (parts or of in ("op.name", "operation.name")):
            return [ast.unparse(node)] * 2
    if isinstance(node, ast.Compare):
        starts = [str(x.values[0].value) for x in node.comparators if isinstance(x, ast.JoinedStr)
                  and x.values and isinstance(x.values[0], ast.Constant)]
        return [ast.unparse(node)] * 2 if any(
            "." in start and start.partition(".")[0] in DIALECTS for start in starts) else []
    return []


def is_number(node: ast.AST) -> bool:
    """Is it a number, a truth value, or several of them?"""
    return all(isinstance(x, (ast.Constant, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)) and not (
        isinstance(x, ast.Constant) and isinstance(x.value, str)) for x in ast.walk(node))


def lists_of_names(source: str) -> list[tuple[int, list[str]]]:
    """(line, names) of each place that lists operations."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = [(node.lineno, says_what_they_are(node)) for node in ast.walk(tree)
             if isinstance(node, (ast.expr, ast.pattern)) and id(node) not in docstrings]
    return [(line, names) for line, names in found if len(names) > 1]


@pytest.mark.parametrize("source", [
    'x = op.name in ("tt.splat", "tt.broadcast")',
    'VIEWS = {"tt.splat", "tt.broadcast"}',
    'VIEWS = frozenset("tt.splat tt.broadcast".split())',
    'VIEWS = dict.fromkeys(["tt.splat", "tt.broadcast"])',
    'IS_VIEW = {"tt.splat": True, "tt.broadcast": True}',
    'POINTER_OF = {"tt.load": 0, "tt.store": (0, 1)}',
    'x = op.name == "tt.splat" or op.name == "tt.broadcast"',
    'x = op.name != "tt.splat" and op.name != "tt.broadcast"',
    'x = op.name.startswith("arith.")',
    'x = op.name.endswith(".return")',
    'x = op.name.partition(".")[2] in KNOWN',
    'x = op.name == f"tt.{kind}"',
    'match op.name:\n    case "tt.splat" | "tt.broadcast":\n        pass',
])
def test_a_list_of_names_is_found(source: str) -> None:
    assert lists_of_names(source)


@pytest.mark.parametrize("source", [
    'x = op.name == "tt.splat" or {"tt.dot": dot, "tt.trans": trans}[op.name]',
    'x = first.name == "arith.extsi" and second.name == "arith.constant"',
    'FUNCTIONS = {"math.exp": "exp", "math.log": "log"}',
    'x = f"{op.name} {op.location}"',
    '"""tt.splat tt.broadcast"""',
])
def test_a_rule_is_no_list(source: str) -> None:
    assert not lists_of_names(source)


def test_no_lists_of_names_beside_the_table() -> None:
    """What an operation is, its traits say: a list of names elsewhere forgets the operation that is added
    next. (A table from names to what is done for each is a rule, and so is the comparison with one name.)"""
    package = Path(triton_spirv.__file__).parent
    lists: dict[str, list[str]] = {}
    needed = set()
    for path in package.rglob("*.py"):
        place = path.relative_to(package).as_posix()
        found = {f"{place}:{line}": names for line, names in lists_of_names(path.read_text(encoding="utf-8"))}
        if reason := {place, place.partition("/")[0]} & LISTED.keys():
            needed |= reason if found else set()
        else:
            lists |= found
    assert not lists
    assert needed == LISTED.keys(), "an exception that nothing needs"


#: The one operation of a trait. Whoever compares its name asks what it is, and may as well ask the trait.
SOLE = {next(iter(names)): trait for trait in BRINGS if len(names := with_trait(trait)) == 1}

#: Comparisons of one operation's name, outside of ir/. Whoever takes one away lowers it.
MOST = 103


def compared_names(source: str) -> list[tuple[int, str]]:
    """(line, name) of each comparison with one operation's name."""
    return [(node.lineno, name) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)
            and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
            for name in names_in([node.left, *node.comparators])]


@pytest.mark.parametrize("source", ['x = op.name == "scf.for"', 'x = "tt.load" != load.operation.name'])
def test_a_compared_name_is_found(source: str) -> None:
    ((line, name),) = compared_names(source)
    assert line == 1 and name in SOLE


def test_traits_are_asked_for_and_not_names() -> None:
    package = Path(triton_spirv.__file__).parent
    compared = {f"{path.relative_to(package)}:{line}": name for path in package.rglob("*.py")
                if path.relative_to(package).parts[0] != "ir"
                for line, name in compared_names(path.read_text(encoding="utf-8"))}
    asked = {place: f'{name}: op.has("{SOLE[name]}")' for place, name in compared.items() if name in SOLE}
    assert not asked
    assert len(compared) <= MOST, "what the code asks may be a trait: see triton_spirv/ir/traits.py"
