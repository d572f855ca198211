"""What the verifier asks of operations with regions, of branches, calls and functions: how many blocks, their
arguments, what ends them, and that values which cross an edge have the types that are expected there.
"""

from __future__ import annotations

from collections.abc import Sequence

from .dialects import OPERATIONS
from .model import Block, Operation, Region, Value
from .types import (
    FunctionType,
    IndexType,
    IntegerType,
    TensorType,
    Type,
    element_type,
    shape_of,
)
from .verify_rules import I1, Verifier, axis_of, whole

#: Warps of a program, lanes of a warp, programs of a cluster, at most.
MOST = {"ttg.num-warps": 1024, "ttg.threads-per-warp": 128, "ttg.num-ctas": 16}


def _types(values: Sequence[Value]) -> tuple[Type, ...]:
    return tuple(value.type for value in values)


def _listed(types: Sequence[Type]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


def passes(what: str, found: Sequence[Type], wanted: Sequence[Type]) -> str:
    """The types that cross an edge are those expected."""
    return "" if tuple(found) == tuple(wanted) else f"{what} {_listed(found)}, not {_listed(wanted)}"


def _body(region: Region, terminator: str) -> tuple[Block | None, str]:
    """The one block of a region, which ends with `terminator`; or what is wrong."""
    if len(region.blocks) != 1 or not region.blocks[0].operations:
        return None, f"a region of it is one block, which ends with {terminator}"
    block = region.blocks[0]
    if block.operations[-1].name != terminator:
        return None, f"a region of it ends with {block.operations[-1].name}, not {terminator}"
    return block, ""


def _is_like(type: Type, model: TensorType) -> bool:
    return isinstance(type, TensorType) and type.shape == model.shape and type.encoding == model.encoding


def _exits(op: Operation, terminator: str, wanted: Sequence[Type]) -> str:
    """Each block of the region ends; values that leave it, by `terminator`, have these types."""
    for block in op.regions[0].blocks:
        if not block.operations or not _ends(block.operations[-1]):
            return "a block of it has no terminator"
        if block.operations[-1].name == terminator:
            wrong = passes("its region gives", _types(block.operations[-1].operands), wanted)
            if wrong:
                return wrong
    return ""


def _combiner(op: Operation, terminator: str) -> str:
    """Tensors of one shape; a region that takes two sets of scalars, of their elements, and gives one."""
    first = op.operands[0].type if op.operands else None
    if not isinstance(first, TensorType) or not all(_is_like(v.type, first) for v in op.operands):
        return "its operands are tensors of one shape"
    if len(op.regions) != 1 or len(op.results) != len(op.operands) or op.successors:
        return f"{len(op.operands)} operands have one region and as many results, not {len(op.results)}"
    elements = tuple(element_type(v.type) for v in op.operands)
    block, wrong = _body(op.regions[0], terminator)
    if block is None:
        return wrong
    return (axis_of(op, len(first.shape))
            or passes("its region takes", _types(block.arguments), elements * 2)
            or passes("its region gives", _types(block.operations[-1].operands), elements))


def reduce(op: Operation) -> str:
    wrong = _combiner(op, "tt.reduce.return")
    if wrong:
        return wrong
    shape, axis = shape_of(op.operands[0].type), op.attributes["axis"]
    for value, result in zip(op.operands, op.results, strict=True):
        if shape_of(result.type) != (*shape[:axis], *shape[axis + 1:]) or \
                element_type(result.type) != element_type(value.type):
            return f"{value.type} along axis {axis} is not {result.type}"
    return ""


def scan(op: Operation) -> str:
    return (_combiner(op, "tt.scan.return")
            or passes("its results are", _types(op.results), _types(op.operands)))


def map_elementwise(op: Operation) -> str:
    """The region takes `pack` neighbours of each operand and gives as many of each result."""
    pack = op.attributes.get("pack")
    first = op.operands[0].type if op.operands else None
    if not isinstance(first, TensorType) or not op.results or len(op.regions) != 1:
        return "it has operands that are tensors, results and one region"
    if not whole(pack) or not 1 <= pack <= first.numel or pack & (pack - 1):
        return f"pack is {pack}, not a power of two up to {first.numel}"
    for value in (*op.operands, *op.results):
        if not _is_like(value.type, first):
            return f"{value.type} has not the shape of {first}"
    if not op.regions[0].blocks:
        return "its region has no block"
    taken = [element_type(v.type) for v in op.operands for _ in range(pack)]
    given = [element_type(v.type) for v in op.results for _ in range(pack)]
    return (passes("its region takes", _types(op.regions[0].blocks[0].arguments), taken)
            or _exits(op, "tt.map_elementwise.return", given))


# --- control flow -------------------------------------------------------------------------------------------


def scf_for(op: Operation) -> str:
    lower = op.operands[0].type
    if not isinstance(lower, (IntegerType, IndexType)) or lower == I1:
        return f"it counts in {lower}"
    if _types(op.operands[:3]) != (lower,) * 3:
        return f"its bounds and step are {_listed(_types(op.operands[:3]))}"
    if len(op.regions) != 1:
        return "it has one region"
    carried = _types(op.operands[3:])
    block, wrong = _body(op.regions[0], "scf.yield")
    if block is None:
        return wrong
    return (passes("its region takes", _types(block.arguments), (lower, *carried))
            or passes("its region yields", _types(block.operations[-1].operands), carried)
            or passes("its results are", _types(op.results), carried))


def scf_while(op: Operation) -> str:
    if len(op.regions) != 2:
        return "it has two regions"
    carried, results = _types(op.operands), _types(op.results)
    before, wrong = _body(op.regions[0], "scf.condition")
    if before is None:
        return wrong
    after, wrong = _body(op.regions[1], "scf.yield")
    if after is None:
        return wrong
    condition = before.operations[-1]
    return (passes("its first region takes", _types(before.arguments), carried)
            or passes("scf.condition asks for", _types(condition.operands[:1]), (I1,))
            or passes("scf.condition passes on", _types(condition.operands[1:]), results)
            or passes("its second region takes", _types(after.arguments), results)
            or passes("its second region yields", _types(after.operations[-1].operands), carried))


def scf_if(op: Operation) -> str:
    if op.operands[0].type != I1:
        return f"its condition is {op.operands[0].type}"
    if len(op.regions) != 2:
        return "it has two regions"
    results = _types(op.results)
    for region in op.regions:
        if region is op.regions[1] and not region.blocks and not results:
            continue
        block, wrong = _body(region, "scf.yield")
        if block is None:
            return wrong
        wrong = passes("a region of it yields", _types(block.operations[-1].operands), results)
        if wrong or block.arguments:
            return wrong or "its regions take nothing"
    return ""


def execute_region(op: Operation) -> str:
    if len(op.regions) != 1 or not op.regions[0].blocks or op.operands:
        return "it has one region and no operands"
    return _exits(op, "scf.yield", _types(op.results))


def _ends(op: Operation) -> bool:
    """Does it end a block?"""
    return "terminator" in OPERATIONS[op.name].traits


def branch(op: Operation) -> str:
    """Values for the arguments of each successor."""
    if op.results or op.regions:
        return "it has no results and no regions"
    groups: list[Sequence[Value]]
    if op.name == "cf.br":
        groups = [op.dest_operands]
    elif op.name == "cf.cond_br":
        if op.condition.type != I1:
            return f"its condition is {op.condition.type}"
        groups = [op.true_dest_operands, op.false_dest_operands]
    else:
        groups, rest = [op.default_operands], list(op.case_operands)
        counts, cases = op.attributes.get("case_operand_segments"), op.attributes.get("case_values")
        if not isinstance(counts, tuple) or not all(whole(n) and n >= 0 for n in counts) \
                or sum(counts) != len(rest) or not isinstance(cases, tuple) or len(cases) != len(counts):
            return "its cases and their values do not agree"
        for count in counts:
            groups.append(rest[:count])
            rest = rest[count:]
    if len(op.successors) != len(groups):
        return f"it has {len(groups)} successors, not {len(op.successors)}"
    for block, values in zip(op.successors, groups, strict=True):
        if op.parent is None or block.parent is not op.parent.parent:
            return f"{block.label} is no block of its region"
        if block is block.parent.blocks[0]:
            return "it jumps to the entry"
        wrong = passes(f"{block.label} is given", _types(values), _types(block.arguments))
        if wrong:
            return wrong
    return ""


# --- functions ----------------------------------------------------------------------------------------------


def function(op: Operation) -> str:
    """Blocks with terminators, arguments as the type says; inside a module."""
    type = op.attributes.get("function_type")
    if not isinstance(type, FunctionType) or not isinstance(op.attributes.get("sym_name"), str):
        return "a function has a name and a type"
    if op.parent_op is not None and op.parent_op.name != "builtin.module":
        return "a function stands in a module"
    if op.operands or op.results or op.successors or len(op.regions) > 1:
        return "a function has one region, no operands and no results"
    said = op.attributes.get("arg_attrs", ())
    if not isinstance(said, tuple) or (said and len(said) != len(type.inputs)):
        return "its arguments' attributes are not one dictionary for each"
    wrong = next((wrong for one in said if (wrong := _facts(one))), "")
    if wrong or not op.regions or not op.regions[0].blocks:
        return wrong
    for block in op.regions[0].blocks:
        if not block.operations or not _ends(block.operations[-1]):
            return "a block of it has no terminator"
    return passes("its entry takes", _types(op.regions[0].blocks[0].arguments), type.inputs)


def _facts(said: object) -> str:
    """What the front end knows of an argument: powers of two."""
    for name in ("tt.divisibility", "tt.contiguity", "tt.constancy"):
        value = said.get(name, 1) if isinstance(said, dict) else 0
        if not whole(value) or value < 1 or value & (value - 1) or value > 1 << 62:
            return f"{name} is {value}, not a power of two"
    return ""


def return_(op: Operation) -> str:
    around = op.parent_op
    if op.results or op.regions or op.successors:
        return "it has no results"
    type = around.attributes.get("function_type") if around is not None else None
    return passes("it returns", _types(op.operands), type.results) if isinstance(type, FunctionType) else ""


def call(op: Operation) -> str:
    """A function of the module, with its types."""
    if op.regions or op.successors:
        return "it has no regions and no successors"
    around: Operation | None = op
    while around is not None and around.name != "builtin.module":
        around = around.parent_op
    name, functions = op.attributes.get("callee"), around.regions[0].blocks[0].operations if around else ()
    for one in functions:
        if one.name == "tt.func" and one.attributes.get("sym_name") == name:
            type = one.attributes["function_type"]
            return (passes(f"@{name} is given", _types(op.operands), type.inputs)
                    or passes(f"@{name} gives", type.results, _types(op.results)))
    return f"there is no function @{name}"


def module(op: Operation) -> str:
    """Functions of different names; numbers of warps and lanes that are powers of two."""
    if op.parent is not None:
        return "a module stands in nothing else"
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1 or op.regions[0].blocks[0].arguments:
        return "a module has one region of one block"
    names = set()
    for one in op.regions[0].blocks[0].operations:
        if one.name != "tt.func":
            return f"{one.name} stands outside of functions"
        name = one.attributes.get("sym_name")
        if name in names:
            return f"two functions are called @{name}"
        names.add(name)
    for name, most in MOST.items():
        value = op.attributes.get(name, 1)
        if not whole(value) or not 1 <= value <= most or value & (value - 1):
            return f"{name} is {value}, not a power of two up to {most}"
    return ""


def anything(op: Operation) -> str:
    """Read for tools; no rule lowers it."""
    return ""


REGIONS: dict[str, Verifier] = {
    "tt.reduce": reduce, "tt.scan": scan, "tt.map_elementwise": map_elementwise,
    "scf.for": scf_for, "scf.while": scf_while, "scf.if": scf_if, "scf.execute_region": execute_region,
    "cf.br": branch, "cf.cond_br": branch, "cf.switch": branch,
    "tt.func": function, "tt.return": return_, "tt.call": call, "builtin.module": module,
    "ttg.mask": anything, "ttg.warp_specialize": anything, "ttg.warp_specialize.partitions": anything,
    "builtin.unrealized_conversion_cast": anything, "ub.poison": anything,
}
