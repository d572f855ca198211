"""The pointers of one access to global memory, and the instructions that move its elements as was decided
(transfers.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce

from ...ir.model import Operation, Type
from ...layout import Layout
from ...spirv.builder import I64
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Vector
from ..context import Context
from ..plan.accesses import Vectors
from ..values import fragment as fragments
from ..values.tensor import Affine, Fragment, Pointers, Tensor, Uniform
from ..values.types import storage_bytes, storage_type
from .pointer_motion import rounds_of
from .strided import Picked
from .transfers import by_firsts, starts

STREAMED_VECTOR = 32  # bytes of the smallest vector worth streaming


def addresses(ctx: Context, pointers: Pointers, layout: Layout) -> Fragment:
    """64-bit addresses of a tensor of pointers."""
    b = ctx.b
    size = ctx.env.pointee_bytes(pointers.base)
    base = b.splat(ctx.env.address(pointers.base), layout.width)
    offsets = element_offsets(ctx, pointers, layout)
    return Fragment(layout, pointers.element, tuple(
        base if o is None else b.iadd(base, b.imul(b.splat(o, layout.width), size)) for o in offsets))


def element_offsets(ctx: Context, pointers: Pointers, layout: Layout) -> list[Register | None]:
    """Per register the offsets from the base, in elements (i64); None for zero."""
    b = ctx.b
    parts = [
        ctx.evaluation.fragment(part, layout).registers
        for part in (pointers.affine, *pointers.terms)
        if part is not None
    ]
    if not parts:
        return [None] * layout.registers
    offsets: list[Register | None] = []
    for column in zip(*parts, strict=True):
        total = b.resize(column[0], 64)
        for other in column[1:]:
            total = b.iadd(total, b.resize(other, 64))
        offsets.append(total)
    return offsets


class AccessPointers:
    """The pointers of one tensor access, ready to be loaded from or stored to, register by register."""

    def __init__(self, ctx: Context, ptr: Tensor, vectors: Vectors, pointee: Type) -> None:
        layout = vectors.layout
        self.ctx, self.vectors, self.layout = ctx, vectors, layout
        self.run, self.alignment = vectors.run, vectors.alignment
        self.pointee = storage_type(pointee)
        self.size = storage_bytes(pointee)
        self.base: Register | None = None
        self.firsts: list[Register] | None = None
        self.steps: list[int | None] = []  # elements from register 0 to each register, where they are known
        if isinstance(ptr, Uniform):
            ptr = Pointers(ptr.shape, ptr.element, ptr.scalar)
        if isinstance(ptr, Pointers) and by_firsts(ptr, layout, self.run):
            self.base, self.firsts = ptr.base, self._firsts(ptr)
            return
        asked = starts(layout, self.run)
        self.apart = layout.width // asked.width  # components from one that has an offset to the next
        ctx.masks.hold_for_fewer(layout, asked)
        if isinstance(ptr, Pointers):
            self.base, self.offsets = ptr.base, element_offsets(ctx, ptr, asked)
        else:
            self.offsets = list(ctx.evaluation.fragment(ptr, asked).registers)

    def _offset(self, register: int, component: int) -> Register | None:
        """Of the first component of a run, from the base; None for zero."""
        offset = self.offsets[register]
        return None if offset is None else self.ctx.b.extract(offset, component // self.apart)

    def _firsts(self, pointers: Pointers) -> list[Register]:
        """The offset of component 0 of each register."""
        b, count = self.ctx.b, self.layout.registers
        firsts = (
            [b.constant(I64, 0)] * count if pointers.affine is None else self._affine_firsts(pointers.affine)
        )
        heads = replace(self.layout, component=())
        for term in pointers.terms:
            self.steps = [None] * count
            added = self.ctx.evaluation.fragment(term, heads).registers
            firsts = [b.iadd(x, b.resize(y, 64)) for x, y in zip(firsts, added, strict=True)]
        return firsts

    def _affine_firsts(self, affine: Affine) -> list[Register]:
        """The same for an affine offset: one scalar, plus what the register adds."""
        ctx, b = self.ctx, self.ctx.b
        origin = ctx.indices.affine_scalar(affine, self.layout)
        firsts = []
        for index in self.layout.register_indices:
            moved = origin
            step: int | None = 0
            if index & self.layout.moving:
                firsts.append(ctx.indices.affine_scalar(affine, self.layout, index))
                self.steps.append(None)
                continue
            for stride, i in zip(affine.strides, self.layout.unravel(index), strict=True):
                if i and not (isinstance(stride, int) and stride == 0):
                    factor = stride if isinstance(stride, Register) else b.constant(I64, stride)
                    moved = b.iadd(moved, b.imul(factor, i))
                    step = step + stride * i if isinstance(stride, int) and step is not None else None
            firsts.append(moved)
            self.steps.append(step)
        return firsts

    def spared(self, masks: Sequence[Register], place: Register | None = None) -> AccessPointers:
        """The same, but a register of which nothing is accessed lies at `place`, an offset, or where the
        first one does. What lies behind a matrix may be on no page, and a processor takes some 60 ns to find
        out that nothing is wanted there."""
        if self.firsts is None or not self.ctx.target.masked_access:
            return self
        b, made = self.ctx.b, copy(self)
        instead = place or self.firsts[0]
        made.firsts = [first if first is instead else b.select(b.any(mask), first, instead)
                       for mask, first in zip(masks, self.firsts, strict=True)]
        return made

    def pointer(self, register: int, component: int = 0) -> Register:
        """The address of one component."""
        ctx, b = self.ctx, self.ctx.b
        if self.firsts is not None:
            first = ctx.env.offset(self.base, self.firsts[register])  # type: ignore[arg-type]
            return first if component == 0 else ctx.env.offset(first, b.constant(I64, component))
        offset = self._offset(register, component)
        if self.base is None:
            assert offset is not None
            return ctx.env.pointer(offset, self.pointee)
        return self.base if offset is None else ctx.env.offset(self.base, offset)

    def load(self, register: int, mask: Register | None, other: Register | None, volatile: bool) -> Register:
        if mask is None and not volatile and (test := self._in_one_piece(register)) is not None:
            return self._load_piece(register, test)
        return self._load(register, mask, other, volatile)

    def _in_one_piece(self, register: int) -> Register | None:
        """A scalar Bool: is the register what its pieces are? None where there are none."""
        if not self.vectors.pieces or self.base is None or self.firsts is not None:
            return None
        b, offsets = self.ctx.b, self.offsets[register]
        if offsets is None:
            return None
        moved = b.isub(offsets, b.splat(b.extract(offsets, 0), self.layout.width))
        steps = tuple(range(self.layout.width)) if self.vectors.pieces == "neighbours" else 0
        return b.all(b.compare("OpIEqual", moved, b.constant(moved.type, steps)))

    def _load_piece(self, register: int, test: Register) -> Register:
        env, width, branch = self.ctx.env, self.layout.width, IfElse(self.ctx.b.module, test)
        with branch.then():
            if self.vectors.pieces == "one":
                branch.yield_([self.ctx.b.splat(env.load(self.pointer(register), 1, False), width)])
            else:
                branch.yield_([env.load(self.pointer(register), width, False, self.size)])
        with branch.otherwise():
            branch.yield_([self._load(register, None, None, False)])
        return branch.results[0]

    def _load(self, register: int, mask: Register | None, other: Register | None,
              volatile: bool) -> Register:
        env, width, run = self.ctx.env, self.layout.width, self.run
        b = self.ctx.b
        if run == 1 and width > 1:
            if self.base is not None and self.offsets[register] is None and mask is None:
                return b.splat(env.load(self.base, 1, volatile), width)
            if self.vectors.stride:
                return self._load_strided(register, mask, other)
            pointers = [self.pointer(register, c) for c in range(width)]
            return env.gather(pointers, mask, other)
        parts = []
        for c in range(0, width, run):
            if mask is None:
                parts.append(env.load(self.pointer(register, c), run, volatile, self.alignment))
                continue
            assert other is not None
            which = range(c, c + run)
            here = fragments.components(b, mask, which)
            parts.append(env.masked_load(self._spared_run(register, c, here), here,
                                         fragments.components(b, other, which)))
        return fragments.concatenate(b, parts)

    def _load_strided(self, register: int, mask: Register | None, other: Register | None) -> Register:
        """Components that lie a few elements apart, picked from all that lies between the first and the last
        of them. What lies between is on a page of theirs. Under a mask no other element is touched."""
        b, env = self.ctx.b, self.ctx.env
        picked = Picked(self.layout.width, self.vectors.stride)
        if mask is None:
            return picked.from_parts(b, [env.load(self._part(register, picked, start), picked.width, False,
                                                  self.size) for start in picked.starts])
        assert other is not None
        nothing, never = b.constant(other.type, 0), b.constant(mask.type, False)
        masks = [b.shuffle(mask, never, picked.lanes(part)) for part in range(len(picked.starts))]
        parts = [env.masked_load(self._part(register, picked, start, here), here, nothing)
                 for start, here in zip(picked.starts, masks, strict=True)]
        made = picked.from_parts(b, parts)
        return made if other == nothing else b.select(mask, made, other)

    def _store_strided(self, register: int, value: Register, mask: Register | None) -> None:
        """Components that lie a few elements apart, as parts of vectors. No element between two of them is
        touched."""
        b, env = self.ctx.b, self.ctx.env
        picked = Picked(self.layout.width, self.vectors.stride)
        for part, start in enumerate(picked.starts):
            lanes = picked.lanes(part)
            moved = b.shuffle(value, value, [lane % picked.width for lane in lanes])
            if mask is not None:
                here = b.shuffle(mask, b.constant(mask.type, False), lanes)
                env.masked_store(self._part(register, picked, start, here), moved, here)
            elif picked.width in lanes:
                here = b.constant(Vector(Bool(), picked.width), [lane < picked.width for lane in lanes])
                env.masked_store(self._part(register, picked, start), moved, here)
            else:
                env.store(self._part(register, picked, start), moved, False, self.size)

    def _part(self, register: int, picked: Picked, start: int, mask: Register | None = None) -> Register:
        """The address of a part of a register's elements; under a mask that is false the tensor's beginning,
        as `spared` says."""
        b, env = self.ctx.b, self.ctx.env
        if mask is None or not self.ctx.target.masked_access:
            first = env.offset(self.pointer(register), b.constant(I64, picked.before))
            return env.offset(first, b.constant(I64, start))
        return self._spared_run(register, 0, mask, picked.before + start)

    def _spared_run(self, register: int, component: int, mask: Register, behind: int = 0) -> Register:
        """The address of a run of components, or of so many elements behind one, under a mask of its own;
        where that is false the tensor's beginning, as `spared` says, which knows whole registers."""
        b, env = self.ctx.b, self.ctx.env
        moved = None if self.firsts is not None else self._offset(register, component)
        if self.base is None or moved is None or not self.ctx.target.masked_access:
            first = self.pointer(register, component)
            return env.offset(first, b.constant(I64, behind)) if behind else first
        moved = b.iadd(moved, behind) if behind else moved
        return env.offset(self.base, b.select(b.any(mask), moved, b.constant(I64, 0)))

    def load_all(self, registers: Sequence[int], volatile: bool) -> list[Register]:
        """These registers, all of their elements, in as few accesses as can be."""
        wanted, made = set(registers), dict[int, Register]()
        for run in self.vectors.joined:
            if len(run) > 1 and not volatile and wanted.issuperset(run):
                pieces = self.ctx.env.load_pieces(self.pointer(run[0]), self.run, len(run))
                made.update(zip(run, pieces, strict=True))
        return [made[r] if r in made else self.load(r, None, None, volatile) for r in registers]

    def store_all(self, values: Mapping[int, Register], stream: bool = False) -> None:
        """Store registers, by number, all of their elements, in as few accesses as can be."""
        for run in self.vectors.joined:
            if len(run) > 1 and not stream and all(r in values for r in run):
                self.ctx.env.store_pieces(self.pointer(run[0]), [values[r] for r in run])
                continue
            for r in run:
                if r in values:
                    self.store(r, values[r], None, stream)

    def load_where(self, register: int, here: Register, other: Register) -> Register:
        """A register under one mask for all of its components; `other` where that is false."""
        b, parts = self.ctx.b, []
        for c in range(0, self.layout.width, self.run):
            part = fragments.components(b, other, range(c, c + self.run))
            parts.append(self.ctx.env.load_where(self.pointer(register, c), here, part, self.alignment))
        return fragments.concatenate(b, parts)

    def store_where(self, register: int, value: Register, here: Register) -> None:
        """Store a register under one mask for all of its components."""
        for c in range(0, self.layout.width, self.run):
            part = fragments.components(self.ctx.b, value, range(c, c + self.run))
            self.ctx.env.store_where(self.pointer(register, c), part, here, self.alignment)

    def streams(self, op: Operation) -> Register | None:
        """A scalar Bool: is this store part of a stream too large for the caches, and aligned to whole
        vectors? None for never.

        Such a store may bypass the caches: memory need not be read before it is written.
        """
        ctx, b = self.ctx, self.ctx.b
        bytes = self.layout.width * self.size
        if not ctx.target.stream_bytes or self.firsts is None or bytes < STREAMED_VECTOR \
                or ctx.kernel.has_atomics:
            return None
        if any(step is None or step * self.size % bytes for step in self.steps):
            return None
        large = is_large_stream(ctx, op, self.layout.numel * self.size)
        aligned = b.compare("OpIEqual", b.iand(ctx.env.address(self.pointer(0)), bytes - 1), 0)
        return b.logical_and(large, aligned)

    def store(self, register: int, value: Register, mask: Register | None, stream: bool = False) -> None:
        tested = mask is None and self.vectors.pieces == "neighbours"
        test = self._in_one_piece(register) if tested else None
        if test is None:
            self._store(register, value, mask, stream)
            return
        branch = IfElse(self.ctx.b.module, test)
        with branch.then():
            self.ctx.env.store(self.pointer(register), value, stream, self.size)
        with branch.otherwise():
            self._store(register, value, mask, stream)

    def _store(self, register: int, value: Register, mask: Register | None, stream: bool) -> None:
        env, width, run = self.ctx.env, self.layout.width, self.run
        b = self.ctx.b
        if self.vectors.stride:
            self._store_strided(register, value, mask)
            return
        if run == 1 and width > 1:
            env.scatter([self.pointer(register, c) for c in range(width)], value, mask)
            return
        for c in range(0, width, run):
            which = range(c, c + run)
            part = fragments.components(b, value, which)
            if mask is None:
                env.store(self.pointer(register, c), part, stream, self.alignment)
                continue
            here = fragments.components(b, mask, which)
            env.masked_store(self._spared_run(register, c, here), part, here)


def is_large_stream(ctx: Context, op: Operation, bytes: int) -> Register:
    """A scalar Bool: does a store of so many bytes write more than caches hold, over all programs? Those that
    do not know how they differ write the same."""
    b = ctx.b
    programs = reduce(b.imul, map(ctx.env.num_programs, ctx.kernel.axes or (0,)))
    least = ctx.target.stream_bytes // bytes
    rounds = rounds_of(ctx, op)
    if rounds is None:
        return b.compare("OpUGreaterThanEqual", programs, least)
    written = b.imul(b.resize(programs, I64.width, signed=False), rounds[0])
    return b.compare("OpUGreaterThanEqual", written, b.imul(rounds[1], least))
