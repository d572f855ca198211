"""`run`: a kernel's words, a grid and arguments in; findings out, and the arguments changed in place."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from triton_spirv import assert_layout, panel_layout
from triton_spirv.artifact import PACKING, Artifact, Parameter
from triton_spirv.runtime.arguments import fitted
from triton_spirv.runtime.extents import merged
from triton_spirv.spirv.types import Pointer, Struct

from . import atomics, block_messages, cooperative, extended, imported, memory_steps, subgroups  # noqa: F401
from .findings import Finding, Findings, Unsupported
from .memory import GlobalSpace, Variable, view
from .program import Program
from .scheduler import MOST_LANES, POLICIES, Run
from .steps import STEPS
from .values import dtype, offsets, size

#: Bytes of the print buffer behind its two words.
PRINT_WORDS = 1 << 14
#: Rounds, and bytes, of a shelf for packed operands.
SHELF_ROUNDS, SHELF = 4, 1 << 16
#: Where memory of the machine's own lies.
HIDDEN = 0x7A00_0000_0000
#: Do programs that keep panels lie along x, in the order of their ids?
ALONG_X = False

_programs: dict[tuple[bytes, frozenset[int]], Program] = {}

#: an address, bytes there (a view of them, changed in place), a name
Memory = tuple[int, Any, str]


def program_of(words: bytes, without: frozenset[int] = frozenset()) -> Program:
    """The decoded module; the last ones are kept."""
    key = words, without
    if key not in _programs:
        if len(_programs) > 64:
            _programs.clear()
        _programs[key] = Program(words, STEPS, without)
    return _programs[key]


def run(made: Artifact | bytes, grid: int | Sequence[int], arguments: Sequence[Any], *, orders: int = 4,
        seed: int = 0, sub_group_size: int = 0, names: Sequence[str] = (),
        without: frozenset[int] = frozenset(),
        unknown: Callable[[int], Memory | None] | None = None) -> Findings:
    """Execute a kernel with several orders of its warps.

    made            an artifact, or the words of a module whose parameters follow from the arguments
    arguments       numpy arrays (changed in place, as the first order leaves them), objects with `memory()`
                    -> (address of the first element, address, bytes of all around it), ints, floats, None
    orders          how many: "first", "last", "together", then random ones by `seed`
    sub_group_size  lanes of a warp, where neither artifact nor module says it
    without         numbers of instructions of the kernel's body that are left out
    unknown         asked for the memory at an address that no argument covers
    """
    artifact = made if isinstance(made, Artifact) else _described(made, arguments)
    program = program_of(artifact.words, without)
    lanes = sub_group_size or program.sub_group_size
    if lanes == 1 and artifact.sub_group_size > 1 and program.local_size > 1:
        lanes = artifact.sub_group_size
    place = (grid, 1, 1) if isinstance(grid, int) else (*grid, 1, 1)[:3]
    waiting = place[0] * place[1] * place[2] * max(program.local_size, lanes)
    if artifact.waits and waiting > MOST_LANES:
        raise Unsupported(f"programs that may wait for each other, of {waiting} lanes together; the machine "
                          f"tells {MOST_LANES} apart")
    findings = Findings()
    memories, values = _memories(artifact, arguments, names)
    together = _synchronises(program, artifact)
    overflow = place[0] * place[1] * place[2] * artifact.overflow_bytes
    results: list[Any] = []
    for number in range(orders if place[0] * place[1] * place[2] else 0):
        order = POLICIES[min(number, len(POLICIES) - 1)]
        space = GlobalSpace([(start, data.copy(), name) for start, data, name in memories], unknown)
        x, y, z = int(place[0]), int(place[1]), int(place[2])
        along_x = ALONG_X and "panel_buffer" in artifact.hidden
        said = (x, y, z) if along_x else (0, 0, 0)
        hidden = [space.add(HIDDEN + i * (1 << 32), _hidden(name, overflow, said), name).start
                  for i, name in enumerate(artifact.hidden)]
        parameters = _parameters(program, artifact, [*values, *hidden], space)
        launched = (x * y * z, 1, 1) if along_x else (x, y, z)
        one = Run(program, launched, lanes, space, parameters, findings, order, seed * 1000 + number,
                  together)
        one.execute()
        results.append(space)
        if (program.local_size == 1 and not together) or "no-end" in findings.kinds:
            break  # one lane a program: all orders are the same
    _compare_orders(results, program, findings, together)
    if results:
        _take_back(results[0], memories, artifact, findings)
    return findings


def _synchronises(program: Program, artifact: Artifact) -> bool:
    """Has the kernel atomic operations, by which programs may wait for each other? They do not for shelves,
    which are for kernels without others."""
    return "panel_buffer" not in artifact.hidden and any(it.name.startswith("OpAtomic") and
               program.types[it.words[0]].storage_class != "Workgroup"  # type: ignore[attr-defined]
               for it in program.body)


def _memories(artifact: Artifact, arguments: Sequence[Any], names: Sequence[str]) -> tuple[list[Memory],
                                                                                           list[Any]]:
    """The memory behind the arguments, and the values of the parameters. What overlaps is one memory."""
    memories: list[Memory] = []
    values = []
    given = names or [p.name for p in artifact.parameters]
    for parameter, argument, name in zip(artifact.parameters, arguments, given, strict=True):
        if parameter.type != "ptr":
            values.append(fitted(argument, parameter.type, PACKING[parameter.type][0]))
        elif argument is None or isinstance(argument, int):
            values.append(argument or 0)
        else:
            first, start, data = argument.memory() if hasattr(argument, "memory") else _of_array(argument)
            values.append(first)
            memories.append((start, data, name or "an argument"))
    return _merged(memories), values


def _merged(memories: list[Memory]) -> list[Memory]:
    spans = merged((start, start + len(data), True) for start, data, _ in memories)
    found = []
    for begin, end, _ in spans:
        names = [name for start, data, name in memories if begin <= start < end or (start == begin == end)]
        found.append((begin, view(begin, end - begin), " and ".join(dict.fromkeys(names))))
    return found


def _of_array(array: Any) -> tuple[int, int, Any]:
    """An array of numpy's, C-contiguous."""
    start = array.ctypes.data
    return start, start, array.reshape(-1).view(np.uint8)


