"""A launch: programs, their sub-groups, and in which order those go on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .findings import NOTES, Finding, Findings, Unsupported
from .memory import GlobalSpace, Space, Variable, VariableSpace
from .memory_steps import ON_GLOBAL, ON_SHARED, acquires, orders, releases, semantics
from .program import Program, Step
from .races import Clocks, Shadow
from .values import alignment, size
from .warp import Warp

#: Lanes that are told apart at once, where programs synchronise with each other.
MOST_LANES = 4096
#: Pauses after which another warp has its turn; instructions of a launch beyond which it is said not to end,
#: in all, and while programs that may wait for each other change nothing in memory, nor end.
BURST, MOST_STEPS, MOST_IN_VAIN = 400, 4_000_000, 60_000  # the last: of four warps or fewer
#: In which order warps go on. "together": each a step, in turn; "first", "last": the first (last) one that
#: can goes on until it waits; "random": any, some steps at a time.
POLICIES = ("first", "last", "together", "random")


class Group:
    """A program: its place in the grid, shared memory, warps."""

    def __init__(self, run: Run, index: int, place: tuple[int, int, int], first_row: int) -> None:
        self.index, self.place, self.first_row = index, place, first_row
        self.shared_clocks = Clocks(run.lanes_of_group)
        self.shared = VariableSpace(run.variables["Workgroup"], 1)
        self.shared.is_of_program = True
        if run.lanes_of_group > 1:
            self.shared.shadow = Shadow(len(self.shared.bytes), self.shared_clocks, run.lanes)
        self.warps = [Warp(run, self, i) for i in range(run.lanes_of_group // run.lanes)]
        for warp in self.warps:
            warp.spaces = run.spaces(self, warp)


@dataclass
class Thread:
    """A warp on its way: the barrier that it stands at, and how often it could have stopped."""

    warp: Warp
    way: Iterator[Step]
    waiting: Step | None = None
    is_done: bool = False
    pauses: int = 0


class Run:
    """One launch in one order of warps."""

    def __init__(self, program: Program, grid: tuple[int, int, int], lanes: int, memory: GlobalSpace,
                 parameters: dict[str, Any], findings: Findings, order: str, seed: int,
                 together: bool) -> None:
        self.program, self.grid, self.lanes, self.memory = program, grid, lanes, memory
        self.is_shader, self.findings, self.order = program.is_shader, findings, order
        self.parameters = parameters  # storage class -> (variables, their bytes); "": values by id
        self.random = random.Random(seed)
        self.lanes_of_group = max(program.local_size, lanes)
        if self.lanes_of_group % lanes:
            raise Unsupported(f"{program.local_size} work-items in sub-groups of {lanes}")
        self.ticks, self.steps = 0, 0
        self.goes_on, self.in_vain = False, 0  # has memory changed? instructions since it has
        self.origins: list[tuple[str, int, str]] = [("", 0, ""), ("uninitialised", 0, "")]
        self.known_origins: dict[tuple[str, int], int] = {}
        self.groups: dict[int, Group] = {}
        count = grid[0] * grid[1] * grid[2]
        fits = count * self.lanes_of_group <= MOST_LANES
        self.together = together and fits
        self.synchronises = together
        self.rows = count * self.lanes_of_group if self.together else self.lanes_of_group
        self.clocks = Clocks(self.rows)
        self.variables = _variables(program)

    # --- what warps ask

    def spaces(self, group: Group, warp: Warp) -> dict[str, Space]:
        """The memories that a warp sees, by storage class."""
        found: dict[str, Space] = dict.fromkeys(("CrossWorkgroup", "PhysicalStorageBuffer"), self.memory)
        found["Workgroup"] = group.shared
        variables = list(self.variables["Function"])
        extra, data = self.parameters.get("Function", ((), b""))
        private = VariableSpace([*variables, *_shifted(extra, variables)], self.lanes)
        if extra:
            start = private.variables[-1].start
            for lane in range(self.lanes):
                at = lane * private.stride + start
                private.bytes[at:at + len(data)] = np.frombuffer(data, np.uint8)
                private.origin[at:at + len(data)] = 0  # type: ignore[index]
        found["Function"] = warp.private = private
        for storage in ("PushConstant", "UniformConstant"):
            space = VariableSpace(self.variables[storage], 1, is_written=True)
            data = self.parameters.get(storage, b"")
            space.bytes[:len(data)] = np.frombuffer(data, np.uint8)[:len(space.bytes)]
            found[storage] = space
        for storage in ("Workgroup", "Function", "PushConstant", "UniformConstant"):
            for index, it in enumerate(self.program_variables(storage)):
                number = 0 if storage == "Workgroup" and self.program.decoration(
                    it.result, "Aliased") is not None else index
                warp.v[it.result] = np.array([[VariableSpace.base(number)]], np.uint64)
        for id, value in self.parameters.get("", {}).items():
            warp.v[id] = value
        if extra:
            warp.v[self.program.parameters[0].result] = np.array(
                [[VariableSpace.base(len(variables))]], np.uint64)
        return found

    def program_variables(self, storage: str) -> list[Any]:
        """The module's variables of a storage class."""
        types = self.program.types
        return [it for it in self.program.variables if types[it.result].storage_class == storage]  # type: ignore[attr-defined]

    def builtin(self, warp: Warp, name: str) -> Any:
        """A built-in variable, [lanes or 1, components]."""
        place, lanes = warp.group.place, self.lanes_of_group
        if name == "SubgroupLocalInvocationId":
            return warp.everyone[:, None]
        local = warp.first_lane + warp.everyone
        if name == "SubgroupId":
            return np.array([[warp.index]])
        if name == "WorkgroupId":
            return np.array([place])
        if name == "NumWorkgroups":
            return np.array([self.grid])
        if name == "GlobalOffset":
            return np.zeros((1, 3), np.int64)
        if name == "LocalInvocationIndex":
            return local[:, None]
        if name in ("LocalInvocationId", "GlobalInvocationId"):
            base = place[0] * lanes if name.startswith("Global") else 0
            zero = np.zeros_like(local)
            rest = place[1:] if name.startswith("Global") else (0, 0)
            return np.stack([base + local, zero + rest[0], zero + rest[1]], axis=1)
        if name in ("SubgroupSize", "SubgroupMaxSize"):
            return np.array([[self.lanes]])
        if name == "NumSubgroups":
            return np.array([[lanes // self.lanes]])
        raise Unsupported(f"the built-in variable {name}")

    def is_foreign(self, row: int, group: Group) -> bool:
        """Is a row of the clocks of global memory a lane of another program?"""
        return self.together and row // self.lanes_of_group != group.index

    def name_of(self, row: int) -> str:
        """A lane, for people."""
        lane = row % self.lanes_of_group
        program = f"program {row // self.lanes_of_group}, " if self.together and len(self.groups) > 1 else ""
        return f"{program}lane {lane % self.lanes} of warp {lane // self.lanes}"

    def clocks_of(self, group: Group, lanes: Any, bits: int) -> Iterator[tuple[Clocks, Any]]:
        """The clocks that semantics speak of, and the rows of lanes of a work-group there."""
        if bits & ON_GLOBAL:
            yield self.clocks, group.first_row + lanes
        if bits & ON_SHARED:
            yield group.shared_clocks, lanes

    def order_lanes(self, group: Group, lanes: Any, bits: int) -> None:
        """A control barrier of these lanes."""
        for memory in (ON_GLOBAL, ON_SHARED):
            if orders(self.program, bits, memory):
                for clocks, rows in self.clocks_of(group, lanes, memory):
                    clocks.join(rows)
            elif bits & memory and (acquires(bits) or releases(bits)):
                raise Unsupported(f"a control barrier with semantics {bits:#x}")

    # --- findings

    def origin(self, kind: str, number: int, what: str) -> int:
        """The number of a reason why something is undefined."""
        known = self.known_origins.get((kind, number))
        if known is None:
            known = self.known_origins[kind, number] = len(self.origins)
            self.origins.append((kind, number, what))
        return known

    def report_undefined(self, warp: Warp, number: int, origin: int, what: str) -> None:
        kind, other, why = self.origins[origin]
        self.report(warp, kind or "undefined", number, f"what {what} is undefined ({why})", other)

    def report(self, warp: Warp, kind: str, number: int, what: str, other: int = 0) -> None:
        """Note a finding; the same instruction and kind once."""
        place = self.program.places[number]
        for item in self.findings.items:
            if item.kind == kind and item.line == place.line:
                item.count += 1
                return
        theirs = self.program.places[other] if other else None
        text = f"line {theirs.line}: {theirs.text}" if theirs else ""
        if theirs and theirs.source:
            text += f" ({theirs.source})"
        is_note = kind in NOTES and not self.synchronises
        what = f"program {warp.group.index}, warp {warp.index}: {what}"
        self.findings.items.append(Finding(kind, what, place.line, place.text, place.source, text, self.order,
                                           is_note=is_note))

    # --- going on

    def execute(self) -> None:
        """Run all programs."""
        x, y, z = self.grid
        places = [(i % x, i // x % y, i // (x * y)) for i in range(x * y * z)]
        numbers = list(range(len(places)))
        if self.order == "last" and not self.together:  # else the last of all threads goes first anyway
            numbers.reverse()
        if self.lanes_of_group > 1 or self.together:
            self.memory.shadow = Shadow(len(self.memory.bytes), self.clocks, self.lanes)
        batches = [numbers] if self.together else [[number] for number in numbers]
        with np.errstate(all="ignore"):
            for batch in batches:
                if not self.together:
                    self.clocks = Clocks(self.rows)
                    if self.memory.shadow is not None:
                        self.memory.shadow = Shadow(len(self.memory.bytes), self.clocks, self.lanes)
                rows = [n * self.lanes_of_group if self.together else 0 for n in batch]
                self.groups = {n: Group(self, n, places[n], row) for n, row in zip(batch, rows, strict=True)}
                self._finish([Thread(warp, warp.execute()) for group in self.groups.values()
                              for warp in group.warps])

    def _finish(self, threads: list[Thread]) -> None:
        """Let threads go on until all are done."""
        turn = 0
        members: dict[int, list[Thread]] = {}
        for thread in threads:
            members.setdefault(thread.warp.group.index, []).append(thread)
        while True:
            ready = [thread for thread in threads if thread.waiting is None and not thread.is_done]
            if not ready:
                return
            if self.order == "random":
                thread, burst = self.random.choice(ready), self.random.choice((1, 1, 2, 8, 50))
            elif self.order == "together":
                thread, burst = ready[turn % len(ready)], 1
            else:  # who does not come to an end may be waiting for others: they have their turns
                least = min(thread.pauses // BURST for thread in ready)
                thread = [thread for thread in ready if thread.pauses // BURST == least][
                    -1 if self.order == "last" else 0]
                burst = BURST
            turn += 1
            before = self.steps
            self._go_on(thread, burst)
            if thread.waiting is not None or thread.is_done:
                self._release(members[thread.warp.group.index])
            self.in_vain = 0 if self.goes_on or thread.is_done or not self.together \
                else self.in_vain + self.steps - before
            self.goes_on = False
            if self.steps > MOST_STEPS or self.in_vain > MOST_IN_VAIN // 4 * max(4, len(threads)):
                warp = thread.warp
                self.report(warp, "no-end", self.program.blocks[int(warp.at.min())].end_number,
                            f"still running after {self.steps} instructions")
                return

    def _go_on(self, thread: Thread, burst: int) -> None:
        before = thread.warp.steps
        for _ in range(burst):
            thread.pauses += 1
            at = next(thread.way, None)
            if at is None:
                thread.is_done = True
                break
            if at.barrier:
                thread.waiting = at
                self._check_barrier(thread.warp, at)
                break
        self.steps += thread.warp.steps - before + 1
        self.findings.instructions += thread.warp.steps - before

    def _check_barrier(self, warp: Warp, at: Step) -> None:
        if not warp.full:
            warp.report("divergent-barrier", at.number,
                        f"{len(warp.active)} of {warp.lanes} lanes wait here")

    def _release(self, threads: Sequence[Thread]) -> None:
        """Open the barrier of a program, when all its warps wait or have ended."""
        waiting = [thread for thread in threads if thread.waiting is not None]
        ended = sum(thread.is_done for thread in threads)
        if not waiting or len(waiting) + ended < len(threads):
            return
        first = waiting[0].waiting
        assert first is not None
        if ended:
            waiting[0].warp.report("missed-barrier", first.number,
                                   f"{ended} of {len(threads)} warps have ended")
        for thread in waiting[1:]:
            if thread.waiting is not first:
                assert thread.waiting is not None
                thread.warp.report("different-barriers", first.number, "warps wait at two barriers",
                                   thread.waiting.number)
        lanes = np.concatenate([thread.warp.first_lane + thread.warp.active for thread in waiting])
        bits = semantics(self.program, self.program.body[first.number].words[2])
        self.order_lanes(waiting[0].warp.group, lanes, bits)
        for thread in waiting:
            thread.waiting = None


def _variables(program: Program) -> dict[str, list[Variable]]:
    """Per storage class the module's variables, one behind the other; those that are aliased share bytes."""
    found: dict[str, list[Variable]] = {name: [] for name in ("Function", "Workgroup", "PushConstant",
                                                             "UniformConstant")}
    for it in program.variables:
        pointer: Any = program.types[it.result]
        if pointer.storage_class not in found:
            continue
        held = found[pointer.storage_class]
        name = program.contents.names.get((it.result,), f"var_{it.result}")
        given = program.decoration(it.result, "Alignment")
        start = max((one.start + one.bytes for one in held), default=0)
        start += -start % 64
        if program.decoration(it.result, "Aliased") is not None and held:
            start = held[0].start
        held.append(Variable(name, size(pointer.pointee), start,
                             max(alignment(pointer.pointee), given[0] if given else 1)))
    shared = found["Workgroup"]
    if len({one.start for one in shared}) < len(shared):  # they lie over each other
        shared[0] = Variable(shared[0].name, max(one.bytes for one in shared), shared[0].start,
                             max(one.alignment for one in shared))
    return found


def _shifted(extra: Sequence[Variable], before: Sequence[Variable]) -> list[Variable]:
    end = max((one.start + one.bytes for one in before), default=0)
    end += -end % 64
    return [Variable(one.name, one.bytes, end + one.start, one.alignment) for one in extra]
