"""Tile registers of x86 processors, as LLVM's intrinsics use them: sizes that are configured, rows from
memory, products as Intel's manual writes them (volume 2, TDPBF16PS and TDPBSSD)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Decoded

from .arithmetic import from_bfloat16
from .findings import MachineError, Unsupported
from .memory_steps import space_of, storage_of
from .program import Program
from .values import signed

Run = Callable[[Any], None]

WORD = 4
LEAST_NORMAL = np.float32(2.0 ** -126)


@dataclass
class Tile:
    """The bytes of one register, [rows, bytes of a row], and why they are undefined (None: none is)."""

    data: Any
    origin: Any = None


def step_of(p: Program, it: Decoded, number: int, found: Any) -> Run:
    """A call of llvm.x86.NAME."""
    return STEPS[found[1]](p, it, number)


def _tiles(w: Any, number: int) -> list[Tile]:
    """The registers of the program, which must be configured."""
    if w.lanes != 1:
        raise Unsupported("tile registers of several lanes")
    tiles: list[Tile] | None = getattr(w, "tiles", None)
    if tiles is None:
        raise MachineError(f"instruction {number} uses tile registers that are not configured")
    return tiles


def _constant(p: Program, id: int) -> int:
    return int(p.constants[id][0, 0])


def _configure(p: Program, it: Decoded, number: int) -> Run:
    pointer = it.words[1]
    storage = storage_of(p, pointer)

    def run(w: Any) -> None:
        if getattr(w, "tiles", None) is not None:
            raise MachineError("tile registers are configured before they were released")
        data, origin = w.spaces[storage].read(w, w.everyone, w.column_of(pointer), 64, number, 0)
        assert origin is None and data[0, 0] == 1 and not data[0, 1:16].any() and not data[0, 56:].any()
        row_bytes, rows = data[0, 16:48].view(np.uint16), data[0, 48:64]
        assert max(row_bytes) <= 64 and max(rows) <= 16 and not row_bytes[8:].any()
        w.tiles = [Tile(np.zeros((rows[i], row_bytes[i]), np.uint8)) for i in range(8)]
    return run


def _release(p: Program, it: Decoded, number: int) -> Run:
    def run(w: Any) -> None:
        _tiles(w, number)
        w.tiles = None
    return run


def _zero(p: Program, it: Decoded, number: int) -> Run:
    which = _constant(p, it.words[1])

    def run(w: Any) -> None:
        tile = _tiles(w, number)[which]
        tile.data, tile.origin = np.zeros_like(tile.data), None
    return run


def _addresses(w: Any, pointer: int, stride: int, tile: Tile, number: int) -> tuple[Any, Any]:
    """The lane, and the address, of each row."""
    w.expect_defined(number, pointer, "is an address")
    rows = np.arange(tile.data.shape[0], dtype=np.uint64)
    return np.zeros(len(rows), np.int64), w.column_of(pointer)[0] + rows * w.column_of(stride)[0]


def _load(p: Program, it: Decoded, number: int) -> Run:
    which, pointer, stride = _constant(p, it.words[1]), *it.words[2:4]
    storage = storage_of(p, pointer)

    def run(w: Any) -> None:
        tile = _tiles(w, number)[which]
        lanes, addresses = _addresses(w, pointer, stride, tile, number)
        tile.data, tile.origin = space_of(w, storage, addresses).read(
            w, lanes, addresses, tile.data.shape[1], number, 0)
    return run


def _store(p: Program, it: Decoded, number: int) -> Run:
    which, pointer, stride = _constant(p, it.words[1]), *it.words[2:4]
    storage = storage_of(p, pointer)

    def run(w: Any) -> None:
        tile = _tiles(w, number)[which]
        lanes, addresses = _addresses(w, pointer, stride, tile, number)
        space_of(w, storage, addresses).write(w, lanes, addresses, tile.data, number, 0, tile.origin)
    return run


def _multiply(p: Program, it: Decoded, number: int) -> Run:
    numbers = [_constant(p, id) for id in it.words[1:4]]
    is_bytes = p.imports[it.words[0]].endswith("tdpbssd")

    def run(w: Any) -> None:
        sums, left, right = (_tiles(w, number)[which] for which in numbers)
        (m, n), k = sums.data.shape, right.data.shape[0]
        assert left.data.shape == (m, k * WORD) and right.data.shape == (k, n), "sizes that disagree"
        made = (_bytes if is_bytes else _bfloat16)(sums.data, left.data, right.data)
        sums.data = np.ascontiguousarray(made).view(np.uint8).reshape(m, n)
        why = [] if sums.origin is None else [sums.origin]
        if left.origin is not None:
            why.append(np.broadcast_to(left.origin.max(axis=1, keepdims=True), (m, n)))
        if right.origin is not None:
            columns = right.origin.reshape(k, n // WORD, WORD).max(axis=(0, 2))
            why.append(np.broadcast_to(np.repeat(columns, WORD), (m, n)))
        sums.origin = np.max(why, axis=0) if why else None
    return run


def _bytes(sums: Any, left: Any, right: Any) -> Any:
    """Four signed bytes of each word; sums wrap."""
    m, k, n = left.shape[0], left.shape[1] // WORD, right.shape[1] // WORD
    x = signed(left).astype(np.int64).reshape(m, k, WORD)
    y = signed(right).astype(np.int64).reshape(k, n, WORD)
    return (sums.view(np.int32) + np.einsum("mkc,knc->mn", x, y)).astype(np.int32)


def _bfloat16(sums: Any, left: Any, right: Any) -> Any:
    """Two bf16 of each word: the first ones and the second ones are summed apart, along K, and added up."""
    m, k, n = left.shape[0], left.shape[1] // WORD, right.shape[1] // WORD
    x = flushed(from_bfloat16(left.view(np.uint16))).reshape(m, k, 2)
    y = flushed(from_bfloat16(right.view(np.uint16))).reshape(k, n, 2)
    apart = np.zeros((m, n, 2), np.float32)
    with np.errstate(all="ignore"):
        for i in range(k):
            exact = x[:, i, None].astype(np.float64) * y[None, i].astype(np.float64)
            apart = flushed((apart.astype(np.float64) + exact).astype(np.float32))
        both = flushed(apart[:, :, 0] + apart[:, :, 1])
        return flushed(flushed(sums.view(np.float32)) + both)


def flushed(x: Any) -> Any:
    """Zeros for denormal numbers."""
    return np.where(np.abs(x) < LEAST_NORMAL, np.copysign(np.float32(0), x), x)


STEPS: dict[str, Callable[[Program, Decoded, int], Run]] = {
    "ldtilecfg": _configure, "tilerelease": _release, "tilezero": _zero, "tileloadd64": _load,
    "tileloaddt164": _load, "tilestored64": _store, "tdpbf16ps": _multiply, "tdpbssd": _multiply,
}
