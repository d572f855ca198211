"""How far a kernel may reach through each of its pointer arguments, as formulas of what a launch is given.

    offsets = pid * BLOCK + tl.arange(0, BLOCK)          program * 128 + [0, 127]
    tl.load(x + offsets, mask=offsets < n)               the same, below n

Formulas are a list of nodes, each a name and what it is made of: numbers, or places of nodes before it
(`runtime/reach.py` computes with them, in intervals of integers). A number stands for the interval of all its
values: over the elements of a tensor, the programs, the rounds of loops. Where a mask compares a value,
elements that it lets through obey that: the value is the same one where the way from the access to it goes
through the same views. Whatever has no formula is unknown, and so is the reach of pointers made of it.
"""

from __future__ import annotations

from typing import Any

from ..ir.dialects import OPERATIONS, with_trait
from ..ir.model import (
    Block,
    DenseAttr,
    IntegerType,
    Operation,
    PointerType,
    TensorType,
    Type,
    Value,
    bits_of,
    element_type,
)
from ..ir.module import Module
from .bounds import conjunction
from .motion import added_each_round
from .pointers import is_pointer, pointer_flow, pointer_roots

Node = list[Any]
#: by parameter the (place of a node, bytes of an element) of each access; None: unknown
Accesses = list[list[tuple[int, int]] | None]
#: the views between an access and a value; None: it is a scalar
Path = tuple[Any, ...] | None
#: (value, path) -> what elements of it obey: "below" or "above" a node, by at least so much
Limits = dict[tuple[Value, Path], list[tuple[str, int, int]]]

#: Formulas of more nodes are not worth their time.
MOST_NODES = 400

ARITHMETIC = {"arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.divsi": "div",
              "arith.divui": "udiv", "arith.remsi": "rem", "arith.remui": "urem", "arith.minsi": "min",
              "arith.maxsi": "max", "arith.shli": "shl", "arith.andi": "and"}
#: comparisons: what they say of the left operand, by how much it differs at least, and of the right one
COMPARED = {"slt": ("below", "above", 1), "sle": ("below", "above", 0),
            "sgt": ("above", "below", 1), "sge": ("above", "below", 0)}
PROGRAMS = {"tt.get_program_id": "program_id", "tt.get_num_programs": "num_programs"}


def reach(module: Module) -> tuple[list[Node], Accesses]:
    """The nodes, and by parameter of the kernel which of them say how far it reaches, in elements."""
    kernel = module.entry
    arguments = kernel.regions[0].entry.arguments
    found: Accesses = [[] if is_pointer(argument.type) else None for argument in arguments]
    if len(module.functions) > 1:
        return [], [None for _ in arguments]
    formulas, roots, known_pointers = _Formulas(kernel), pointer_roots(module), pointer_flow(module).values

    def unknown(value: Value) -> None:
        for index in range(len(arguments)):
            if roots.get(value, -1) >> index & 1:
                found[index] = None

    # what follows from the pointers of these stands elsewhere
    hands_on = with_trait("view") | with_trait("carries") | with_trait("terminator")
    for op in module.walk():
        if op.name in hands_on or op.has("offsets") or known_pointers.isdisjoint(op.operands):
            continue
        pointers = [operand for operand in op.operands if operand in known_pointers]
        is_known = _is_access(op) and len(formulas.nodes) <= MOST_NODES
        place = formulas.of_access(op) if is_known else None
        if place is None or len(pointers) > 1 or len(formulas.nodes) > MOST_NODES:
            for pointer in pointers:
                unknown(pointer)
            continue
        index, node = place
        known = found[index]
        if known is not None:
            known.append((node, _bytes(op.ptr.type)))
    return formulas.nodes, [None if rows is None else sorted(set(rows)) for rows in found]


def _is_access(op: Operation) -> bool:
    return op.has("accesses") and "ptr" in OPERATIONS[op.name].positions


