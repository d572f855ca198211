"""The text of a plan: a line for each decision, indented by the loops and branches around it.

    plan of softmax_rows for cpu
    walk for tt.reduce softmax.py:12:8, keeps %x in array 0
      64 turns
        versions: do all masks hold in this window?
          hot
            load %x softmax.py:10:16: proven, 4 of 16 x f32, runs of 16, alignment 64
            write array 0 (%x)

`4 of 16 x f32`: four values of sixteen components. Arrays are numbered in the order in which they appear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...facts.slopes import text as slope_text
from ...ir.model import Operation, PointerType, TensorType
from .accesses import Access, Blocks, Fetch, Fused, FusedLoad, StoredEarly
from .records import (
    Arm,
    ArrayUse,
    Arrives,
    Exchange,
    FoundPanel,
    Interchange,
    Kept,
    Meets,
    Node,
    Overflow,
    Plan,
    Product,
    Region,
    Renamed,
    Turns,
    Versions,
    Walk,
    Zeroed,
)

#: In words, why a turn reads nothing that an earlier one has stored.
PROVEN = {"same pointers": "through the pointers of the store, each turn its own elements",
          "disjoint": "from memory that lies apart",
          "disjoint or same": "from memory that lies apart, or from that of the store, each turn its own "
                              "elements"}


def plan_text(plan: Plan) -> str:
    """The whole plan."""
    printer = _Printer(plan)
    lines = [f"plan of {plan.kernel.attributes['sym_name']} for {plan.target}", *printer.nodes(plan.body, "")]
    return "\n".join(lines) + "\n"


def called(operation: Operation) -> str:
    """An operation by its result, if it has one, and its place: `load %x a.py:3:4`, `store a.py:5:6`."""
    name = operation.name.removeprefix("tt.")
    result = f" %{operation.results[0].name}" if operation.results else ""
    return f"{name}{result} {operation.location}" if operation.location.known else f"{name}{result}"


def called_loop(operation: Operation) -> str:
    """A loop or branch by its place."""
    return f"{operation.name} {operation.location}" if operation.location.known else operation.name


class _Printer:
    def __init__(self, plan: Plan) -> None:
        self.contents = plan.contents

    def nodes(self, nodes: Sequence[Node | FusedLoad], indent: str) -> Iterator[str]:
        """The lines of a body; the same array read twice in a row is one line."""
        last = ""
        for node in nodes:
            head, body = PRINT[type(node)](self, node)
            if head != last or body:
                yield indent + head
            last = head
            for name, inner in body:
                deeper = indent + "  "
                if name:
                    yield deeper + name
                    deeper += "  "
                yield from self.nodes(inner, deeper)

    def content(self, number: int) -> str:
        name = self.contents[number]
        return f" ({name})" if name else ""

    def kept(self, kept: Kept) -> str:
        over = "" if kept.over is None else f", which held {self.contents[kept.over] or 'another value'}"
        return f"keeps %{kept.operation.results[kept.index].name} in array {kept.array}{over}"


_Body = list[tuple[str, tuple[Node | FusedLoad, ...]]]


#: What a test finds out for each register, in words.
PIECES = {"neighbours": "vectors where all are neighbours", "one": "one element where all have one address"}


def _access(printer: _Printer, node: Access) -> tuple[str, _Body]:
    way = node.way + (f" where a test holds, else {node.cold}" if node.cold else "")
    parts = [way]
    if node.blocks is not None:
        parts += _blocks(node.blocks)
    elif node.vectors is not None:
        vectors, layout = node.vectors, node.vectors.layout
        values = f"{layout.registers} of {layout.width}" if layout.registers > 1 else f"{layout.width}"
        parts.append(f"{values} x {_element(node.operation)}")
        if vectors.run > 1:
            parts.append(f"runs of {vectors.run}")
        if vectors.stride:
            parts.append(f"each {vectors.stride} apart")
        if vectors.pieces:
            parts.append(PIECES[vectors.pieces])
        if len(vectors.joined[0]) > 1:
            parts.append(f"{len(vectors.joined[0])} at once")
        if vectors.alignment:
            parts.append(f"alignment {vectors.alignment}")
    if node.streams:
        parts.append("past the caches in large streams")
    return f"{called(node.operation)}: {', '.join(parts)}", []


#: Where the surface of block messages begins, in words.
SURFACE = {"near": "a surface each", "moving": "a surface each, which moves",
           "resting": "a surface that rests", "whole": "the whole matrix"}


def _blocks(blocks: Blocks) -> Iterator[str]:
    message = blocks.message
    wide = f" x {message.count}" if message.count > 1 else ""
    kind = "" if message.kind == "plain" else f" {message.kind}"
    block = f"{blocks.starts.registers} of {message.height}x{message.width}{wide}{kind}"
    yield f"{block} on {SURFACE[blocks.surface]}"
    if blocks.moves is not None:
        yield f"{blocks.moves[1]} further along {blocks.moves[0]} in each round"
    if blocks.edges:
        yield f"edges along {' and '.join(map(str, blocks.edges))}"
    if blocks.ahead:
        yield f"fetched {blocks.ahead} round{'s' * (blocks.ahead > 1)} ahead"


def _element(operation: Operation) -> str:
    type = operation.ptr.type
    pointer = type.element if isinstance(type, TensorType) else type
    return str(pointer.pointee) if isinstance(pointer, PointerType) else str(pointer)


def _fused(printer: _Printer, node: Fused) -> tuple[str, _Body]:
    if not node.loads:
        return f"{called(node.operation)}: everything is loaded before its walk", []
    return f"{called(node.operation)}: its walk loads", [("", node.loads)]


def _fused_load(printer: _Printer, node: FusedLoad) -> tuple[str, _Body]:
    return f"{called(node.operation)}: {PROVEN[node.proof]}", []


def _stored_early(printer: _Printer, node: StoredEarly) -> tuple[str, _Body]:
    apart = " and its memory lies apart from that of the operands" if node.test is not None else ""
    late = ", each while the next one is multiplied" if node.late else ""
    return (f"{called(node.operation)}: tile by tile, from the registers of %{node.product.result.name}, "
            f"where its mask holds{apart}{late}"), []


def _fetch(printer: _Printer, node: Fetch) -> tuple[str, _Body]:
    further = "" if node.distance is None else f", {slope_text(node.distance.slope)} elements on"
    return f"fetch {node.way} of {called(node.operation)}{further}", []


def _use(printer: _Printer, node: ArrayUse) -> tuple[str, _Body]:
    return f"{'write' if node.writes else 'read'} array {node.array}{printer.content(node.content)}", []


def _renamed(printer: _Printer, node: Renamed) -> tuple[str, _Body]:
    return f"array {node.array} goes on{printer.content(node.after)}", []


def _zeroed(printer: _Printer, node: Zeroed) -> tuple[str, _Body]:
    return f"array {node.array} is zero{printer.content(node.content)}, without being written", []


def _arrives(printer: _Printer, node: Arrives) -> tuple[str, _Body]:
    return f"go to place {node.place} with {_arrays(node.arrays)}", []


def _arrays(numbers: Sequence[int]) -> str:
    return f"{'array' if len(numbers) == 1 else 'arrays'} {', '.join(map(str, numbers))}"


def _meets(printer: _Printer, node: Meets) -> tuple[str, _Body]:
    return f"place {node.place}", []


def _product(printer: _Printer, node: Product) -> tuple[str, _Body]:
    rows, columns, depth = node.tile
    form = f", {node.form}" if node.form else ""
    left, right = node.staging
    begins = ", from zero in the first round" if node.begins else ""
    narrow = f", in tiles of {node.narrow} rows where half of a panel is not" if node.narrow else ""
    fewer = f", of {node.fewer} columns where a quarter is not" if node.fewer else ""
    edges = f", but for what is not stored{narrow}{fewer}" if node.edges else ""
    parts = f", fetches between {node.parts} parts" if node.parts > 1 else ""
    kept = ", kept for the next program" if node.keeps else ""
    joins = f", up to {node.joins} rounds together" if node.joins > 1 else ""
    ends = ", up to where both operands end" if node.ends else ""
    return (f"{called(node.operation)}: {node.way}{form}, tiles of {rows}x{columns}x{depth}, left {left}, "
            f"right {right}{kept}{joins}{begins}{edges}{ends}{parts}"), []


def _found_panel(printer: _Printer, node: FoundPanel) -> tuple[str, _Body]:
    return f"array {node.array} (the right operand of {called(node.operation)}, as it was packed)", []


def _exchange(printer: _Printer, node: Exchange) -> tuple[str, _Body]:
    shape = "x".join(map(str, node.shape))
    how = {"shuffles": f"{node.count} shuffles", "registers": "registers change places",
           "blocks": "shared memory, read in blocks",
           "shared memory": f"shared memory, {node.bytes} bytes"
                            + (f", {node.count} rounds" if node.count > 1 else "")}
    return f"exchange {shape}x{node.element}: {how[node.way]}", []


def _overflow(printer: _Printer, node: Overflow) -> tuple[str, _Body]:
    return f"shared memory is full: {node.size}x{node.element} in global memory, byte {node.place}", []


def _interchange(printer: _Printer, node: Interchange) -> tuple[str, _Body]:
    where = "an array" if node.inner else "registers"
    names = ", ".join(f"%{node.operation.results[i].name}" for i in node.carried)
    return f"{called_loop(node.operation)}: each row of {names} goes through all rounds, in {where}", []


def _turns(printer: _Printer, node: Turns) -> tuple[str, _Body]:
    return f"{node.count} turns", [("", node.body)]


def _walk(printer: _Printer, node: Walk) -> tuple[str, _Body]:
    head = "walk" if node.operation is None else f"walk for {called(node.operation)}"
    return ", ".join([head, *map(printer.kept, node.keeps)]), [("", node.body)]


def _versions(printer: _Printer, node: Versions) -> tuple[str, _Body]:
    return f"versions: {node.question}", _arms(node.arms)


def _region(printer: _Printer, node: Region) -> tuple[str, _Body]:
    arms = node.arms if len(node.arms) > 1 else [replace(arm, name="") for arm in node.arms]
    return f"{node.operation.name} {node.operation.location}", _arms(arms)


def _arms(arms: Sequence[Arm]) -> _Body:
    return [(arm.name, arm.body) for arm in arms if arm.body]


PRINT: dict[type, Callable[[_Printer, Any], tuple[str, _Body]]] = {
    Access: _access, Fused: _fused, FusedLoad: _fused_load, StoredEarly: _stored_early, Fetch: _fetch,
    ArrayUse: _use, Renamed: _renamed, Zeroed: _zeroed, Arrives: _arrives, Meets: _meets, Product: _product,
    FoundPanel: _found_panel,
    Exchange: _exchange, Overflow: _overflow, Interchange: _interchange, Turns: _turns, Walk: _walk,
    Versions: _versions, Region: _region,
}
