"""Steps of instructions that touch memory, and of barriers within a sub-group and fences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv import grammar
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import Array, Pointer, Struct, Type

from .findings import Unsupported
from .memory import UNWRITTEN, VARIABLES
from .program import SUBGROUP, WORKGROUP, Program
from .races import Shadow
from .steps import step
from .values import dtype, from_bytes, scalar, size, to_bytes, width

Run = Callable[[Any], None]

VOLATILE, ALIGNED, MAKE_AVAILABLE, MAKE_VISIBLE, NON_PRIVATE = 0x1, 0x2, 0x8, 0x10, 0x20
#: bits of memory semantics (specification, 3.25)
ACQUIRE, RELEASE, BOTH, SEQUENTIAL = 0x2, 0x4, 0x8, 0x10
ON_GLOBAL, ON_SHARED = 0x200 | 0x40, 0x100
AVAILABLE, VISIBLE = 0x2000, 0x4000
GLOBAL_CLASSES = ("CrossWorkgroup", "PhysicalStorageBuffer", "StorageBuffer")


def memory_operands(words: tuple[int, ...]) -> tuple[int, int]:
    """(mask, alignment or 0) of the memory operands of a load or store."""
    if not words:
        return 0, 0
    return words[0], words[1] if words[0] & ALIGNED else 0


def access_flags(p: Program, storage: str, mask: int) -> int:
    """What the shadow keeps of an access: Vulkan orders only what says NonPrivatePointer."""
    if p.is_shader and storage in (*GLOBAL_CLASSES, "Workgroup") and not mask & (NON_PRIVATE | VOLATILE):
        return Shadow.PRIVATE
    return 0


def check_alignment(w: Any, space: Any, addresses: Any, claimed: int, number: int) -> None:
    """Every address is a multiple of what the access says."""
    wrong = addresses % np.uint64(claimed) != 0
    if wrong.any():
        address = int(addresses[wrong][0])
        w.report("misaligned", number, f"{space.describe(address)} is no multiple of {claimed} bytes")
    elif claimed > 1 and len(addresses):
        known = space.aligned_to(int(addresses[0]))
        if claimed > known:
            w.report("misaligned", number, f"{space.describe(int(addresses[0]))}: the variable is aligned to "
                     f"{known} bytes, the access says {claimed}")


def loaded_origin(w: Any, origin: Any, type: Type, number: int) -> Any:
    """Origins of bytes as those of components; what nobody wrote gets this load as its origin."""
    if origin is None:
        return None
    if (origin == UNWRITTEN).any():
        why = w.run.origin("uninitialised", number, "loaded before anything was stored there")
        origin = np.where(origin == UNWRITTEN, np.uint16(why), origin)
    itemsize = dtype(type).itemsize
    return origin.reshape(origin.shape[0], -1, itemsize).max(axis=2)[:, :width(type)]


def stored_origin(origin: Any, type: Type, rows: int) -> Any:
    """The other way."""
    if origin is None:
        return None
    return np.repeat(np.broadcast_to(origin, (rows, origin.shape[1])), dtype(type).itemsize, axis=1)


def space_of(w: Any, storage: str, addresses: Any) -> Any:
    """The memory of addresses: on processors pointers to global memory may come as private ones."""
    if storage == "Function" and len(addresses) and w.lanes == 1 and int(addresses[0]) < VARIABLES >> 1:
        return w.spaces["CrossWorkgroup"]
    return w.spaces[storage]


def load_lanes(w: Any, storage: str, pointer: int, type: Type, number: int, claimed: int,
               flags: int) -> tuple[Any, Any]:
    """What the executing lanes load: values and origins for all lanes."""
    w.expect_defined(number, pointer, "is an address")
    addresses = w.column_of(pointer)[w.active]
    space = space_of(w, storage, addresses)
    if claimed:
        check_alignment(w, space, addresses, claimed, number)
    data, origin = space.read(w, w.active, addresses, size(type), number, flags)
    value, origin = from_bytes(data, type), loaded_origin(w, origin, type, number)
    if w.full:
        return value, origin
    return spread(w, value), None if origin is None else spread(w, origin)


def spread(w: Any, value: Any) -> Any:
    """Rows of the executing lanes as rows of all; zeros in the others."""
    whole = np.zeros((w.lanes, value.shape[1]), value.dtype)
    whole[w.active] = value
    return whole


@step("OpLoad")
def load(p: Program, it: Decoded, number: int) -> Run:
    pointer, result, type = it.words[0], it.result, p.types[it.result]
    storage = p.types[pointer].storage_class  # type: ignore[attr-defined]
    if storage == "Input":
        return _load_builtin(p, it)
    mask, claimed = memory_operands(it.words[1:])
    flags = access_flags(p, storage, mask)
    if isinstance(type, (Struct, Array)):
        raise Unsupported(f"OpLoad of {type}")

    def run(w: Any) -> None:
        value, origin = load_lanes(w, storage, pointer, type, number, claimed, flags)
        w.put(result, value, origin)
    return run


def _load_builtin(p: Program, it: Decoded) -> Run:
    (variable, component), result = p.components.get(it.words[0], (it.words[0], None)), it.result
    number = p.decoration(variable, "BuiltIn")
    assert number is not None
    name, kind = grammar.enumerant_names("BuiltIn")[number[0]], dtype(p.types[result])
    columns = slice(None) if component is None else slice(component, component + 1)

    def run(w: Any) -> None:
        w.put(result, w.run.builtin(w, name)[:, columns].astype(kind))
    return run


@step("OpStore")
def store(p: Program, it: Decoded, number: int) -> Run:
    pointer, value = it.words[:2]
    type = p.types[value]
    storage = p.types[pointer].storage_class  # type: ignore[attr-defined]
    mask, claimed = memory_operands(it.words[2:])
    flags = access_flags(p, storage, mask)

    def run(w: Any) -> None:
        store_lanes(w, storage, pointer, value, type, number, claimed, flags)
    return run


def store_lanes(w: Any, storage: str, pointer: int, value: int, type: Type, number: int, claimed: int,
                flags: int) -> None:
    """The executing lanes store a value."""
    w.expect_defined(number, pointer, "is an address")
    addresses = w.column_of(pointer)[w.active]
    space = space_of(w, storage, addresses)
    if claimed:
        check_alignment(w, space, addresses, claimed, number)
    if space.observes:
        w.expect_defined(number, value, "is stored")
    origin = stored_origin(w.u.get(value), type, w.lanes) if space.origin is not None else None
    space.write(w, w.active, addresses, to_bytes(w.whole(value)[w.active], type), number, flags,
                None if origin is None else origin[w.active])


@step("OpPredicatedLoadINTEL")
def predicated_load(p: Program, it: Decoded, number: int) -> Run:
    (pointer, predicate, other), result, type = it.words[:3], it.result, p.types[it.result]
    storage = p.types[pointer].storage_class  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        here = w.column_of(predicate) & w.mask
        w.expect_defined(number, predicate, "decides an access")
        lanes = np.flatnonzero(here)
        value = np.array(w.whole(other))
        origin = w.u.get(other)
        if len(lanes):
            data, why = w.spaces[storage].read(w, lanes, w.column_of(pointer)[lanes], size(type), number, 0)
            value[lanes] = from_bytes(data, type)
            why = loaded_origin(w, why, type, number)
            if origin is not None or why is not None:
                origin = np.zeros(value.shape, np.uint16) if origin is None \
                    else np.array(np.broadcast_to(origin, value.shape))
                origin[lanes] = 0 if why is None else why
        w.put(result, value, origin)
    return run


@step("OpPredicatedStoreINTEL")
def predicated_store(p: Program, it: Decoded, number: int) -> Run:
    pointer, value, predicate = it.words[:3]
    type, storage = p.types[value], p.types[pointer].storage_class  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        w.expect_defined(number, predicate, "decides an access")
        lanes = np.flatnonzero(w.column_of(predicate) & w.mask)
        if len(lanes):
            here = np.zeros(w.lanes, bool)
            here[lanes] = True
            expect_defined_at(w, value, here[:, None], number)
            w.spaces[storage].write(w, lanes, w.column_of(pointer)[lanes],
                                    to_bytes(w.whole(value)[lanes], type), number, 0)
    return run


def expect_defined_at(w: Any, id: int, here: Any, number: int) -> None:
    """Report undefined components among those that are stored."""
    origin = w.u.get(id)
    if origin is not None:
        bad = np.where(np.broadcast_to(here, (w.lanes, origin.shape[1])), origin, 0)
        if bad.any():
            w.run.report_undefined(w, number, int(bad.max()), "is stored")


def gather(w: Any, space: Any, addresses: Any, mask: Any, other: int, type: Type, number: int) -> tuple[Any,
                                                                                                       Any]:
    """addresses, mask [lanes, components] -> values, origins."""
    value, origin = np.array(w.whole(other)), w.u.get(other)
    lanes, components = np.nonzero(mask)
    if len(lanes):
        element = scalar(type)
        data, why = space.read(w, lanes, addresses[lanes, components], size(element), number, 0)
        value[lanes, components] = from_bytes(data, element)[:, 0]
        why = loaded_origin(w, why, element, number)
        if origin is not None or why is not None:
            origin = np.zeros(value.shape, np.uint16) if origin is None \
                else np.array(np.broadcast_to(origin, value.shape))
            origin[lanes, components] = 0 if why is None else why[:, 0]
    return value, origin


def scatter(w: Any, space: Any, addresses: Any, mask: Any, value: int, type: Type, number: int) -> None:
    """addresses, mask [lanes, components]."""
    expect_defined_at(w, value, mask, number)
    lanes, components = np.nonzero(mask)
    if len(lanes):
        element = scalar(type)
        data = w.whole(value)[lanes, components][:, None]
        space.write(w, lanes, addresses[lanes, components], to_bytes(data, element), number, 0)


@step("OpMaskedGatherINTEL")
def masked_gather(p: Program, it: Decoded, number: int) -> Run:
    pointers, claimed, mask, other = it.words[:4]
    result, type = it.result, p.types[it.result]
    storage = scalar(p.types[pointers]).storage_class  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        w.expect_defined(number, mask, "decides an access")
        here = w.whole(mask) & w.column
        _expect_addresses(w, number, pointers, here)
        addresses = w.whole(pointers)
        if claimed:
            check_alignment(w, w.spaces[storage], addresses[here], claimed, number)
        w.put(result, *gather(w, w.spaces[storage], addresses, here, other, type, number))
    return run


@step("OpMaskedScatterINTEL")
def masked_scatter(p: Program, it: Decoded, number: int) -> Run:
    value, pointers, claimed, mask = it.words[:4]
    type, storage = p.types[value], scalar(p.types[pointers]).storage_class  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        w.expect_defined(number, mask, "decides an access")
        here = w.whole(mask) & w.column
        _expect_addresses(w, number, pointers, here)
        addresses = w.whole(pointers)
        if claimed:
            check_alignment(w, w.spaces[storage], addresses[here], claimed, number)
        scatter(w, w.spaces[storage], addresses, here, value, type, number)
    return run


def _expect_addresses(w: Any, number: int, pointers: int, here: Any) -> None:
    origin = w.u.get(pointers)
    if origin is not None:
        bad = np.where(here, origin, 0)
        if bad.any():
            w.run.report_undefined(w, number, int(bad.max()), "is an address")


# ---- order

def semantics(p: Program, id: int) -> int:
    return int(p.constants[id][0, 0])


def acquires(bits: int) -> bool:
    return bool(bits & (ACQUIRE | BOTH | SEQUENTIAL))


def releases(bits: int) -> bool:
    return bool(bits & (RELEASE | BOTH | SEQUENTIAL))


def orders(p: Program, bits: int, memory: int) -> bool:
    """Does a barrier with these semantics order accesses of that memory in both directions?"""
    whole = acquires(bits) and releases(bits) and bool(bits & memory)
    return whole and (not p.is_shader or bits & (AVAILABLE | VISIBLE) == AVAILABLE | VISIBLE)


@step("OpControlBarrier")
def control_barrier(p: Program, it: Decoded, number: int) -> Run:
    scope = semantics(p, it.words[0])
    bits = semantics(p, it.words[2])
    if scope not in (SUBGROUP, WORKGROUP):
        raise Unsupported(f"OpControlBarrier of scope {scope}")

    def run(w: Any) -> None:  # those of the work-group are the scheduler's business
        living = w.living
        if not np.array_equal(w.mask, living):
            w.report("divergent-barrier", number,
                     f"{int(w.mask.sum())} of {int(living.sum())} lanes are here")
        w.run.order_lanes(w.group, w.first_lane + w.active, bits)
    return run


@step("OpMemoryBarrier")
def memory_barrier(p: Program, it: Decoded, number: int) -> Run:
    bits = semantics(p, it.words[1])

    def run(w: Any) -> None:
        for clocks, rows in w.run.clocks_of(w.group, w.first_lane + w.active, bits):
            clocks.fence(rows, acquires(bits), releases(bits))
    return run


@step("OpReadClockKHR")
def read_clock(p: Program, it: Decoded, number: int) -> Run:
    result, kind = it.result, dtype(p.types[it.result])

    def run(w: Any) -> None:
        w.run.ticks += 1000
        w.put(result, np.full((1, width(p.types[it.result])), w.run.ticks, kind))
    return run


def storage_of(p: Program, id: int) -> str:
    """The storage class that a pointer points into."""
    type = p.types[id]
    assert isinstance(type, Pointer)
    return type.storage_class
