"""Encodings of TTGIR as layouts: which lane and warp holds what, and where shared memory holds it.

Triton builds a distributed layout from tiles: `sizePerThread` elements of a lane, `threadsPerWarp` lanes,
`warpsPerCTA` warps, each dimension in the order that the encoding gives. A tensor larger than the tile
repeats it in registers; a tensor smaller than the tile wraps around, so that several lanes hold one element
(a basis of 0). Encodings are defined in include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td; the tests
compare every layout with Triton's own LinearLayout.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import prod

from ...errors import LoweringError
from ...ir.model import Encoding
from ...layout import Layout, SharedLayout, log2

Coordinates = tuple[int, ...]
Bases = dict[str, list[Coordinates]]

#: What the encodings of one GPU family are for, and what to do about it.
FOREIGN = {
    "nvidia_mma": "NVIDIA's tensor cores", "nvmma_shared": "NVIDIA's tensor cores",
    "tensor_memory_encoding": "NVIDIA's tensor memory",
    "amd_mfma": "AMD's matrix cores", "amd_wmma": "AMD's matrix cores",
    "amd_rotating_shared": "AMD's shared memory", "partitioned_shared": "AMD's shared memory",
}


@lru_cache(maxsize=4096)
def layout_of_encoding(encoding: object, shape: tuple[int, ...], num_warps: int, sub_group_size: int
                       ) -> Layout:
    """The layout of a tensor under a distributed encoding; LoweringError where lanes or warps are not
    ours."""
    bases = _bases(encoding, shape)
    for name, count in (("lane", sub_group_size), ("warp", num_warps)):
        if 1 << len(bases[name]) != count:
            made_for = 1 << len(bases[name])
            raise LoweringError(f"{encoding} is made for {made_for} {name}s, the program has {count}: "
                                "compile with the sub-group size and num_warps that the TTGIR was made for")
    linear = {name: _linear_indices(known, shape) for name, known in bases.items()}
    return Layout(shape, linear.get("component", ()), linear["register"], (), linear["lane"], linear["warp"])


def _linear_indices(bases: Sequence[Coordinates], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Coordinates as row-major linear indices."""
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    return tuple(sum(i * stride for i, stride in zip(basis, strides, strict=True)) for basis in bases)


def _bases(encoding: object, shape: tuple[int, ...]) -> Bases:
    """Bases as coordinates, least significant bit first."""
    if not isinstance(encoding, Encoding) or encoding.name not in DISTRIBUTED:
        raise _refusal(encoding, "distributed", DISTRIBUTED)
    return DISTRIBUTED[encoding.name](encoding, shape)


def _refusal(encoding: object, what: str, known: Iterable[str]) -> LoweringError:
    name = getattr(encoding, "name", None)
    if name in FOREIGN:
        return LoweringError(f"#ttg.{name} is a layout for {FOREIGN[name]}: compile the kernel's Triton IR, "
                             "which has no layouts yet, or run the passes that target this device")
    return LoweringError(f"{encoding} is no {what} layout with a rule; there are {', '.join(sorted(known))}")


def _unit(rank: int, dim: int, value: int) -> Coordinates:
    return tuple(value if d == dim else 0 for d in range(rank))


def _tile(order: Sequence[int], parts: Sequence[tuple[str, Sequence[int]]]) -> tuple[Bases, list[int]]:
    """The bases of nested tiles, (coordinate, sizes) from the inside out, and the size of the whole."""
    bases: Bases = {"register": [], "lane": [], "warp": []}
    size = [1] * len(order)
    for name, sizes in parts:
        for dim in order:
            for _ in range(log2(sizes[dim])):
                bases[name].append(_unit(len(order), dim, size[dim]))
                size[dim] *= 2
    return bases, size


