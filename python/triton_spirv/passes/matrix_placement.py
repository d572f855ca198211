"""Which products go to the matrix unit, and the layouts that follow from it: a pass over TTGIR.

The stock passes give a product a blocked layout. This pass gives the products that the target's matrix unit
takes its own layouts (matrix_layout.py), and spreads the layout of a result over what is computed from it:
element by element, along rows (slices of it), and around loops, so that accumulators stay where they are
made. Operands lose their `ttg.convert_layout`; loads that only feed products are made in the product's
layout.

Values change type in place. Where they cross the edge of a loop or a branch, a conversion stands before it
(conversions.py). Elsewhere rules ask every operand for the layout that they need, so that registers are
exchanged where the new layouts meet the old ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.model import Encoding, Operation, TensorType, Value, bits_of, shape_of
from ..ir.module import Module
from ..layout import log2
from ..matrices.layout import FORMS, Tiling, is_matrix, transposed
from ..target import Matrix, Target
from ..traversal import Asking, question, some
from .carried_pointers import carry_pointer
from .conversions import CONVERSION, convert_at_edges
from .copies import copied

#: operation -> the encoding of its operand, of that of its result
BEHIND: dict[str, Callable[[Encoding], Encoding]] = {CONVERSION: lambda same: same, "tt.trans": transposed}


def place_products(module: Module, target: Target, warps: int) -> None:
    """Give every product that the target's unit takes its layouts, in place."""
    if target.matrix is None or target.sub_group_size != target.matrix.columns:
        return
    products = [op for op in module.walk() if op.name == "tt.dot" and form_of(op, target.matrix)]
    placed: dict[Value, Encoding] = {}
    for op in products:
        tiling = tiling_of(op, target.matrix, warps)
        op.set_attribute("ts.left", tiling.left())
        op.set_attribute("ts.right", tiling.right())
        assign(op.result, tiling.result(), placed)
    for value, encoding in list(placed.items()):
        spread(value, encoding, placed)
    for value, encoding in list(placed.items()):
        _load_along(value, encoding)
    for op in products:
        for index, side in enumerate(("ts.left", "ts.right")):
            _load_apart(op, index)
            _take_operand(op, index, op.attributes[side])
        if not target.block_2d:
            _let_wait(op)
    for op in list(module.walk()) if target.block_2d else ():
        if op.has("loads") and "ts.natural" in op.attributes:
            carry_pointer(op)
    convert_at_edges(module)


def is_placed_product(op: Operation) -> bool:
    """Has it been given to the matrix unit?"""
    return "ts.left" in op.attributes


def form_of(op: Operation, unit: Matrix) -> str | None:
    """The form in which the unit takes the operands of a product; None where it does not."""
    a, b, result = op.a.type, op.b.type, op.result.type
    assert isinstance(a, TensorType) and isinstance(b, TensorType) and isinstance(result, TensorType)
    form, sums = FORMS.get(str(a.element), ("", ""))
    if form not in unit.operands or str(result.element) != sums or a.element != b.element:
        return None
    if form == "tf32" and "tf32" not in str(op.attributes.get("inputPrecision", "")):
        return None
    if len(result.shape) != 2 or result.encoding is None:
        return None
    (m, n), k = result.shape, a.shape[1]
    fits = m >= unit.rows and n >= unit.columns and k >= unit.depth(bits_of(a.element))
    return form if fits else None


