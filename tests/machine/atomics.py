"""Steps of atomic operations, lane by lane: each is a point of the order that memory has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Decoded

from .findings import Unsupported
from .memory import UNWRITTEN
from .memory_steps import ON_GLOBAL, ON_SHARED, acquires, check_alignment, releases, semantics, storage_of
from .program import Program
from .races import Shadow
from .steps import step
from .values import SIGNED, dtype, size, to_bytes

Run = Callable[[Any], None]


def _modified(name: str, old: Any, value: Any) -> Any:
    """Arrays of one number each."""
    as_signed = SIGNED[8 * old.itemsize] if old.dtype.kind == "u" else None
    match name:
        case "OpAtomicIAdd" | "OpAtomicFAddEXT":
            return old + value
        case "OpAtomicISub":
            return old - value
        case "OpAtomicAnd":
            return old & value
        case "OpAtomicOr":
            return old | value
        case "OpAtomicXor":
            return old ^ value
        case "OpAtomicExchange" | "OpAtomicStore":
            return value
        case "OpAtomicUMin" | "OpAtomicFMinEXT":
            return np.fmin(old, value)
        case "OpAtomicUMax" | "OpAtomicFMaxEXT":
            return np.fmax(old, value)
        case "OpAtomicSMin":
            return np.minimum(old.view(as_signed), value.view(as_signed)).view(old.dtype)
        case "OpAtomicSMax":
            return np.maximum(old.view(as_signed), value.view(as_signed)).view(old.dtype)
    raise Unsupported(name)


@step("OpAtomicLoad", "OpAtomicStore", "OpAtomicExchange", "OpAtomicCompareExchange", "OpAtomicIAdd",
      "OpAtomicISub", "OpAtomicSMin", "OpAtomicUMin", "OpAtomicSMax", "OpAtomicUMax", "OpAtomicAnd",
      "OpAtomicOr", "OpAtomicXor", "OpAtomicFAddEXT", "OpAtomicFMinEXT", "OpAtomicFMaxEXT")
def atomic(p: Program, it: Decoded, number: int) -> Run:
    name, pointer, result = it.name, it.words[0], it.result
    swaps, loads = name == "OpAtomicCompareExchange", name == "OpAtomicLoad"
    bits = semantics(p, it.words[2])
    unequal = semantics(p, it.words[3]) if swaps else bits
    value, compare = (it.words[4], it.words[5]) if swaps else (None if loads else it.words[3], None)
    type, storage = p.types[pointer].pointee, storage_of(p, pointer)  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        space = w.spaces[storage]
        w.expect_defined(number, pointer, "is an address")
        for id in (value, compare):
            if id is not None and (space.observes or swaps):
                w.expect_defined(number, id, "is an operand of an atomic operation")
        addresses = w.column_of(pointer)
        check_alignment(w, space, addresses[w.active], size(type), number)
        old, origins = np.zeros((w.lanes, 1), dtype(type)), np.zeros((w.lanes, 1), np.uint16)
        given = w.u.get(value) if value is not None else None
        for lane in w.active:
            one = w.everyone[lane:lane + 1]
            at = addresses[lane:lane + 1]
            places, inside = space.locate(w, one, at, size(type))
            if inside is not None:
                space.read(w, one, at, size(type), number, Shadow.ATOMIC)  # reports it
                continue
            place = int(places[0])
            held = space.bytes[place:place + size(type)].copy().view(old.dtype)
            old[lane] = held
            if space.origin is not None:
                origins[lane] = _reason(w, space.origin[place:place + size(type)], number)
            new, order = None, bits
            if swaps:
                if held.view(np.uint8).tobytes() == w.whole(compare)[lane].tobytes():
                    new = w.whole(value)[lane]
                else:
                    order = unequal
            elif not loads:
                new = _modified(name, held, w.whole(value)[lane])
            _order_atomic(w, lane, int(at[0]), order, new is not None, name != "OpAtomicStore")
            if new is None:
                space.read(w, one, at, size(type), number, Shadow.ATOMIC)
            else:
                why = 0 if given is None else int(np.broadcast_to(given, (w.lanes, 1))[lane, 0])
                if name not in ("OpAtomicStore", "OpAtomicExchange"):
                    why = max(why, int(origins[lane, 0]))
                space.write(w, one, at, to_bytes(np.asarray(new)[None], type), number, Shadow.ATOMIC,
                            np.full((1, size(type)), why, np.uint16))
        if result:
            w.put(result, old, origins if origins.any() else None)
    return run


def _reason(w: Any, origin: Any, number: int) -> int:
    """Why what an atomic operation finds is undefined: bins that nobody looks at may count from anything."""
    if (origin == UNWRITTEN).any():
        return int(w.run.origin("uninitialised", number, "changed before anything was stored there"))
    return int(origin.max())


def _order_atomic(w: Any, lane: int, address: int, bits: int, writes: bool, reads: bool) -> None:
    """What the operation orders. Relaxed ones take part by the fences around them."""
    for clocks, rows in w.run.clocks_of(w.group, np.array([w.first_lane + lane]), ON_GLOBAL | ON_SHARED):
        row = int(rows[0])
        covers = bool(bits & (ON_GLOBAL if clocks is w.run.clocks else ON_SHARED))
        if reads:
            clocks.acquire(row, address, covers and acquires(bits))
        if writes:
            clocks.release(row, address, covers and releases(bits), reads)