def _fit(bases: Bases, size: Sequence[int], shape: Sequence[int], order: Sequence[int]) -> Bases:
    """Repeat a tile of `size` in registers, or wrap it around, so that it becomes a tensor of `shape`.

    Registers that would hold an element again are left out; lanes and warps cannot be.
    """
    rank = len(shape)
    fitted = {name: list(known) for name, known in bases.items()}
    for dim in order:
        have = size[dim]
        while have < shape[dim]:
            fitted["register"].append(_unit(rank, dim, have))
            have *= 2

    def wrapped(basis: Coordinates) -> Coordinates:
        return tuple(i % n for i, n in zip(basis, shape, strict=True))

    wraps = {name: [wrapped(basis) for basis in known] for name, known in fitted.items()}
    return {**wraps, "register": [basis for basis in wraps["register"] if any(basis)]}


def _refuse_clusters(encoding: Encoding) -> None:
    if any(encoding.get("CGALayout") or ()) or encoding.get("block"):
        raise LoweringError(f"{encoding} spreads a tensor over several work-groups, which OpenCL cannot "
                            "join: use num_ctas=1")


def _blocked(encoding: Encoding, shape: tuple[int, ...]) -> Bases:
    """sizePerThread, threadsPerWarp, warpsPerCTA, order."""
    _refuse_clusters(encoding)
    order = encoding["order"]
    bases, size = _tile(order, [("register", encoding["sizePerThread"]), ("lane", encoding["threadsPerWarp"]),
                                ("warp", encoding["warpsPerCTA"])])
    return _fit(bases, size, shape, order)


def _slice(encoding: Encoding, shape: tuple[int, ...]) -> Bases:
    """The parent's layout of the tensor before dimension `dim` was reduced; registers without use go."""
    dim = encoding["dim"]
    bases = _bases(encoding["parent"], (*shape[:dim], 1, *shape[dim:]))
    sliced = {name: [basis[:dim] + basis[dim + 1:] for basis in known] for name, known in bases.items()}
    return {**sliced, **{name: [basis for basis in sliced[name] if any(basis)]
                         for name in ("component", "register") if name in sliced}}


def _dot_operand(encoding: Encoding, shape: tuple[int, ...]) -> Bases:
    """An operand of a dot whose result is blocked: a lane holds all of K, so that it can sum by itself."""
    parent = encoding["parent"]
    if parent.name != "blocked":
        raise _refusal(parent, "parent of a dot operand's", ("blocked",))
    _refuse_clusters(parent)
    order, lanes, warps = (parent[name] for name in ("order", "threadsPerWarp", "warpsPerCTA"))
    inner = len(shape) - 1 if encoding["opIdx"] == 0 else len(shape) - 2
    size = list(parent["sizePerThread"])
    size[inner] = shape[inner]
    bases, whole = _tile(order, [("register", size), ("lane", lanes), ("warp", warps)])
    for name in ("lane", "warp"):
        bases[name] = [tuple(0 if d == inner else i for d, i in enumerate(basis)) for basis in bases[name]]
    whole[inner] = shape[inner]
    return _fit(bases, whole, shape, order)


def _linear(encoding: Encoding, shape: tuple[int, ...]) -> Bases:
    """Bases as they are given, repeated where the tensor is larger than they reach."""
    _refuse_clusters(encoding)
    names = ("register", "lane", "warp")
    bases = {name: [tuple(basis) for basis in encoding.get(name) or ()] for name in names}
    every = [basis for name in names for basis in bases[name]]
    size = [1 << max([basis[d].bit_length() for basis in every], default=0) for d in range(len(shape))]
    return _fit(bases, size, shape, _order(bases["register"], len(shape)))


