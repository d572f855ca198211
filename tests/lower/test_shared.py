"""Which barriers are needed: over straight code, branches and loops, given as instructions."""

from __future__ import annotations

import pytest
from triton_spirv.errors import InternalError
from triton_spirv.lower.addresses.ownership import Owned
from triton_spirv.lower.lanes.meeting import Global, LaneMeetings
from triton_spirv.lower.values.allocation import Apart, Range, Turn
from triton_spirv.spirv import Function, FunctionType, Module, Void
from triton_spirv.spirv.passes.barriers import OF_WARP, Place, needed_barriers
from triton_spirv.spirv.passes.graph import Graph, instruction
from triton_spirv.spirv.passes.verify_barriers import require_kept, require_separated

LOW, HIGH, BOTH = Range(0, 16), Range(16, 32), Range(8, 24)


class Program:
    """Blocks of accesses; `needed` names those whose barrier stays."""

    def __init__(self) -> None:
        self.code: list[list[int]] = []
        self.places: list[Place] = []
        self.names: dict[int, str] = {}
        self.headers: list[int] = []

    def block(self, label: int, *accesses: tuple[str, str, Range | Global | None],
              to: tuple[int, ...] = ()) -> None:
        """Accesses are (name, "r" or "w", bytes); a barrier of the program has no bytes."""
        self.code.append(instruction("OpLabel", label))
        for name, kind, bytes in accesses:
            words = instruction("OpControlBarrier", len(self.code))
            self.code.append(words)
            self.places.append(Place(words, kind == "w", bytes))
            self.names[id(self.places[-1])] = name
        ends = {0: ("OpReturn",), 1: ("OpBranch", *to), 2: ("OpBranchConditional", 99, *to)}
        self.code.append(instruction(*ends[len(to)]))

    def graph(self) -> Graph:
        function = Function(98, FunctionType(Void(), ()), "kernel")
        function.instructions, function.variables_at = [instruction("OpFunction"), *self.code], 2
        return Graph(Module(), function)

    def found(self) -> dict[int, int]:
        """What is found is enough, and nothing of it is too much."""
        found = needed_barriers(self.graph(), self.places, LaneMeetings(), self.headers)
        self.verify(found)
        for place in found:
            with pytest.raises(InternalError, match=r"no barrier separates them|asks for is dropped"):
                self.verify({other: width for other, width in found.items() if other != place})
        return found

    def verify(self, kept: dict[int, int]) -> None:
        require_separated(self.graph(), self.places, kept, LaneMeetings(), self.headers)

    def needed(self) -> str:
        return " ".join(self.names[place] for place in self.found())

    def widths(self) -> list[int]:
        return list(self.found().values())


def test_straight_code() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), ("b", "r", LOW), ("c", "r", LOW), ("d", "w", LOW), ("e", "w", LOW))
    assert p.needed() == "b d e"


def test_ranges_apart_do_not_meet() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), ("b", "w", HIGH), ("c", "r", LOW), ("d", "r", HIGH), ("e", "w", BOTH))
    assert p.needed() == "c e", "one barrier serves both readers"


def test_a_barrier_of_the_program_counts() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), ("own", "r", None), ("b", "r", LOW))
    assert p.needed() == "own"


def test_branches_join_what_either_did() -> None:
    p = Program()
    p.block(1, to=(2, 3))
    p.block(2, ("a", "w", LOW), to=(4,))
    p.block(3, ("b", "r", HIGH), to=(4,))
    p.block(4, ("c", "r", LOW), ("d", "r", HIGH), ("e", "w", HIGH))
    assert p.needed() == "c e"


def test_global_memory_of_one_argument_is_kept_in_order() -> None:
    pointers = Owned(("p",), (), frozenset())
    mine, other, moved = Global(1, pointers), Global(2), Global(1)
    p = Program()
    p.block(1, ("a", "r", mine), ("b", "w", mine), ("c", "w", other), ("d", "r", moved))
    assert p.needed() == "d", "a lane may overwrite what it read itself; others must wait"
    own, third = Global(2, exposed=False), Global(4, exposed=False)
    release = Global(1, releases=True, exposed=False)
    p = Program()
    p.block(1, ("a", "r", own), ("b", "w", release), ("c", "r", own), ("d", "w", third), ("e", "w", release))
    assert p.needed() == "e", "who sees the last access must see the write before it"
    acquire = Global(1, acquires=True, exposed=False)
    p = Program()
    p.block(1, ("a", "w", acquire), ("b", "r", own), ("c", "r", third), ("d", "r", Global(8)))
    assert p.needed() == "d", "what others may write is read behind the access that acquires"


def test_loops_meet_themselves() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), to=(2,))
    p.block(2, to=(3, 4))
    p.block(3, ("b", "r", LOW), to=(2,))
    p.block(4, ("c", "r", LOW))
    assert p.needed() == "b c", "both follow the write before the loop; the reads do not meet each other"
    p = Program()
    p.block(1, to=(2,))
    p.block(2, to=(3, 4))
    p.block(3, ("a", "w", LOW), ("b", "r", LOW), to=(2,))
    p.block(4)
    assert p.needed() == "a b", "the write follows the read of the round before"


def test_copies_in_turn_want_one_barrier_a_round() -> None:
    """What the next round reads is written while this one reads the other copy."""
    this, following = Turn(0, 32, 0, False), Turn(0, 32, 0, True)
    p = Program()
    p.block(1, ("first", "w", this), to=(2,))
    p.block(2, to=(3, 4))
    p.block(3, ("read", "r", this), ("again", "r", this), ("ahead", "w", following), to=(2,))
    p.block(4, ("after", "w", LOW))
    p.headers = [2]
    assert p.needed() == "read after"


def test_parts_of_warps() -> None:
    mine, others = Apart(0, 32, 1), Apart(0, 32, 2)
    p = Program()
    p.block(1, ("a", "w", mine), ("b", "r", mine), ("c", "w", mine), ("d", "r", others), ("e", "w", LOW))
    assert p.needed() == "b c d e"
    assert p.widths() == [1, 1, 2, 2]


def test_a_barrier_that_a_pass_has_lost_is_missed() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), ("b", "r", LOW))
    kept, graph = p.found(), p.graph()
    require_kept(graph, p.places, kept)
    graph.blocks[0].instructions.remove(p.places[1].barrier)
    with pytest.raises(InternalError, match="separates two accesses is dropped"):
        require_kept(graph, p.places, kept)


def test_a_narrow_barrier_does_not_do_for_all_lanes() -> None:
    p = Program()
    p.block(1, ("a", "w", LOW), ("b", "r", LOW))
    with pytest.raises(InternalError, match="no barrier separates them"):
        p.verify(dict.fromkeys(p.found(), OF_WARP))
