"""Elements that change registers and lanes inside sub-groups: the maps that lanes/conversion.py finds."""

from __future__ import annotations

from ...dataclass import dataclass

Map = tuple[int, ...]  # the image of each bit, least significant first


@dataclass(frozen=True)
class Shuffles:
    """A conversion inside sub-groups; all maps are linear, bit by bit.

    pick      by source lane, pick_warp by warp: what is added to the register that is sent
    register  by round: the register that is sent;     register_origin: added to all
    lane      by target lane, lane_warp by warp, lane_round by round, lane_origin: the lane that is read
    turn      by target lane: what is added to the round to get the target's register
    """

    pick: Map
    pick_warp: Map
    register: Map
    register_origin: int
    lane: Map
    lane_warp: Map
    lane_round: Map
    lane_origin: int
    turn: Map

    @property
    def crosses(self) -> bool:
        """Is the lane that is read anything but the lane itself with some bits flipped, the same in all
        lanes?"""
        own = tuple(1 << bit for bit in range(len(self.lane)))
        return self.lane != own or any(self.lane_warp)

    @property
    def stays(self) -> bool:
        """Does every lane read only itself, so that no shuffle is needed?"""
        return not self.crosses and not any((*self.lane_round, self.lane_origin))

    @property
    def is_static(self) -> bool:
        """Is it a permutation of registers that is the same in all lanes?"""
        return self.stays and not any((*self.pick, *self.pick_warp, *self.turn))