def _hidden(name: str, overflow: int, along_x: tuple[int, int, int]) -> Any:
    if name == "print_buffer":
        words = np.zeros(2 + PRINT_WORDS, np.uint32)
        words[1] = PRINT_WORDS
        return words.view(np.uint8)
    if name == "panel_buffer":
        return _shelves(along_x)
    return np.zeros(overflow if name == "overflow_buffer" else 4 * assert_layout.WORDS, np.uint8)


def _shelves(along_x: tuple[int, int, int]) -> Any:
    """Room for two programs at a time, of which owners and labels are what they have to be, and no more.
    along_x: the grid, if programs lie there, else zeros."""
    first = -(-panel_layout.shelves_at(2, SHELF_ROUNDS) // 64) * 64
    held = np.zeros(first + 2 * SHELF, np.uint8)
    held[panel_layout.LABELS:] = 0xA5
    held[:panel_layout.HEADER.size] = np.frombuffer(
        panel_layout.HEADER.pack(2, SHELF_ROUNDS, 7, SHELF, first), np.uint8)
    panel_layout.GRID.pack_into(held, panel_layout.GRID_AT, *along_x)
    return held


def _parameters(program: Program, artifact: Artifact, values: list[Any],
                space: GlobalSpace) -> dict[str, Any]:
    """What Run is given: bytes by storage class, values by id."""
    packed = struct.pack(artifact.struct_format, *values)
    if artifact.passing == "struct" and program.parameters:
        type: Any = program.types[program.parameters[0].result]
        data = packed.ljust(size(type.pointee), b"\0")
        return {"Function": ([Variable("arguments", size(type.pointee), 0, 16)], data)}
    if artifact.passing == "push":
        return {"PushConstant": packed}
    if artifact.passing == "buffer":
        data = np.frombuffer(packed, np.uint8).copy()
        made = space.add(HIDDEN - (1 << 24), data, "the arguments")
        return {"PushConstant": struct.pack("<Q", made.start)}
    ids: dict[int, Any] = {}
    kinds = [p.type for p in artifact.parameters] + ["ptr"] * len(artifact.hidden)
    for it, value, kind in zip(program.parameters, values, kinds, strict=True):
        bits = struct.pack("<" + PACKING[kind][0], value)
        if isinstance(program.types[it.result], Pointer):
            ids[it.result] = np.array([[value]], np.uint64)
        else:
            ids[it.result] = np.frombuffer(bits, dtype(program.types[it.result])).reshape(1, 1)
    return {"": ids}


def _described(words: bytes, arguments: Sequence[Any]) -> Artifact:
    """An artifact for words alone: how parameters are passed is what the module says."""
    program = program_of(words)
    types: list[Any]
    passing = "arguments"
    if program.is_shader:
        passing = "push"
        types = []
        for it in program.variables:
            pointer: Any = program.types[it.result]
            if pointer.storage_class == "PushConstant":
                types = list(pointer.pointee.members)
    else:
        types = [program.types[it.result] for it in program.parameters]
        if len(types) == 1 and isinstance(types[0], Pointer) and isinstance(types[0].pointee, Struct):
            passing, types = "struct", list(types[0].pointee.members)
            assert offsets(program.types[program.parameters[0].result].pointee)[0] == 0  # type: ignore[attr-defined]
    kinds = ["ptr" if isinstance(argument, np.ndarray) or hasattr(argument, "memory") or argument is None
             else str(type) for type, argument in zip(types, arguments, strict=True)]
    parameters = tuple(Parameter(f"argument {i}", kind) for i, kind in enumerate(kinds))
    name = program.contents.names.get((program.body[0].result,), "kernel")
    return Artifact(words, name, parameters, passing=passing, sub_group_size=program.sub_group_size,
                    written=(True,) * len(kinds))


def _compare_orders(results: list[GlobalSpace], program: Program, findings: Findings, together: bool) -> None:
    """Without atomic operations all orders give the same bytes."""
    if together or len(results) < 2:
        return
    for other in results[1:]:
        count = min(len(results[0].bytes), len(other.bytes))
        if not np.array_equal(results[0].bytes[:count], other.bytes[:count]):
            at = int(np.flatnonzero(results[0].bytes[:count] != other.bytes[:count])[0])
            one = next(one for one in results[0].table if one.flat <= at < one.flat + one.bytes)
            findings.items.append(Finding("orders-differ", f"{one.name}, byte {at - one.flat}", 0, "", "",
                                          order="any"))
            return


def _take_back(space: GlobalSpace, memories: list[Memory], artifact: Artifact, findings: Findings) -> None:
    """Results into the caller's arrays; what the hidden buffers say."""
    by_start = {one.start: one for one in space.table}
    for start, data, _ in [*memories, *space.found]:
        one = by_start[start]
        held = space.bytes[one.flat:one.flat + one.bytes]
        if not np.array_equal(data, held):
            data[:] = held
    for name in artifact.hidden:
        one = next(one for one in space.table if one.name == name)
        words = space.bytes[one.flat:one.flat + one.bytes].view(np.uint32)
        if name == "assert_buffer":
            findings.assertion = words.tolist()
        elif name == "print_buffer":
            findings.printed += [" ".join(map(str, words[2:2 + min(int(words[0]), PRINT_WORDS)].tolist()))]
