"""verify(graph): is it a function? Blocks and their ends, structured control flow, definitions before uses.

What spirv-val says of a whole module takes a tool and names no pass. This is what a pass can break in a
function: specification, 2.4 (order of blocks), 2.11 (structured control flow), 2.16.1 (dominance). """

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...errors import InternalError
from ..values import Words
from .graph import BRANCH, ENDS, LINES, LOOP_MERGE, MERGES, OPCODE, PHI, Block, Graph, id_places, name_of


def verify(graph: Graph, stage: str, outside: Iterable[int]) -> None:
    """InternalError names the stage and what does not hold. outside: the ids that are made in no block."""
    _Verifier(graph, stage, outside).run()


class _Verifier:
    """`made`: where each value is made: the number of its block, its place there."""

    def __init__(self, graph: Graph, stage: str, outside: Iterable[int]) -> None:
        self.graph, self.stage = graph, stage
        self.reached = {0}
        self.made = dict.fromkeys(outside, (0, -1))
        self.made |= {words[2]: (0, -1) for words in (*graph.head, *graph.function.variables)}
        for words in graph.function.opening:
            self._make(words, 0, -1)
        for block in graph.blocks:
            self.made[block.label] = (block.number, -1)
            for at, words in enumerate(block.instructions):
                self._make(words, block.number, at)

    def _make(self, words: Words, block: int, at: int) -> None:
        value = self.graph.result(words)
        if value in self.made:
            self.fail(words, f"%{value} is made twice")
        if value:
            self.made[value] = block, at

    def fail(self, words: Words, what: str) -> None:
        text, name = " ".join(map(str, words[1:])), self.graph.function.name
        raise InternalError(f"after {self.stage}: {name}: {name_of(words)} {text}: {what}")

    def run(self) -> None:
        for block in self.graph.blocks:
            if block.number in self.reached:
                self.reached.update(after.number for after in block.after)
        for block in self.graph.blocks:
            self._form(block)
            self._structure(block)
            if block.number in self.reached:
                self._uses(block)

    def _form(self, block: Block) -> None:
        """Phis first, a merge instruction right before the terminator, which is the only one."""
        behind_phis = False
        for at, words in enumerate(block.instructions):
            number, left = words[0] & OPCODE, len(block.instructions) - at
            if words[0] >> 16 != len(words):
                self.fail(words, f"it has {len(words)} words")
            if number == PHI and behind_phis:
                self.fail(words, "a phi stands behind another instruction")
            behind_phis |= number != PHI and number not in LINES
            if (number in ENDS) != (left == 1):
                self.fail(words, "a block ends with one terminator, and has no other")
            if number in MERGES and left != 2:
                self.fail(words, "a merge instruction stands right before the terminator")

    def _structure(self, block: Block) -> None:
        """Ways go into a construct through its header only, and back to the headers of loops only; whoever
        chooses between ways into blocks says where they meet."""
        merge, graph = block.merge, self.graph
        for after in block.after:
            header = after.merge
            loops = header is not None and header[0] & OPCODE == LOOP_MERGE
            if after.number <= block.number and not (loops and graph.dominates(after.number, block.number)):
                self.fail(block.terminator, "it goes back to a block that is no header of a loop around it")
        if merge is None:
            exits = {label for construct in graph.constructs[block.number].around
                     for label in _exits(graph, construct.header)}
            ways = {after.label for after in block.after}
            if block.terminator[0] & OPCODE != BRANCH and len(ways - exits) > 1:
                self.fail(block.terminator, "nothing says where its ways meet")
            return
        for label in merge[1:3] if merge[0] & OPCODE == LOOP_MERGE else merge[1:2]:
            target = graph.by_label.get(label)
            if target is None:
                self.fail(merge, f"%{label} is no block")
            elif target.number in self.reached and not graph.dominates(block.number, target.number):
                self.fail(merge, f"ways lead to %{label} that do not come through here")

    def _uses(self, block: Block) -> None:
        before = sorted(other.label for other in block.before)
        for at, words in enumerate(block.instructions):
            if words[0] & OPCODE == PHI:
                if sorted(words[4::2]) != before:
                    self.fail(words, f"control comes from {before}")
                for value, label in zip(words[3::2], words[4::2], strict=True):
                    origin = self.graph.by_label[label]
                    if origin.number in self.reached:
                        self._use(words, value, origin.number, len(origin.instructions))
                continue
            for place in id_places(words) if words[0] & OPCODE not in LINES else ():
                self._use(words, words[place], block.number, at)

    def _use(self, words: Words, value: int, block: int, at: int) -> None:
        home, place = self.made.get(value, (-1, 0))
        if home < 0:
            self.fail(words, f"nothing makes %{value}")
        elif value not in self.graph.by_label and (
                place >= at if home == block else not self.graph.dominates(home, block)):
            self.fail(words, f"%{value} is not made on every way to here")


def _exits(graph: Graph, header: int) -> Iterator[int]:
    """The labels that a construct may be left for, or its round ended."""
    merge = graph.blocks[header].merge
    assert merge is not None
    yield from merge[1:3] if merge[0] & OPCODE == LOOP_MERGE else merge[1:2]
