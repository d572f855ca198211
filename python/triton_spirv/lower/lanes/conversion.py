"""How a tensor gets from one layout to another without leaving its sub-groups.

Both layouts are linear over xor, so where an element comes from is linear too. Element (register r, lane l)
of warp w of the target lies in the source at

    register    Rr(r) ^ Rl(l) ^ Rw(w)
    lane        Lr(r) ^ Ll(l) ^ Lw(w)

for linear maps that Gaussian elimination finds; where it lies in another warp there is no plan. One shuffle
moves one register of every lane, so the plan has one round per register of the target, and in round `q`
target lane `l` asks for its register q ^ turn(l), where `turn` is chosen such that lanes ask different lanes
(or one lane for one register) in each round: source lane l' is then asked for register c(q) ^ pick(l', w).
Moving registers by an amount that depends on the lane, before and after the shuffle, takes selects only.

Worked example: source register 1, lane 2; target register 2, lane 1 (a transposition of 2x2). Target (r, l)
lies at register l, lane r. turn(l) = l makes the rounds: in round q lane l asks lane q ^ l for register l, so
lane l' sends register q ^ l'.
"""

from __future__ import annotations

from ...dataclass import dataclass
from ...layout import Elimination, Layout, span
from ..plan.shuffles import Map, Shuffles


@dataclass(frozen=True)
class _Place:
    """A register and a lane of the source."""

    register: int
    lane: int

    def __xor__(self, other: _Place) -> _Place:
        return _Place(self.register ^ other.register, self.lane ^ other.lane)


def find_shuffles(source: Layout, target: Layout) -> Shuffles | None:
    """The plan from one layout to another, both without components and steps; None where elements change
    warps."""
    count = len(source.register)
    space = Elimination([*source.register, *source.lane])

    def place(index: int) -> _Place | None:
        found = space.solve(index)
        return None if found is None else _Place(found & (1 << count) - 1, found >> count)

    registers = [place(basis) for basis in target.register]
    lanes = [place(basis) for basis in target.lane]
    warps = [place(have ^ want) for have, want in zip(source.warp, target.warp, strict=True)]
    origin = place(source.origin ^ target.origin)
    if origin is None or None in registers or None in lanes or None in warps:
        return None
    free = sum(1 << bit for bit, basis in enumerate(source.lane) if not basis)
    by_lane = [_Place(at.register, at.lane | 1 << bit & free)
               for bit, at in enumerate(lanes) if at is not None]
    found = _turned([at for at in registers if at is not None], by_lane, free)
    if found is None:
        return None
    turn, asked = found
    pick = _picks(asked, len(source.lane))

    def sent(places: list[_Place | None]) -> Map:
        return tuple(at.register ^ span(pick, at.lane) for at in places if at is not None)

    def read(places: list[_Place | None]) -> Map:
        return tuple(at.lane for at in places if at is not None)

    return Shuffles(pick, sent(warps), sent(registers), sent([origin])[0], read([*asked]), read(warps),
                 read(registers), origin.lane, turn)


def _turned(registers: list[_Place], lanes: list[_Place], free: int) -> tuple[Map, list[_Place]] | None:
    """`turn`, and where each bit of the target lane leads in a round, such that a lane is asked for one
    register only.

    A lane bit that would make two lanes ask one lane for different registers is turned by a register bit that
    leads elsewhere, or asks one of the source's lanes that hold the same (`free`).
    """
    space = Elimination()
    asked: list[_Place] = []
    turn: list[int] = []
    for at in lanes:
        chosen = None
        choices = [(0, at), *((1 << bit, at ^ other) for bit, other in enumerate(registers)),
                   *((0, at ^ _Place(0, 1 << bit)) for bit in range(len(lanes)) if free >> bit & 1)]
        for turned, candidate in choices:
            made = space.solve(candidate.lane)
            implied = None if made is None else span(tuple(x.register for x in asked), made)
            if implied is None or implied == candidate.register:
                chosen = turned, candidate
                break
        if chosen is None:
            return None
        turn.append(chosen[0])
        asked.append(chosen[1])
        space.add(chosen[1].lane)
    return tuple(turn), asked


def _picks(asked: list[_Place], lanes: int) -> Map:
    """By source lane: the register that it is asked for in round 0; anything (0) for lanes that nobody
    asks."""
    space = Elimination()
    registers: list[int] = []
    for at in asked:
        space.add(at.lane)
        registers.append(at.register)
    for bit in range(lanes):
        space.add(1 << bit)
        registers.append(0)
    made = [space.solve(1 << bit) for bit in range(lanes)]
    return tuple(span(tuple(registers), which) for which in made if which is not None)