def tiling_of(op: Operation, unit: Matrix, warps: int) -> Tiling:
    """The shares of the warps: the least to load for each of them; whole rows where rows are reduced or a
    product is an operand of another.
    """
    (m, n), k = shape_of(op.result.type), shape_of(op.a.type)[1]
    choices = []
    for bit in range(log2(warps) + 1):
        down, right = min(1 << bit, m // unit.rows), min(warps >> bit, n // unit.columns)
        choices.append((m // down + n // right, down, right))
    _, down, right = min(choices)
    if is_chained(op):
        down = min(warps, m // unit.rows)
        right = min(warps // down, n // unit.columns)  # rather than compute the same twice
    return Tiling(unit, bits_of(op.a.type.element), m, n, k, warps, down, right)


def is_chained(op: Operation) -> bool:
    """Is the result computed with along rows, or the left operand of another product as it stands, or that of
    a chained one? Whatever is transposed, or a right operand, is exchanged between the warps anyway.
    """
    return _reaches(op.result) or _comes_from_product(op.operands[0])


@question
def _reaches(value: Value) -> Asking[bool]:
    """A sum or the like along rows, or the left operand of a product."""
    for user, index in value.uses:
        if user.has("reduces") or (user.name == "tt.dot" and index == 0):
            return True
        if (user.has("converts") or is_elementwise(user)) and (yield from some(user.results)):
            return True
    return False


@question
def _comes_from_product(value: Value) -> Asking[bool]:
    op = value.defining_op
    if op is None:
        return False
    if op.name == "tt.dot":
        return True
    follows = op.has("converts") or is_elementwise(op)
    return follows and (yield from some(x for x in op.operands if isinstance(x.type, TensorType)))


def is_elementwise(op: Operation) -> bool:
    """Does each element of the results depend on the same element of the operands only?"""
    return op.has("elementwise")


# --- from results on ----------------------------------------------------------------------------------------


def retype(value: Value, encoding: Encoding) -> None:
    """Give a tensor another encoding."""
    assert isinstance(value.type, TensorType)
    value.retype(TensorType(value.type.shape, value.type.element, encoding))


def assign(value: Value, encoding: Any, placed: dict[Value, Encoding]) -> bool:
    """Give a value its layout, unless it has one of this pass already; is it new?"""
    if value in placed or not isinstance(value.type, TensorType) or value.type.encoding is None:
        return False
    retype(value, encoding)
    placed[value] = encoding
    return True


def spread(value: Value, encoding: Encoding, placed: dict[Value, Encoding]) -> None:
    """Give what is computed from a product's result the layout that follows from the result's; not what a
    row's number is repeated to in a matrix of another shape, whose own product has more to say.
    """
    shape = shape_of(value.type)
    waiting = [(value, encoding)]
    while waiting:
        value, encoding = waiting.pop()
        for user, index in list(value.uses):
            for result, following in _following(user, index, encoding):
                if user.has("repeats") and shape_of(result.type) != shape:
                    continue
                if assign(result, following, placed):
                    waiting.append((result, following))


def _following(user: Operation, index: int, encoding: Encoding) -> list[tuple[Value, Any]]:
    """The results (and arguments of a loop) that a use reaches, with their layouts."""
    if user.has("converts") or is_elementwise(user) or user.has("repeats"):
        return [(result, encoding) for result in user.results]
    if user.name == "scf.yield" and user.parent_op is not None:
        loop = user.parent_op
        if loop.has("counts"):
            argument = loop.regions[0].entry.arguments[1 + index]
            return [(loop.results[index], encoding), (argument, encoding)]
        return [(loop.results[index], encoding)] if loop.name == "scf.if" else []
    if user.has("reduces"):
        sliced = Encoding("ttg", "slice", (("dim", user.attributes["axis"]), ("parent", encoding)))
        return [(result, sliced) for result in user.results]
    if user.name == "tt.expand_dims" and encoding.name == "slice" and \
            encoding["dim"] == user.attributes["axis"]:
        return [(user.result, encoding["parent"])]
    return []


def _load_along(value: Value, encoding: Encoding) -> None:
    """Let what is loaded for each row or column before a loop, and meets a placed value in it, be loaded
    where it is needed, instead of exchanged between the warps in each iteration.
    """
    op = value.defining_op
    if op is None or not is_elementwise(op) or not is_matrix(encoding):
        return
    for operand in op.operands:
        chain: list[tuple[Value, Encoding]] = []
        asked = encoding
        while operand.defining_op is not None and len(operand.uses) == 1 and not _is_placed(operand):
            maker = operand.defining_op
            chain.append((operand, asked))
            if maker.has("loads"):
                along = len(shape_of(operand.type)) == 1 and not maker.attributes.get("isVolatile")
                for made, wanted in chain if along and maker.parent is not op.parent else ():
                    retype(made, wanted)
                break
            if maker.name == "tt.expand_dims":
                asked = Encoding("ttg", "slice", (("dim", maker.attributes["axis"]), ("parent", asked)))
            elif not maker.has("keeps_dims"):
                break
            operand = maker.operands[0]


# --- from operands back -------------------------------------------------------------------------------------


def _load_apart(op: Operation, index: int) -> None:
    """Give a product a load of its own where others read the same one: a block that comes a second time costs
    less than an exchange between all lanes.
    """
    chain: list[Operation] = []
    maker = op.operands[index].defining_op
    while maker is not None and maker.name in BEHIND:
        chain.append(maker)
        maker = maker.operands[0].defining_op
    if maker is None or not maker.has("loads") or maker.attributes.get("isVolatile"):
        return
    chain.append(maker)
    if all(len(made.result.uses) == 1 for made in chain):
        return
    value: Value | None = None
    for made in reversed(chain):
        value = _copied(made, value)
    assert value is not None
    replace_operand(op, index, value)


def _copied(op: Operation, operand: Value | None) -> Value:
    """The result of a copy that stands behind the operation; its only operand, where that is another one."""
    copy = copied(op, op.operands if operand is None else [operand])
    assert op.parent is not None
    op.parent.insert_behind(op, copy)
    return copy.result


def _take_operand(op: Operation, index: int, encoding: Encoding) -> None:
    """Let a product read its operand where it comes from, and a load that only it reads be made in its
    layout.
    """
    value = op.operands[index]
    while value.defining_op is not None and value.defining_op.has("converts"):
        value = value.defining_op.src
    replace_operand(op, index, value)
    chain: list[tuple[Value, Encoding]] = []
    while value.defining_op is not None and len(value.uses) == 1 and not _is_placed(value):
        maker = value.defining_op
        chain.append((value, encoding))
        if maker.has("loads"):
            for made, _ in chain:
                _sink(made.defining_op, made.uses[0][0])
            maker.set_attribute("ts.natural", value.type.encoding)  # type: ignore[attr-defined]
            for made, asked in chain:
                retype(made, asked)
            return
        tensors = [x for x in maker.operands if isinstance(x.type, TensorType)]
        if len(tensors) != 1 or not (is_elementwise(maker) or maker.name in BEHIND):
            return
        value, encoding = tensors[0], BEHIND.get(maker.name, lambda same: same)(encoding)


def _let_wait(op: Operation) -> None:
    """Mark the loads that stand right before a product, which alone reads them: it makes them itself. Those
    that stand before its loop rest in shared memory.
    """
    for operand in op.operands[:2]:
        chain: list[Operation] = []
        maker = operand.defining_op
        while maker is not None and maker.has("transposes") and len(maker.result.uses) == 1:
            chain.append(maker)
            maker = maker.operands[0].defining_op
        if maker is None or op.parent is None or len(chain) > 1 or "ts.natural" not in maker.attributes:
            continue
        if maker.parent is not op.parent:
            for made in (*chain, maker):
                made.set_attribute("ts.resident", True)
            continue
        first, last = (op.parent.operations.index(x) for x in (maker, op))
        between = op.parent.operations[first + 1:last]
        if all(x.has("loads") or x.has("view") for x in between):
            for made in (*chain, maker):
                made.set_attribute("ts.waits", True)


def _sink(load: Operation | None, user: Operation) -> None:
    """Move a load, or what is computed from one, down to its only user, so that registers hold it for no
    longer than needed, unless something between them may write to memory.
    """
    block = None if load is None else load.parent
    if load is None or block is None or user.parent is not block:
        return
    first, last = block.operations.index(load), block.operations.index(user)
    between = block.operations[first + 1:last]
    if not load.attributes.get("isVolatile") and all(_is_pure(op) for op in between):
        load.move_before(user)


def _is_pure(op: Operation) -> bool:
    """Does the operation compute results only, or load?"""
    return op.is_pure or (op.has("reads") and not op.has("atomic"))


def _is_placed(value: Value) -> bool:
    encoding = value.type.encoding if isinstance(value.type, TensorType) else None
    while isinstance(encoding, Encoding) and encoding.name == "slice":
        encoding = encoding["parent"]
    return is_matrix(encoding)


def replace_operand(op: Operation, index: int, value: Value) -> None:
    """Let an operation read another value; conversions that nothing reads any more go."""
    old = op.operands[index]
    if old is value:
        return
    op.set_operand(index, value)
    while not old.uses and old.defining_op is not None and old.defining_op.has("converts"):
        unused = old.defining_op
        old = unused.operands[0]
        unused.erase()
