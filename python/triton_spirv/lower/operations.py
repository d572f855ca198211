"""`Operations`: lowers operations one by one, and binds their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import InternalError, LoweringError, TritonSpirvError, is_interruption
from ..ir.model import Block, Operation, TensorType
from ..layout import Layout
from ..spirv.module import Value as Register
from .registry import RULES, SYMBOLIC, named, parts_of_load
from .values.tensor import DEEP, Bound, Deferred, Fragment, Shared, Tensor, Uniform, depth_of
from .values.types import element_of
from .walk.requests import CHEAP

if TYPE_CHECKING:
    from .context import Context

#: Loads under one mask and one layout, behind one branch (memory).
LoadTogether = Callable[["Context", Sequence[Deferred], Layout], list[Fragment]]

#: What a loop's products read, in shared memory; None where it does not lie there (intel).
Resident = Callable[["Context", Operation, Deferred], Shared | None]


def _place(op: Operation) -> str:
    """`softmax.py:15:13: tt.scan on tensor<8x128xf16>`"""
    return f"{op.location}: {op.name} on {', '.join(str(v.type) for v in op.operands) or 'nothing'}"


#: What evaluating a load takes of Python's stack, in operations element by element.
LOAD_DEPTH = 3


class Operations:
    """It gives each rule the context. A result that is deferred waits for who asks for it, lanes' loads for
    the first who does."""

    def __init__(self, ctx: Context, load_together: LoadTogether, resident: Resident) -> None:
        self._ctx, self._load_together, self._resident = ctx, load_together, resident
        self._waiting: list[Deferred] = []  # loads of lanes that are not emitted yet
        self._ahead: set[Operation] = set()  # lowered before their turn
        self._defers = False  # small tensors wait for who asks for them, as large ones do

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within it small tensors are evaluated in windows too, by who asks for them."""
        before, self._defers = self._defers, True
        try:
            yield
        finally:
            self._defers = before

    def block(self, block: Block) -> Operation:
        """Lower every operation; the terminator is returned, not lowered."""
        for op in block.operations[:-1]:
            self.lower(op)
        self.load_waiting()
        return block.operations[-1]

    def leave(self, terminator: Operation) -> None:
        """The block of `terminator` is done and its values are passed on: nothing pending in it can be asked
        for any more.
        """
        frame = self._ctx.bindings.frame
        frame.lowered.add(terminator)
        frame.pending = [node for node in frame.pending if node.operation.parent is not terminator.parent]

    def lower(self, op: Operation) -> None:
        """Bind the results of `op`. A refusal gets the operation, its types and the user's line, once; any
        exception that is not of this package is a defect of it: InternalError, with the same place.
        """
        if op in self._ahead:
            self._ahead.remove(op)
            return
        self._ctx.b.module.location = op.location
        self._ctx.budget.check(op)
        try:
            self._lower(op)
        except LoweringError as error:
            error.place = error.place or _place(op)
            raise
        except (TritonSpirvError, MemoryError, RecursionError):
            raise
        except Exception as error:
            if is_interruption(error):
                raise
            raise InternalError(f"{_place(op)}: {type(error).__name__}: {error}") from error
        self._ctx.bindings.frame.lowered.add(op)
        self._ctx.shared.passed(op)

    def done_ahead(self, op: Operation) -> None:
        """An operation that was lowered before its turn is passed over then."""
        self._ahead.add(op)

    def _lower(self, op: Operation) -> None:
        ctx, entry = self._ctx, RULES[op.name]
        operands = [ctx.bindings.value(v) for v in op.operands]
        if self._waiting and (
                entry.kind == "lowers" or any(x is node for x in operands for node in self._waiting)):
            self.load_waiting()
        if entry.kind == "lowers":
            results = entry.function(ctx, op, *named(op, operands))
            results = results if isinstance(results, (tuple, list)) else (results,) if op.results else ()
            for value, bound in zip(op.results, results, strict=True):
                ctx.bindings.bind(value, bound)
            return
        result = op.results[0]
        if not isinstance(result.type, TensorType) and entry.kind == "elementwise":
            ctx.bindings.bind(result, entry.function(ctx, op, *operands))
            return
        for value, bound in zip(op.results, self._defer(op, operands, entry.weight), strict=True):
            ctx.bindings.bind(value, bound)

    def load_waiting(self) -> None:
        """Lanes load where the first value is used, or something has an effect: what was asked for under one
        mask until then is loaded behind one branch.
        """
        if not self._waiting:
            return
        ctx = self._ctx
        groups: dict[tuple[Tensor | None, Layout], list[Deferred]] = {}
        for node in self._waiting:
            mask = parts_of_load(node)[1]
            layout = ctx.layouts.of(node.operation.results[0].type)
            groups.setdefault((mask, layout), []).append(node)
        self._waiting.clear()
        location = ctx.b.module.location
        for (_, layout), nodes in groups.items():
            ctx.b.module.location = nodes[0].operation.location
            for node, made in zip(nodes, self._load_together(ctx, nodes, layout), strict=True):
                ctx.scopes.keep(node, made)
        ctx.b.module.location = location

    def _defer(self, op: Operation, operands: list[Bound], weight: int) -> Sequence[Bound]:
        """The cheapest form of tensor results: symbolic, deferred, or registers where that is no longer
        cheap.
        """
        ctx = self._ctx
        form = SYMBOLIC.get(op.name)
        if form is not None:
            known = form(ctx, op, *named(op, operands))
            if known is not None:
                return (known,)
        type = op.results[0].type
        entry = RULES[op.name]
        if not isinstance(type, TensorType):
            made = entry.function(ctx, op, None, *named(op, operands))
            return made if isinstance(made, tuple) else (made,)
        if entry.kind == "elementwise" and all(isinstance(x, (Uniform, Register)) for x in operands):
            scalars = [x.scalar if isinstance(x, Uniform) else x for x in operands]
            return (Uniform(type.shape, type.element, entry.function(ctx, op, *scalars)),)
        below = [x for x in operands if isinstance(x, Deferred) and x.evaluated is None]
        total = weight + sum(x.weight for x in below)
        reads = op.has("loads") or op.has("watches") or any(x.reads_memory for x in below)
        nodes: list[Deferred] = []
        for index, result in enumerate(op.results):
            nodes.append(
                Deferred(
                    type.shape,
                    element_of(result.type),
                    op,
                    tuple(operands),
                    index,
                    total,
                    reads,
                    siblings=nodes,
                    depth=LOAD_DEPTH * op.has("loads") + 1 + max(map(depth_of, operands), default=0),
                    scope=ctx.scopes.innermost,
                )
            )
        layout = ctx.layouts.of(type)
        if "ts.resident" in op.attributes:
            found = self._resident(ctx, op, nodes[0])
            if found is not None:
                return (found,)
        if "ts.waits" in op.attributes or self._defers:
            return nodes
        volatile = bool(op.attributes.get("isVolatile"))
        if op.has("loads") and layout.lane and not volatile and "ts.natural" not in op.attributes:
            self._waiting.append(nodes[0])
        elif layout.steps == 1 and (reads or total > CHEAP):
            for node in nodes:
                ctx.scopes.keep(node, ctx.evaluation.fragment(node, layout))
        elif volatile or nodes[0].depth > DEEP or (  # a volatile load is made once, and where it stands
                (reads or total > CHEAP) and not ctx.target.optimises("chains")):
            ctx.pending.precompute(nodes)
        return nodes