def _matrix(encoding: Encoding, shape: tuple[int, ...]) -> Bases:
    """An operand of a matrix unit (matrix_layout.py): bases as they are given, components among them."""
    component = [basis for basis in encoding["component"]
                 if all(i < n for i, n in zip(basis, shape, strict=True))]
    size = [1 << max((basis[d].bit_length() for name in ("component", "register", "lane", "warp")
                      for basis in encoding[name]), default=0) for d in range(len(shape))]
    known = {name: [tuple(basis) for basis in encoding[name]] for name in ("register", "lane", "warp")}
    bases = _fit(known, size, shape, _order(known["register"], len(shape)))
    return {**bases, "component": component}


def _order(registers: Sequence[Coordinates], rank: int) -> list[int]:
    """Dimensions by how early the registers move in them; those that they never do, last first."""
    order: list[int] = []
    for basis in registers:
        order += [d for d, i in enumerate(basis) if i and d not in order]
    return order + [d for d in reversed(range(rank)) if d not in order]


DISTRIBUTED: dict[str, Callable[[Encoding, tuple[int, ...]], Bases]] = {
    "blocked": _blocked, "slice": _slice, "dot_op": _dot_operand, "linear": _linear,
    "generic_linear": _linear, "matrix": _matrix,
}


# --- shared memory ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def shared_layout_of_encoding(encoding: object, shape: tuple[int, ...]) -> SharedLayout:
    """Where a buffer of `shape` lies in shared memory."""
    if not isinstance(encoding, Encoding) or encoding.name not in SHARED:
        raise _refusal(encoding, "shared memory", SHARED)
    return SHARED[encoding.name](encoding, shape)


def _by_offset(shape: tuple[int, ...], offsets: Sequence[Coordinates],
               padding: tuple[tuple[int, int], ...] = ()) -> SharedLayout:
    return SharedLayout.of_offsets(shape, _linear_indices(offsets, shape), padding)


def _swizzled(encoding: Encoding, shape: tuple[int, ...]) -> SharedLayout:
    """Groups of `vec` columns change places: row r has column c at c ^ vec * (r / perPhase % maxPhase)."""
    _refuse_clusters(encoding)
    order, rank = encoding["order"], len(shape)
    vec, per_phase, max_phase = (encoding[name] for name in ("vec", "perPhase", "maxPhase"))
    column = order[0]
    offsets = [_unit(rank, column, 1 << i) for i in range(log2(shape[column]))]
    for dim in order[1:]:
        for i in range(log2(shape[dim])):
            phase = (1 << i) // per_phase % max_phase if dim == order[1] else 0
            swizzle = vec * phase % shape[column]
            offsets.append(tuple(1 << i if d == dim else swizzle if d == column else 0 for d in range(rank)))
    return _by_offset(shape, offsets)


def _shared_linear(encoding: Encoding, shape: tuple[int, ...]) -> SharedLayout:
    """`offset` gives the element at each power of two."""
    _refuse_clusters(encoding)
    return _by_offset(shape, [tuple(basis) for basis in encoding["offset"]])


def _padded(encoding: Encoding, shape: tuple[int, ...]) -> SharedLayout:
    """#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [4, 32]}>: 4 elements stay free behind every 32.

    The order of elements is row-major along `order`, or given by `offset`.
    """
    text = encoding.tail
    intervals = tuple((int(interval), int(pad)) for interval, pad in re.findall(r"(\d+):\+(\d+)", text))
    values = {key: literal_eval(value) for key, value in re.findall(r"(\w+) = (\[[\[\]\d, ]*\])", text)}
    if values.get("block"):
        _refuse_clusters(Encoding("ttg", "padded_shared", (("block", values["block"]),), text))
    if "offset" in values:
        return _by_offset(shape, [tuple(basis) for basis in values["offset"]], intervals)
    offsets = [_unit(len(shape), dim, 1 << i) for dim in values["order"] for i in range(log2(shape[dim]))]
    return _by_offset(shape, offsets, intervals)


SHARED: dict[str, Callable[[Encoding, tuple[int, ...]], SharedLayout]] = {
    "swizzled_shared": _swizzled, "shared_linear": _shared_linear, "padded_shared": _padded,
}
