"""bounds: no access to global memory beyond what its pointer's argument has.

    p = ptr_to_int(ptr)                        out  = p < begin | p > end - bytes
    x = load ptr, mask           becomes       in   = ts.inside ptr, begin, end - bytes
                                               ts.report in, mask & out, p
                                               x = load ptr, mask & (in | ~out)

`ts.inside` compares the extremes of pointers that are affine: then `in` proves the mask, and the kernel runs
as it does unchecked. An access beyond the end is left out: a load gives `other`.
"""

from __future__ import annotations

from ...check_layout import NEVER_WRITTEN, named_word
from ...facts.foreign_pointers import foreign_pointers
from ...facts.pointers import is_pointer, pointer_roots
from ...ir.model import Operation, PointerType, Value, bits_of, element_type, like
from ...ir.module import Module
from .sites import I1, I64, Before, Sites

#: what is watched: operation -> its name for users
ACCESSES = {"tt.load": "load", "tt.store": "store", "tt.atomic_rmw": "atomic", "tt.atomic_cas": "atomic",
            "tt.atomic_load": "atomic load", "tt.atomic_store": "atomic store",
            "tt.atomic_poll": "atomic poll"}


def check_bounds(module: Module, sites: Sites) -> None:
    """Watch every access of the module, in place."""
    roots, foreign = pointer_roots(module), foreign_pointers(module)
    for op in list(module.walk()):
        if op.name in ACCESSES:
            _watch(op, roots.get(op.ptr, 0), op.ptr in foreign, sites)


def _watch(op: Operation, roots: int, foreign: bool, sites: Sites) -> None:
    pointee = element_type(op.ptr.type)
    assert isinstance(pointee, PointerType)
    size = max(1, bits_of(pointee.pointee) // 8)
    arguments = tuple(i for i in range(sites.arguments)
                      if roots >> i & 1 and is_pointer(_argument(sites, i).type))
    if not arguments:
        return  # made of numbers alone: there is nothing to compare with
    number = sites.add(op, "bounds", ACCESSES[op.name], bytes=size, arguments=arguments, elsewhere=foreign)
    make = Before(op)
    address = make.make("tt.ptr_to_int", [op.ptr], like(op.ptr.type, I64))
    outside = inside = None
    for argument in arguments:
        begin, end = sites.word(op, 2 * argument), sites.word(op, 2 * argument + 1)
        last = make.make("arith.subi", [end, make.number(size, I64)], I64)
        beyond = make.either(make.compare("slt", address, make.spread(begin, address.type)),
                             make.compare("sgt", address, make.spread(last, address.type)))
        outside = make.both(outside, beyond)
        inside = make.either(inside, make.make("ts.inside", [op.ptr, begin, last], I1))
    assert outside is not None and inside is not None
    mask = op.mask if "mask" in op.operand_names() else None
    named = {"elsewhere": size, "named": named_word(sites.arguments)} if foreign else {}
    make.make("ts.report", [inside, make.both(mask, outside), address], None, word=number, **named)
    allowed = make.either(make.spread(inside, outside.type), make.negated(outside))
    if foreign:
        return  # memory that no argument has may be another array's: the launcher asks whose
    if "mask" in op.operand_names():
        _replace(op, mask=make.both(mask, allowed))
        return
    spare = sites.word(op, sites.spare)
    if op.has("waits"):  # what nobody writes is 0: such an element does not wait
        spare = make.make("arith.addi", [spare, make.number(NEVER_WRITTEN, I64)], I64)
        expected, zero = op.expected, make.number(0, op.expected.type)
        op.set_operand(1, make.make("arith.select", [allowed, expected, zero], expected.type))
    chosen = make.make("arith.select", [allowed, address, make.spread(spare, address.type)], address.type)
    op.set_operand(0, make.make("tt.int_to_ptr", [chosen], op.ptr.type))


def _argument(sites: Sites, index: int) -> Value:
    return sites.module.entry.regions[0].entry.arguments[index]


def _replace(op: Operation, **changed: Value) -> None:
    """The same operation of some other operands, in its place."""
    operands, segments = [], []
    for value in {**op.named_operands(), **changed}.values():
        operands += [] if value is None else [value]
        segments.append(0 if value is None else 1)
    new = Operation(op.name, operands, dict(op.attributes), [x.type for x in op.results],
                    [x.name for x in op.results], op.location, tuple(segments))
    assert op.parent is not None
    op.parent.insert_before(op, new)
    for before, after in zip(op.results, new.results, strict=True):
        before.replace_by(after)
    op.erase()
