"""bounds=view: accesses inside of an argument's memory, but outside of its own shape and strides: the padding
of rows, the elements beside a slice.

The distance from the argument's first element is taken apart by its strides, from the largest on. An index
that is not below the size of its dimension is outside. The launcher puts neighbouring dimensions together,
and leaves out views that cannot be taken apart so.
"""

from __future__ import annotations

from ...check_layout import VIEW_DIMENSIONS, view_word
from ...facts.foreign_pointers import foreign_pointers
from ...facts.pointers import is_pointer, pointer_roots
from ...ir.model import Operation, PointerType, bits_of, element_type, like
from ...ir.module import Module
from .bounds import ACCESSES
from .sites import I1, I64, Before, Sites


def check_view(module: Module, sites: Sites) -> None:
    """Watch every access of the module whose pointers come from one argument, in place."""
    roots, foreign = pointer_roots(module), foreign_pointers(module)
    entry = module.entry.regions[0].entry
    for op in list(module.walk()):
        if op.name in ACCESSES and op.ptr not in foreign:
            arguments = [i for i, value in enumerate(entry.arguments)
                         if roots.get(op.ptr, 0) >> i & 1 and is_pointer(value.type)]
            if len(arguments) == 1:
                _watch(op, arguments[0], sites)


def _watch(op: Operation, argument: int, sites: Sites) -> None:
    pointee = element_type(op.ptr.type)
    assert isinstance(pointee, PointerType)
    size = max(1, bits_of(pointee.pointee) // 8)
    make, word = Before(op), view_word(sites.arguments, argument)
    address = make.make("tt.ptr_to_int", [op.ptr], like(op.ptr.type, I64))
    wide = address.type
    rest = make.make("arith.subi", [address, make.spread(sites.word(op, word), wide)], wide)
    outside = make.compare("slt", rest, make.number(0, wide))
    for dimension in range(VIEW_DIMENSIONS):
        stride, extent = (make.spread(sites.word(op, word + 1 + 2 * dimension + k), wide) for k in range(2))
        index = make.make("arith.divsi", [rest, stride], wide)
        outside = make.either(outside, make.compare("sge", index, extent))
        rest = make.make("arith.subi", [rest, make.make("arith.muli", [index, stride], wide)], wide)
    begin = make.spread(sites.word(op, 2 * argument), wide)
    last = make.make("arith.subi", [sites.word(op, 2 * argument + 1), make.number(size, I64)], I64)
    there = make.both(make.compare("sge", address, begin),
                      make.compare("sle", address, make.spread(last, wide)))
    mask = op.mask if "mask" in op.operand_names() else None
    number = sites.add(op, "view", ACCESSES[op.name], bytes=size, arguments=(argument,))
    bad = make.both(mask, make.both(there, outside))
    make.make("ts.report", [make.number(0, I1), bad, address], None, word=number)
