"""Functions as graphs of basic blocks: cf.br, cf.cond_br, early returns.

Most functions have one block and are lowered in line. The graph of any other is acyclic (loops are scf's),
and becomes nested selections along its dominator tree: a block that only one edge leads to stands in the arm
of that edge; a block where several meet, and the end of the function, stands behind the selection that all of
them come out of, guarded by a selector unless every way leads there. Values travel to such a place in
variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...errors import LoweringError
from ...ir.model import Block, Operation, Region, Type, Value
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Pointer
from ...spirv.types import Type as SpirvType
from ...traversal import Asking, answer
from ..context import Context
from ..plan.records import Node as Planned
from ..values.tensor import Bound, Stored
from ..values.types import is_pointer
from .carry import Carrier, StoredCarrier, carrier_of, write_stored

#: A block by its position in the function; the end of the function behind the last one.
Node = int


def run_function(ctx: Context, region: Region, result_types: Sequence[Type]) -> list[Bound]:
    """Lower the body of a function, or of a combiner, where the module stands now; what it returns.

    Its parameters are bound already.
    """
    if len(region.blocks) == 1:
        terminator = ctx.operations.block(region.entry)
        return [ctx.bindings.value(v) for v in terminator.operands]
    graph = _Graph(ctx, region, result_types)
    graph.emit(0)
    return graph.results


class _Join:
    """A place where edges meet, with the variables of its arguments."""

    def __init__(self, ctx: Context, types: Sequence[Type]) -> None:
        self.ctx = ctx
        self.carriers: list[Carrier] = [carrier_of(ctx, type) for type in types]
        self.variables = [[ctx.b.module.variable(I64 if isinstance(type, Pointer) else type)
                           for type in carrier.types] for carrier in self.carriers]

    @property
    def arrays(self) -> list[Stored]:
        """Those of large tensors."""
        return [each.array for each in self.carriers if isinstance(each, StoredCarrier)]

    def arrive(self, values: Sequence[Bound]) -> None:
        """Put the arguments where `bound` finds them."""
        ctx = self.ctx
        pairs = list(zip(self.carriers, values, strict=True))
        parts = [carrier.registers(value) for carrier, value in pairs]
        write_stored(ctx, [(carrier.array, value) for carrier, value in pairs  # type: ignore[misc]  # a tensor's
                           if isinstance(carrier, StoredCarrier)])
        ctx.recorder.arrives(self.arrays)
        for variables, registers in zip(self.variables, parts, strict=True):
            for variable, register in zip(variables, registers, strict=True):
                word = ctx.env.address(register) if is_pointer(register) else register
                ctx.b.emit("OpStore", variable, word)

    def bound(self) -> list[Bound]:
        """The arguments, behind the place where the edges meet."""
        self.ctx.recorder.meets(self.arrays)
        return [carrier.bound([self._load(variable, type)
                               for variable, type in zip(variables, carrier.types, strict=True)])
                for carrier, variables in zip(self.carriers, self.variables, strict=True)]

    def _load(self, variable: Register, type: SpirvType) -> Register:
        word = self.ctx.b.emit("OpLoad", variable, type=variable.type.pointee)  # type: ignore[attr-defined]
        return self.ctx.env.pointer(word, type.pointee) if isinstance(type, Pointer) else word


class _Graph:
    """The blocks of a function and how they are nested."""

    def __init__(self, ctx: Context, region: Region, result_types: Sequence[Type]) -> None:
        self.ctx, self.blocks = ctx, list(region.blocks)
        self.results: list[Bound] = []
        self.end, self.numbers = len(self.blocks), {block: i for i, block in enumerate(region.blocks)}
        self.successors = [self._successors(block) for block in self.blocks] + [[]]
        self.order = self._topological()
        self.before: list[list[Node]] = [[] for _ in self.successors]
        for node, successors in enumerate(self.successors):
            for successor in successors:
                self.before[successor].append(node)
        self.children = self._dominator_tree()
        self.result_types = result_types
        self.joins: dict[Node, _Join] = {}
        self.selects: bool | None = None  # not asked yet
        self.selector: Register | None = None

    def _successors(self, block: Block) -> list[Node]:
        op = block.operations[-1]
        if op.has("returns"):
            return [self.end]
        if not op.successors or op.name == "cf.switch":
            raise LoweringError("ends a block and has no rule", f"{op.location}: {op.name}")
        return [self.numbers[successor] for successor in op.successors]

    def _topological(self) -> list[Node]:
        """The nodes that can be reached, each before its successors."""
        done: dict[Node, bool] = {}  # False while the search is below it
        found: list[Node] = []

        def visit(node: Node) -> Asking[None]:
            done[node] = False
            for successor in self.successors[node]:
                if successor not in done:
                    yield (successor,)
                elif not done[successor]:
                    op = self.blocks[node].operations[-1]
                    raise LoweringError("jumps back: loops of blocks have no rule; write `for` or `while`",
                                        f"{op.location}: {op.name}")
            done[node] = True
            found.append(node)

        answer(visit, 0)
        return found[::-1]

    def _dominator_tree(self) -> dict[Node, list[Node]]:
        """Per node the nodes that it dominates immediately, in order. (Cooper, Harvey and Kennedy, "A Simple,
        Fast Dominance Algorithm", for a graph without cycles.)"""
        place = {node: i for i, node in enumerate(self.order)}
        above: dict[Node, Node] = {}  # the immediate dominator of each
        children: dict[Node, list[Node]] = {node: [] for node in self.order}
        for node in self.order[1:]:
            ways = [other for other in self.before[node] if other in place]
            meeting = ways[0]
            for other in ways[1:]:
                while meeting != other:
                    if place[meeting] > place[other]:
                        meeting = above[meeting]
                    else:
                        other = above[other]
            above[node] = meeting
            children[meeting].append(node)
        return children

    def _always(self, node: Node, place: Node) -> bool:
        """Does every way from `node` lead through `place`?"""
        seen, left = {place}, [node]
        while left:
            here = left.pop()
            if here == self.end:
                return False
            left += [x for x in self.successors[here] if x not in seen]
            seen.update(self.successors[here])
        return True

    def emit(self, node: Node) -> None:
        """The code of a block and of all that it dominates."""
        ctx = self.ctx
        if node == self.end:
            self.results = self.joins[node].bound()
            return
        block = self.blocks[node]
        inner = [child for child in self.children[node] if len(self.before[child]) > 1 or child == self.end]
        for child in inner:
            types = self.result_types if child == self.end else [a.type for a in self.blocks[child].arguments]
            self.joins[child] = _Join(ctx, types)
        terminator = ctx.operations.block(block)
        ctx.pending.settle(memory_only=False)
        self._leave(node, terminator)
        ctx.bindings.frame.lowered.add(terminator)
        for child in inner:
            if self._always(node, child):
                self._enter(child)
                continue
            assert self.selector is not None
            chosen = ctx.b.emit("OpLoad", self.selector, type=I32)
            with if_(ctx.b.module, ctx.b.compare("OpIEqual", chosen, child)), self._scope():
                ctx.recorder.open()
                self._enter(child)
                entered = ctx.recorder.close()
            ctx.recorder.versions("does the way lead here?", [("here", entered), ("past", ())], may_skip=True)

    def _enter(self, child: Node) -> None:
        if child != self.end:
            for argument, bound in zip(self.blocks[child].arguments, self.joins[child].bound(), strict=True):
                self.ctx.bindings.bind(argument, bound)
        self.emit(child)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self.ctx.scopes.open()
        yield
        self.ctx.scopes.close()

    def _leave(self, node: Node, op: Operation) -> None:
        ctx = self.ctx

        def values(operands: Sequence[Value]) -> list[Bound]:
            return [ctx.bindings.value(v) for v in operands]

        if op.name != "cf.cond_br":
            self._go(self.successors[node][0], values(op.operands))
            return
        # What both ways pass on is fetched before they part.
        arguments = [values(op.true_dest_operands), values(op.false_dest_operands)]
        branch = IfElse(ctx.b.module, ctx.bindings.scalar(op.operands[0]))
        arms: list[tuple[str, tuple[Planned, ...]]] = []
        for arm, target, given in zip((branch.then, branch.otherwise), self.successors[node], arguments,
                                      strict=True):
            with arm(), self._scope():
                ctx.recorder.open()
                self._go(target, given)
                arms.append(("otherwise" if arms else "then", ctx.recorder.close()))
        ctx.recorder.region(op, *arms)

    def _go(self, target: Node, values: list[Bound]) -> None:
        """The edge to a block from where the module stands."""
        ctx = self.ctx
        if target in self.joins:
            self.joins[target].arrive(values)
            if self._selects():
                ctx.b.emit("OpStore", self.selector, ctx.b.constant(I32, target))
            return
        for argument, bound in zip(self.blocks[target].arguments, values, strict=True):
            ctx.bindings.bind(argument, bound)
        self.emit(target)

    def _selects(self) -> bool:
        """Is there a block that some ways to its selection's end do not lead to? The first time, makes the
        selector."""
        if self.selects is None:
            self.selects = any(len(self.before[child]) > 1 and not self._always(node, child)
                               for node, children in self.children.items() for child in children)
            if self.selects:
                self.selector = self.ctx.b.module.variable(I32)
        return self.selects