def _bytes(type: Type) -> int:
    pointer = type.element if isinstance(type, TensorType) else type
    assert isinstance(pointer, PointerType)
    return max(1, bits_of(pointer.pointee) // 8)


class _Formulas:
    def __init__(self, kernel: Operation) -> None:
        self.entry = kernel.regions[0].entry
        self.nodes: list[Node] = []
        self._places: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[Value, Path], int | None] = {}
        self._unlimited = self._known  # what is known of numbers, and of pointers, where no mask limits them
        self._pointers: dict[tuple[Value, Path], tuple[int, int] | None] = {}
        self._limits: Limits = {}
        self._masks: dict[Value, Limits] = {}  # what each mask of an access says
        self._open: set[tuple[Operation, int]] = set()  # values of loops whose steps are being looked at

    def node(self, *parts: str | int | None) -> int:
        """The place of a node, one for the same parts."""
        if parts not in self._places:
            self._places[parts] = len(self.nodes)
            self.nodes.append(list(parts))
        return self._places[parts]

    def of_access(self, op: Operation) -> tuple[int, int] | None:
        """The parameter, and the elements from it on."""
        self._limits, self._known = {}, self._unlimited
        path: Path = () if isinstance(op.ptr.type, TensorType) else None
        mask = op.mask if "mask" in OPERATIONS[op.name].positions else None
        if mask is not None:
            if mask not in self._masks:
                self._masks[mask] = self._limited(mask, path)
            self._limits = self._masks[mask]
            self._known = {} if self._limits else self._unlimited
        return self.pointer(op.ptr, path)

    # --- masks ------------------------------------------------------------------------------------------

    def _limited(self, mask: Value, path: Path) -> Limits:
        limits: Limits = {}
        for part in conjunction(mask):
            said, where = COMPARED.get(part.predicate), path
            if said is None:
                continue
            for view in part.views:
                where = _below(view, where)
            left, right = part.operands
            for side, other, way in ((left, right, said[0]), (right, left, said[1])):
                bound = self.number(other, where)
                if bound is not None:
                    limits.setdefault((side, where), []).append((way, bound, said[2]))
        return limits

    # --- numbers ----------------------------------------------------------------------------------------

    def number(self, value: Value, path: Path) -> int | None:
        """The node of all values of an integer, or of a tensor of them."""
        key = value, path if isinstance(value.type, TensorType) else None
        if key not in self._known:
            self._known[key] = None  # what depends on itself is unknown
            made = self._number(*key)
            for way, bound, least in self._limits.get(key, ()) if made is not None else ():
                made = self.node(way, made, bound, least)
            self._known[key] = made
        return self._known[key]

    def _number(self, value: Value, path: Path) -> int | None:
        type = element_type(value.type)
        op = value.defining_op
        if not isinstance(type, IntegerType) and str(type) != "index":
            return None
        if op is None:
            return self._argument(value, path)
        if op.name in ARITHMETIC:
            operands = [self.number(operand, path) for operand in op.operands]
            bits = type.width if isinstance(type, IntegerType) else 64
            return None if None in operands else self.node(ARITHMETIC[op.name], *operands, bits)
        if op.has("constant"):
            number = op.attributes["value"]
            whole = number.values if isinstance(number, DenseAttr) else number
            values = [int(each) for each in (whole if isinstance(whole, (list, tuple)) else [whole])]
            return self.node("values", min(values), max(values))
        if op.has("enumerates"):
            return self.node("values", op.attributes["start"], op.attributes["end"] - 1)
        if op.name in PROGRAMS:
            return self.node(PROGRAMS[op.name], "xyz".index(str(op.attributes["axis"])))
        if (op.has("widens") or op.has("resizes")) and op.name != "arith.index_castui":
            return self._resized(op, type, path)
        if op.has("counts"):
            return self._carried(op, value.index or 0, True, path, self.number)
        seen = _view(op, path)
        return None if seen is None else self.number(*seen)

    def _resized(self, op: Operation, type: Type, path: Path) -> int | None:
        source = self.number(op.operands[0], path)
        if source is None or (op.has("widens") and str(element_type(op.operands[0].type)) == "i1"):
            return None
        bits = type.width if isinstance(type, IntegerType) else 64
        return self.node("natural" if op.has("zero_extends") else "fits", source, bits)

    def _argument(self, value: Value, path: Path) -> int | None:
        block = value.owner
        assert isinstance(block, Block)
        if block is self.entry:
            return self.node("argument", value.index)
        loop = block.parent.parent if block.parent is not None else None
        if loop is None or not loop.has("counts"):
            return None
        if value.index == 0:
            lower, upper = (self.number(each, None) for each in loop.operands[:2])
            return None if lower is None or upper is None else self.node("turn", lower, upper)
        return self._carried(loop, value.index - 1, False, path, self.number)

    def _carried(self, loop: Operation, index: int, behind: bool, path: Path, first: Any) -> Any:
        """A value that a loop adds to in each round: in its rounds, or behind it. first: `number` or
        `pointer`."""
        if (loop, index) in self._open:
            return None  # what is added depends on the sum
        steps = added_each_round(loop, index, uniform=False)
        if steps is None:
            return None
        limits, self._limits = self._limits, {}  # the mask is of this round, what was added of earlier ones
        known, self._known = self._known, {}
        self._open.add((loop, index))
        added = [self.number(step, path) for step in steps[::-1]]
        self._open.remove((loop, index))
        self._limits, self._known = limits, known
        start, bounds = first(loop.init[index], path), [self.number(each, None) for each in loop.operands[:3]]
        if start is None or None in added or None in bounds:
            return None
        is_pointer, type = isinstance(start, tuple), element_type(loop.init[index].type)
        offset = start[1] if is_pointer else start
        bits = type.width if isinstance(type, IntegerType) else 64
        rounds = self.node("rounds", *bounds, int(not behind))
        for step in added:
            offset = self.node("add", offset, self.node("mul", rounds, step, 64), bits)
        return (start[0], offset) if is_pointer else offset

    # --- pointers ---------------------------------------------------------------------------------------

    def pointer(self, value: Value, path: Path) -> tuple[int, int] | None:
        """The parameter that a pointer comes from, and the elements from it on; None: not known, or of more
        than one."""
        key = value, path if isinstance(value.type, TensorType) else None
        if self._limits or self._open:
            return self._pointer(*key)
        if key not in self._pointers:
            self._pointers[key] = self._pointer(*key)
        return self._pointers[key]

    def _pointer(self, value: Value, path: Path) -> tuple[int, int] | None:
        op = value.defining_op
        if op is None:
            block = value.owner
            assert isinstance(block, Block)
            if block is self.entry:
                return value.index or 0, self.node("values", 0, 0)
            loop = block.parent.parent if block.parent is not None else None
            if loop is None or not loop.has("counts") or not value.index:
                return None
            return self._carried(loop, value.index - 1, False, path, self.pointer)
        if op.has("offsets"):
            before, offset = self.pointer(op.operands[0], path), self.number(op.operands[1], path)
            if before is None or offset is None:
                return None
            return before[0], self.node("add", before[1], offset, 64)
        if op.has("counts"):
            return self._carried(op, value.index or 0, True, path, self.pointer)
        seen = _view(op, path)
        return None if seen is None else self.pointer(*seen)


def _view(op: Operation, path: Path) -> tuple[Value, Path] | None:
    """What the elements of a view are elements of, and by which views; None for what is no view."""
    return (op.operands[0], _below(op, path)) if op.has("view") else None


def _below(view: Operation, path: Path) -> Path:
    """By which views the elements of its operand are seen."""
    if view.has("splats"):
        return None
    if view.has("keeps_dims"):
        return path
    how = view.attributes.get("axis", view.attributes.get("order", id(view)))  # a reshape may reorder
    return (*(path or ()), (view.name, str(how)))
