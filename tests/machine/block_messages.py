"""2D block messages of Intel's GPUs (SPV_INTEL_2d_block_io), by what the extension and cl_intel_subgroup_2d_
block_io say that lanes hold. What is outside of the surface loads as 0 and is not stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Decoded

from .memory_steps import storage_of
from .program import Program
from .steps import step
from .subgroups import together
from .values import signed

Run = Callable[[Any], None]
MOST = 1 << 24


class Surface:
    """The operands behind a block's numbers: base, width in bytes, height, pitch in bytes, place."""

    def __init__(self, w: Any, number: int, ids: tuple[int, ...]) -> None:
        for id in ids:
            w.expect_defined(number, id, "is an operand of a block message")
        base, wide, high, pitch, at = ids
        lane = int(w.active[0])
        for id in ids:
            rows = w.whole(id)[w.active]
            if (rows != rows[0]).any():
                w.report("bad-message", number, "lanes give different surfaces")
        self.base = int(w.column_of(base)[lane])
        self.width, self.height, self.pitch = (int(signed(w.whole(id))[lane, 0])
                                               for id in (wide, high, pitch))
        self.x, self.y = (int(n) for n in signed(w.whole(at))[lane])
        if self.base % 64 or self.width < 64 or self.width % 4 or self.height < 1 or self.pitch < self.width \
                or self.pitch % 16 or max(self.width, self.height, self.pitch) > MOST:
            w.report("bad-message", number, f"base {self.base:#x}, width {self.width}, height {self.height}, "
                     f"pitch {self.pitch}")

    def inside(self, columns: Any, rows: Any) -> Any:
        """columns in bytes."""
        return (columns >= 0) & (columns < self.width) & (rows >= 0) & (rows < self.height)

    def addresses(self, columns: Any, rows: Any) -> Any:
        return (np.int64(self.base) + rows.astype(np.int64) * self.pitch + columns).view(np.uint64)


def _numbers(p: Program, ids: tuple[int, ...]) -> list[int]:
    return [int(p.constants[id][0, 0]) for id in ids]


def _bytes_of(kind: str, lanes: int, size: int, wide: int, high: int, count: int,
              s: Surface) -> tuple[Any, Any]:
    """Column in bytes and row of the surface of each byte that a lane gets: [lanes, bytes] each."""
    lane = np.arange(lanes)[:, None]
    if kind == "Transpose":  # a lane has a row of words
        byte = np.arange(wide * size)[None]
        return (s.x * size + byte + 0 * lane), s.y + lane + 0 * byte
    if kind == "Transform":  # a lane has a column; a word holds elements of several rows
        per = np.arange(high * size)[None]
        row, part = per // size, per % size
        columns = [(s.x + block * wide + lane) * size + part for block in range(count)]
        return (np.concatenate(columns, axis=1),
                np.concatenate([s.y + row + 0 * lane for _ in range(count)], axis=1))
    unit = 2 if size == 1 else size  # bytes come in pairs
    row_units = wide * size // unit
    each = row_units * high // lanes
    columns, rows = [], []
    for block in range(count):
        for j in range(each):
            e = j * lanes + lane
            for t in range(unit):
                columns.append((s.x + block * wide) * size + e % row_units * unit + t)
                rows.append(s.y + e // row_units)
    return np.concatenate(columns, axis=1), np.concatenate(rows, axis=1)


@step("OpSubgroup2DBlockLoadINTEL", "OpSubgroup2DBlockLoadTransformINTEL",
      "OpSubgroup2DBlockLoadTransposeINTEL")
def block_load(p: Program, it: Decoded, number: int) -> Run:
    size, wide, high, count = _numbers(p, it.words[:4])
    surface, to = it.words[4:9], it.words[9]
    kind = it.name.removeprefix("OpSubgroup2DBlockLoad").removesuffix("INTEL")
    storage, source = storage_of(p, to), storage_of(p, surface[0])

    def run(w: Any) -> None:
        together(w, number, it.name)
        s = Surface(w, number, surface)
        columns, rows = _bytes_of(kind, w.lanes, size, wide, high, count, s)
        inside = s.inside(columns, rows)
        data = np.zeros(columns.shape, np.uint8)
        lanes, bytes = np.nonzero(inside)
        if len(lanes):
            at = s.addresses(columns[lanes, bytes], rows[lanes, bytes])
            data[lanes, bytes] = w.spaces[source].read(w, lanes, at, 1, number, 0)[0][:, 0]
        w.spaces[storage].write(w, w.everyone, w.column_of(to), data, number, 0)
    return run


@step("OpSubgroup2DBlockStoreINTEL")
def block_store(p: Program, it: Decoded, number: int) -> Run:
    size, wide, high, count = _numbers(p, it.words[:4])
    source, surface = it.words[4], it.words[5:10]
    storage, target = storage_of(p, source), storage_of(p, surface[0])

    def run(w: Any) -> None:
        together(w, number, it.name)
        s = Surface(w, number, surface)
        columns, rows = _bytes_of("", w.lanes, size, wide, high, count, s)
        data, origin = w.spaces[storage].read(w, w.everyone, w.column_of(source), columns.shape[1], number, 0)
        if origin is not None and origin.any():
            w.run.report_undefined(w, number, w.run.origin(
                "uninitialised", number, "stored before anything was put there"), "is stored")
        lanes, bytes = np.nonzero(s.inside(columns, rows))
        if len(lanes):
            at = s.addresses(columns[lanes, bytes], rows[lanes, bytes])
            w.spaces[target].write(w, lanes, at, data[lanes, bytes][:, None], number, 0)
    return run


@step("OpSubgroup2DBlockPrefetchINTEL")
def block_prefetch(p: Program, it: Decoded, number: int) -> Run:
    surface = it.words[4:9]

    def run(w: Any) -> None:
        Surface(w, number, surface)
    return run
