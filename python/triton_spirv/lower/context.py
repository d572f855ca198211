"""The state of lowering one module: bound values, the loops being walked, and the way from tensors to registers.

`fragment(tensor, layout)` is the heart: it yields registers of any tensor under any layout, evaluating deferred operations,
reading private arrays, or rearranging registers that exist already. `plan` decides, before a loop over a large tensor opens, which
deferred values are computed inside it, which are kept in an array as a by-product, and which must be computed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from ..environment.base import Environment, Parameter
from ..errors import LoweringError, TritonSpirvError
from ..ir.dialects import OPERATIONS
from ..ir.model import Block, Module, Operation, PointerType, TensorType, Type, Value
from ..layout import Layout, row_major
from ..spirv.builder import Builder, I32, with_width
from ..spirv.control import For
from ..spirv.module import Value as Register
from ..spirv.types import Pointer
from ..target import Target
from . import fragment as fragments
from .registry import RULES, SOURCE_LAYOUTS, SYMBOLIC
from .shared import SharedMemory
from .tensor import Affine, Deferred, Fragment, Pointers, Shared, Stored, Tensor, Uniform
from .types import element_of, register_type, shape_of, storage_type

#: A deferred value whose evaluation costs at most this many instructions is computed again rather than kept.
CHEAP = 6


def named(op: Operation, bound: Sequence[Any]) -> list[Any]:
    """Bound operands by the dialect's names: None for an absent one, a tuple for a variadic one."""
    if op.segments is None:
        return list(bound)
    result: list[Any] = []
    start = 0
    for operand, count in zip(OPERATIONS[op.name].operands, op.segments, strict=True):
        part = tuple(bound[start:start + count])
        result.append(part if operand.quantity == "*" else part[0] if part else None)
        start += count
    return result


@dataclass
class Frame:
    """Values of one function instance; `parent` is set for regions that see the values around them."""

    values: dict[Value, Any] = field(default_factory=dict)
    lowered: set[Operation] = field(default_factory=set)
    pending: list[Deferred] = field(default_factory=list)


@dataclass
class Plan:
    """By-products of one walk: deferred values that the loop also writes into arrays."""

    stored: dict[Deferred, Stored] = field(default_factory=dict)


class StepLoop:
    """A loop over `bits` step bits, or straight-line code where there are none; `carried` values go from turn to turn.

    `index` counts turns from 0; a reversed loop visits the last step first.
    """

    def __init__(self, ctx: Context, bits: int, carried: Sequence[Register] = (), reverse: bool = False) -> None:
        self.ctx, self.bits, self.reverse = ctx, bits, reverse
        self.carried = list(carried)
        self.results = list(carried)
        self.index: Register | None = None
        self._loop: For | None = None

    def __enter__(self) -> StepLoop:
        if self.bits:
            b = self.ctx.b
            zero, one = b.constant(I32, 0), b.constant(I32, 1)
            self._loop = For(b.module, zero, b.constant(I32, 1 << self.bits), one, carried=self.carried, control="DontUnroll")
            self._loop.__enter__()
            self.index, self.carried = self._loop.index, list(self._loop.carried)
            step = b.isub((1 << self.bits) - 1, self.index) if self.reverse else self.index
            self.ctx.step_pieces.insert(0, (step, self.bits))
            self.ctx.push_memo()
        return self

    def yield_(self, values: Sequence[Register]) -> None:
        """The carried values of the next turn."""
        self.results = list(values)
        if self._loop is not None:
            self._loop.yield_(list(values))

    def __exit__(self, *exception: Any) -> None:
        if self._loop is not None:
            self.ctx.pop_memo()
            self.ctx.step_pieces.pop(0)
            self._loop.__exit__(*exception)
            if exception[0] is None:
                self.results = list(self._loop.results)


class Context:
    """Everything a rule may ask: `b` builds instructions, `env` knows the environment, `target` the device."""

    def __init__(self, b: Builder, env: Environment, target: Target, functions: dict[str, Operation]) -> None:
        self.b, self.env, self.target = b, env, target
        self.functions = functions
        self.frames = [Frame()]
        self.memo: list[dict[tuple[int, Layout], Fragment]] = [{}]
        self.memo_roots: list[object] = []
        self.step_pieces: list[tuple[Register, int]] = []
        self.plans: list[Plan] = []
        self.proven: list[set[tuple[int, Layout]]] = []
        self.call_stack: list[str] = []
        self.asserts: list[tuple[str, int, str, str]] = []
        self.num_warps = 1
        self.options: dict[str, Any] = {}
        self.hidden: dict[str, Register] = {}
        self.shared_bytes = 0
        self.shared = SharedMemory(self)
        self.prints = False
        self.has_atomics = False

    # --- hidden parameters ------------------------------------------------------------------------------------------

    def hidden_parameters(self, module: Module) -> list[Parameter]:
        """Pointers that the runtime adds behind the user's arguments: the assert word, where the module asserts."""
        asserts = any(op.name == "tt.assert" for op in module.walk())
        return [Parameter("assert_buffer", "ptr", I32)] if asserts else []

    def bind_hidden(self, registers: Sequence[Register]) -> None:
        """The values of `hidden_parameters`, in order."""
        self.hidden = dict(zip(["assert_buffer"], registers, strict=False))

    # --- layouts ----------------------------------------------------------------------------------------------------

    def layout_of(self, type: Type) -> Layout:
        """The layout under which values of a tensor type are held: its encoding's, or row-major in vector mode."""
        assert isinstance(type, TensorType)
        if type.encoding is not None:
            from .encoding import layout_of_encoding
            return layout_of_encoding(type.encoding, type.shape, self.num_warps, self.target.sub_group_size)
        return self.default_layout(type.shape)

    def default_layout(self, shape: tuple[int, ...]) -> Layout:
        """Row-major, walked in steps where the tensor has more registers than fit."""
        return row_major(shape, self.target.vector_width, self.target.max_registers, self.target.window)

    # --- bound values -----------------------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def value(self, value: Value) -> Any:
        """What `value` was bound to: a register (scalars) or a Tensor."""
        return self.frame.values[value]

    def bind(self, value: Value, bound: Any) -> None:
        if isinstance(bound, Deferred):
            self.frame.pending.append(bound)
        self.frame.values[value] = bound

    # --- operations -------------------------------------------------------------------------------------------------

    def lower_block(self, block: Block) -> Operation:
        """Lower every operation; the terminator is returned, not lowered."""
        for op in block.operations[:-1]:
            self.lower(op)
        return block.operations[-1]

    def leave(self, terminator: Operation) -> None:
        """The block of `terminator` is done and its values are passed on: nothing pending in it can be asked for any more."""
        self.frame.lowered.add(terminator)
        self.frame.pending = [node for node in self.frame.pending if node.operation.parent is not terminator.parent]

    def lower(self, op: Operation) -> None:
        """Bind the results of `op`; errors are wrapped once, with the operation, its types and the user's line."""
        self.b.module.location = op.location
        try:
            self._lower(op)
        except TritonSpirvError:
            raise
        except Exception as error:
            raise LoweringError(f"{op.location}: {op.name} on {', '.join(str(v.type) for v in op.operands) or 'nothing'}: "
                                f"{type(error).__name__}: {error}") from error
        self.frame.lowered.add(op)
        self.shared.passed(op)

    def _lower(self, op: Operation) -> None:
        entry = RULES[op.name]
        operands = [self.value(v) for v in op.operands]
        if entry.kind == "lowers":
            results = entry.function(self, op, *named(op, operands))
            results = results if isinstance(results, (tuple, list)) else (results,) if op.results else ()
            for value, bound in zip(op.results, results, strict=True):
                self.bind(value, bound)
            return
        result = op.results[0]
        if not isinstance(result.type, TensorType) and entry.kind == "elementwise":
            self.bind(result, entry.function(self, op, *operands))
            return
        for value, bound in zip(op.results, self._defer(op, operands, entry.weight), strict=True):
            self.bind(value, bound)

    def _defer(self, op: Operation, operands: list[Any], weight: int) -> Sequence[Any]:
        """The cheapest form of tensor results: symbolic, deferred, or registers where that is no longer cheap."""
        form = SYMBOLIC.get(op.name)
        if form is not None:
            known = form(self, op, *named(op, operands))
            if known is not None:
                return (known,)
        type = op.results[0].type
        entry = RULES[op.name]
        if not isinstance(type, TensorType):
            made = entry.function(self, op, None, *named(op, operands))
            return made if isinstance(made, tuple) else (made,)
        if entry.kind == "elementwise" and all(isinstance(x, (Uniform, Register)) for x in operands):
            scalars = [x.scalar if isinstance(x, Uniform) else x for x in operands]
            return (Uniform(type.shape, type.element, entry.function(self, op, *scalars)),)
        below = [x for x in operands if isinstance(x, Deferred) and x.stored is None]
        total = weight + sum(x.weight for x in below)
        reads = op.name == "tt.load" or any(x.reads_memory for x in below)
        nodes: list[Deferred] = []
        for index, result in enumerate(op.results):
            nodes.append(Deferred(type.shape, element_of(result.type), op, tuple(operands), index, total, reads,
                                  siblings=nodes))
        layout = self.layout_of(type)
        if layout.steps == 1 and (reads or total > CHEAP):
            for node in nodes:
                node.stored = self.fragment(node, layout)
        return nodes

    # --- the memo of evaluated fragments ----------------------------------------------------------------------------

    def push_memo(self) -> None:
        """Enter a scope whose code does not dominate what follows it."""
        self.memo.append({})

    def pop_memo(self) -> None:
        self.memo.pop()

    # --- tensors to registers ---------------------------------------------------------------------------------------

    def fragment(self, tensor: Any, layout: Layout) -> Fragment:
        """Registers of `tensor` under `layout`; emits what is needed, once per scope."""
        key = (id(tensor), layout)
        for memo in reversed(self.memo):
            if key in memo:
                return memo[key]
        made = self._fragment(tensor, layout)
        if made.layout != layout:
            raise LoweringError(f"a fragment under {made.layout} where {layout} was asked for")
        self.memo[-1][key] = made
        self.memo_roots.append(tensor)  # keeps id(tensor) unique
        return made

    def is_pointer(self, register: Register) -> bool:
        """Is this a scalar pointer of the environment, rather than an address?"""
        return isinstance(register.type, Pointer)

    def as_scalar(self, register: Register, type: Type) -> Register:
        """A component of a tensor as the scalar value of an IR type: addresses become pointers."""
        return self.env.pointer(register, storage_type(type.pointee)) if isinstance(type, PointerType) else register

    def _fragment(self, tensor: Any, layout: Layout) -> Fragment:
        if isinstance(tensor, Uniform):
            scalar = self.env.address(tensor.scalar) if self.is_pointer(tensor.scalar) else tensor.scalar
            return Fragment(layout, tensor.element, (self.b.splat(scalar, layout.width),) * layout.registers)
        if isinstance(tensor, Deferred) and tensor.stored is not None:
            return self.fragment(tensor.stored, layout)
        bare = fragments.without_broadcast(layout)
        if bare != layout:
            return fragments.broadcast(self.b, self.fragment(tensor, bare), layout)
        if isinstance(tensor, Affine):
            return self.fragment(tensor.exact, layout) if tensor.exact is not None else self._affine(tensor, layout)
        if isinstance(tensor, Pointers):
            return self._addresses(tensor, layout)
        if isinstance(tensor, Shared):
            self.shared.reads(tensor)
            return self.shared.load(tensor, layout)
        if isinstance(tensor, Fragment):
            if not _same_threads(tensor.layout, layout):
                return self._other_threads(tensor, layout)
            if any(layout.step):
                return self.fragment(self.spill(tensor), layout)
            return fragments.rearrange(self.b, tensor, layout)
        if isinstance(tensor, Stored):
            return self._read(tensor, layout)
        assert isinstance(tensor, Deferred), tensor
        return self._evaluate(tensor, layout)

    def _other_threads(self, tensor: Fragment, layout: Layout) -> Fragment:
        """The registers of a fragment under a layout of other lanes or warps."""
        from .convert_layout import convert
        return self.fragment(convert(self, tensor, layout.without_steps()), layout)

    def _evaluate(self, node: Deferred, layout: Layout) -> Fragment:
        op = node.operation
        entry = RULES[op.name]
        location = self.b.module.location
        self.b.module.location = op.location
        if entry.kind == "elementwise":
            rows = [self.registers(x, layout) for x in node.operands]
            registers = [self.b.splat(entry.function(self, op, *column), layout.width) for column in zip(*rows, strict=True)]
            made = Fragment(layout, node.element, tuple(registers))
        else:
            every = entry.function(self, op, layout, *named(op, node.operands))
            made = every[node.index] if isinstance(every, tuple) else every
            if isinstance(every, tuple):
                for sibling, fragment in zip(node.siblings, every, strict=True):
                    self._keep(sibling, fragment)
                self.b.module.location = location
                return made
        self._keep(node, made)
        self.b.module.location = location
        return made

    def _keep(self, node: Deferred, made: Fragment) -> None:
        """Remember a fragment just evaluated; write it to its array where it is a by-product of the current loop."""
        key = (id(node), made.layout)
        if key in self.memo[-1]:
            return
        self.memo[-1][key] = made
        self.memo_roots.append(node)
        for plan in self.plans:
            if node in plan.stored and self.is_natural(made.layout):
                self.write(plan.stored[node], made)

    def registers(self, operand: Any, layout: Layout) -> Sequence[Register]:
        """Registers of an operand under a layout; scalars and uniform tensors stay scalar registers."""
        if isinstance(operand, Uniform):
            return (operand.scalar,) * layout.registers
        if isinstance(operand, Register):
            return (operand,) * layout.registers
        return self.fragment(operand, layout).registers

    def is_natural(self, layout: Layout) -> bool:
        """Is this the layout under which a tensor of this shape is walked (in any order of steps)?"""
        natural = self.default_layout(layout.shape)
        return (layout.origin == 0 and natural.component == layout.component and natural.register == layout.register
                and sorted(natural.step) == sorted(layout.step))

    # --- indices ----------------------------------------------------------------------------------------------------

    def dynamic_index(self, layout: Layout, mask: int = -1, shift: int = 0) -> Register | None:
        """What step, lane and warp contribute to the linear index (its bits `mask`, shifted right), as i32; None for nothing."""
        total: Register | None = None
        low = 0
        for index, bits in self.step_pieces if layout.step else ():
            total = self._span(total, layout.step[low:low + bits], index, mask, shift)
            low += bits
        if any(layout.lane):
            total = self._span(total, layout.lane, self.env.lane_id(), mask, shift)
        if any(layout.warp):
            total = self._span(total, layout.warp, self.env.warp_id(), mask, shift)
        return total

    def _span(self, total: Register | None, bases: tuple[int, ...], index: Register, mask: int, shift: int) -> Register | None:
        """total + the xor of the bases of the bits set in `index`; runs of doubling bases become one shift."""
        b = self.b
        i = 0
        while i < len(bases):
            basis = (bases[i] & mask) >> shift
            run = 1
            while basis and i + run < len(bases) and (bases[i + run] & mask) >> shift == basis << run:
                run += 1
            if basis:
                if basis & (basis - 1):  # several dimensions move at once: select the whole basis
                    bit = b.iand(b.lshr(index, i), 1)
                    part = b.imul(bit, basis)
                else:
                    part = b.lshr(index, i)
                    if i + run < len(bases):
                        part = b.iand(part, (1 << run) - 1)
                    part = b.shl(part, basis.bit_length() - 1)
                total = part if total is None else b.ixor(total, part)
            i += run
        return total

    def dynamic_coordinate(self, layout: Layout, dim: int) -> Register | None:
        """What step, lane and warp contribute to the index in dimension `dim` (i32; None for nothing)."""
        low, bits = layout.dim_bits[dim]
        return self.dynamic_index(layout, ((1 << bits) - 1) << low, low) if bits else None

    def affine_scalar(self, tensor: Affine, layout: Layout, index: int = 0) -> Register:
        """The value at component 0 of the register whose static linear index is `index`."""
        b = self.b
        total = tensor.base
        kind = total.type
        static = layout.unravel(index)
        for d, stride in enumerate(tensor.strides):
            if isinstance(stride, int) and stride == 0:
                continue
            factor = stride if isinstance(stride, Register) else b.constant(kind, stride)
            dynamic = self.dynamic_coordinate(layout, d)
            if dynamic is not None:
                total = b.iadd(total, b.imul(b.resize(dynamic, kind.width), factor))
            if static[d]:
                total = b.iadd(total, b.imul(factor, static[d]))
        return total

    def _affine(self, tensor: Affine, layout: Layout) -> Fragment:
        b = self.b
        parts = [layout.unravel(i) for i in layout.component_indices]
        vector: Register | None = None
        if layout.width > 1:
            constant = [sum(s * p[d] for d, s in enumerate(tensor.strides) if isinstance(s, int)) for p in parts]
            vector = b.constant(with_width(tensor.base.type, layout.width), tuple(constant))
            for d, stride in enumerate(tensor.strides):
                column = tuple(p[d] for p in parts)
                if isinstance(stride, Register) and any(column):
                    vector = b.iadd(vector, b.imul(stride, b.constant(vector.type, column)))
        origin = self.affine_scalar(tensor, layout)
        zero = replace(tensor, base=b.constant(tensor.base.type, 0))
        registers = []
        for index in layout.register_indices:
            scalar = origin
            for d, (stride, i) in enumerate(zip(zero.strides, layout.unravel(index), strict=True)):
                if i and not (isinstance(stride, int) and stride == 0):
                    factor = stride if isinstance(stride, Register) else b.constant(scalar.type, stride)
                    scalar = b.iadd(scalar, b.imul(factor, i))
            registers.append(b.splat(scalar, layout.width) if vector is None else b.iadd(b.splat(scalar, layout.width), vector))
        return Fragment(layout, tensor.element, tuple(registers))

    def _addresses(self, tensor: Pointers, layout: Layout) -> Fragment:
        """64-bit addresses of a tensor of pointers."""
        from .memory import element_offsets
        b = self.b
        size = self.env.pointee_bytes(tensor.base)
        base = b.splat(self.env.address(tensor.base), layout.width)
        offsets = element_offsets(self, tensor, layout)
        return Fragment(layout, tensor.element, tuple(
            base if o is None else b.iadd(base, b.imul(b.splat(o, layout.width), size)) for o in offsets))

    # --- private arrays ---------------------------------------------------------------------------------------------

    def allocate(self, shape: tuple[int, ...], element: Type) -> Stored:
        """A private array for a whole tensor."""
        width = min(prod(shape), self.target.vector_width)
        return Stored(shape, element, self.env.private_array(register_type(element), prod(shape), width), width)

    def write(self, stored: Stored, fragment: Fragment) -> None:
        """Write the registers of a fragment (at the current step) to their places."""
        b, layout = self.b, fragment.layout
        count = min(fragments.contiguous(layout), stored.width)
        dynamic = self.dynamic_index(layout)
        for register, base in zip(fragment.registers, layout.register_indices, strict=True):
            for c in range(0, layout.width, count):
                part = fragments.components(b, register, range(c, c + count))
                index = base ^ layout.component_indices[c]
                self.env.private_store(stored.array, stored.width, self._at(dynamic, index), part)

    def _at(self, dynamic: Register | None, static: int) -> Register:
        b = self.b
        return b.constant(I32, static) if dynamic is None else b.iadd(dynamic, b.constant(I32, static))

    def _read(self, stored: Stored, layout: Layout) -> Fragment:
        b = self.b
        count = min(fragments.contiguous(layout), stored.width)
        dynamic = self.dynamic_index(layout)
        registers = []
        for base in layout.register_indices:
            parts = [self.env.private_load(stored.array, stored.width, register_type(stored.element),
                                           self._at(dynamic, base ^ layout.component_indices[c]), count)
                     for c in range(0, layout.width, count)]
            registers.append(fragments.concatenate(b, parts))
        return Fragment(layout, stored.element, tuple(registers))

    def spill(self, tensor: Fragment) -> Stored:
        """A private array with the same elements, for accesses that only run time knows."""
        key = id(tensor)
        for memo in reversed(self.memo):
            if (key, "stored") in memo:  # type: ignore[comparison-overlap]
                return memo[(key, "stored")]  # type: ignore[index,return-value]
        stored = self.allocate(tensor.shape, tensor.element)
        pieces, self.step_pieces = self.step_pieces, []
        self.write(stored, tensor)
        self.step_pieces = pieces
        self.memo[-1][(key, "stored")] = stored  # type: ignore[index,assignment]
        self.memo_roots.append(tensor)
        return stored

    def stored(self, tensor: Any) -> Stored:
        """The tensor in a private array; large ones are computed in one loop."""
        if isinstance(tensor, Stored):
            return tensor
        if isinstance(tensor, Deferred) and isinstance(tensor.stored, Stored):
            return tensor.stored
        if isinstance(tensor, Deferred):
            self.materialise([tensor])
            return self.stored(tensor.stored)
        if isinstance(tensor, Fragment):
            return self.spill(tensor)
        layout = self.default_layout(tensor.shape)
        made = self.allocate(tensor.shape, tensor.element)
        with StepLoop(self, len(layout.step)):
            self.write(made, self.fragment(tensor, layout))
        return made

    # --- walking large tensors --------------------------------------------------------------------------------------

    def plan(self, op: Operation | None, inputs: Iterable[tuple[Any, Layout]]) -> Plan:
        """Prepare a loop in which `op` consumes tensors under layouts.

        Deferred values that are expensive and needed again afterwards become by-products when the loop visits them in their
        natural order; in any other order they are computed before the loop. Small tensors that the loop indexes by its step are
        put into arrays. Close with `finish`.
        """
        inputs = list(inputs)
        requests = self.requests(inputs)
        result = Plan()
        dying = self._dying(op, inputs)
        for node, layouts in requests:
            if isinstance(node, Fragment):
                if any(any(layout.step) for layout in layouts):
                    self.spill(node)
                continue
            if node.stored is not None or _is_view(node) or not (node.reads_memory or node.weight > CHEAP):
                continue
            if all(self.is_natural(layout) for layout in layouts):
                if self.needed_later(node, op, result):
                    result.stored[node] = self._taken_over(node, dying) or self.allocate(node.shape, node.element)
            elif any(layout.steps > 1 for layout in layouts):
                self.materialise([node])
        self.plans.append(result)
        return result

    def _dying(self, op: Operation | None, inputs: Iterable[tuple[Any, Layout]]) -> list[Stored]:
        """Arrays that this walk reads element by element in natural order, and nothing reads after it.

        A by-product may overwrite such an array: each element is read before it is written. Both must belong to the block of `op`; an
        outer array is read again by the next iteration.
        """
        found: dict[Deferred, bool] = {}
        seen: set[tuple[int, Layout]] = set()
        for tensor, layout in inputs:
            for node, asked in _walk(tensor, layout, seen):
                if isinstance(node.stored, Stored):
                    found[node] = found.get(node, True) and self.is_natural(asked)
        if op is None:
            return []
        return [node.stored for node, natural in found.items()  # type: ignore[misc]
                if natural and node.operation.parent is op.parent and not self.needed_later(node, op)]

    def _taken_over(self, node: Deferred, dying: list[Stored]) -> Stored | None:
        for stored in dying:
            if prod(stored.shape) == prod(node.shape) and register_type(stored.element) == register_type(node.element):
                dying.remove(stored)
                return Stored(node.shape, node.element, stored.array, stored.width)
        return None

    def finish(self, plan: Plan) -> None:
        """The loop is over: its by-products are arrays from now on."""
        self.plans.remove(plan)
        for node, stored in plan.stored.items():
            node.stored = stored

    def requests(self, inputs: Iterable[tuple[Any, Layout]]) -> list[tuple[Any, set[Layout]]]:
        """Every deferred or small tensor below the inputs with the layouts asked of it, consumers before producers."""
        found: dict[Any, set[Layout]] = {}
        order: list[Any] = []
        seen: set[tuple[int, Layout]] = set()

        def visit(tensor: Any, layout: Layout) -> None:
            if isinstance(tensor, Pointers):
                for term in (tensor.affine, *tensor.terms):
                    if term is not None:
                        visit(term, layout)
                return
            if isinstance(tensor, Affine):
                if tensor.exact is not None:
                    visit(tensor.exact, layout)
                return
            if isinstance(tensor, Deferred) and tensor.stored is not None:
                return visit(tensor.stored, layout)
            if not isinstance(tensor, (Deferred, Fragment)) or (id(tensor), layout) in seen:
                return
            seen.add((id(tensor), layout))
            key = tensor if isinstance(tensor, Deferred) else _Identity(tensor)
            found.setdefault(key, set()).add(layout)
            if isinstance(tensor, Deferred):
                source = SOURCE_LAYOUTS.get(tensor.operation.name)
                for operand in tensor.operands:
                    if not isinstance(operand, Register) and operand is not None:
                        for each in (operand if isinstance(operand, tuple) else (operand,)):
                            visit(each, fragments.without_broadcast(source(tensor.operation, layout)) if source else layout)
            order.append(key)

        for tensor, layout in inputs:
            visit(tensor, layout)
        return [(key.tensor if isinstance(key, _Identity) else key, found[key]) for key in reversed(order)]

    def needed_later(self, node: Deferred, op: Operation | None, plan: Plan | None = None) -> bool:
        """Will an operation other than `op` ask for the node again?"""
        return any(self._asks_later(user, op, plan) for user, _ in node.operation.results[node.index].uses)

    def _asks_later(self, user: Operation, op: Operation | None, plan: Plan | None) -> bool:
        if user is op:
            return False
        if user not in self.frame.lowered:
            return True
        for result in user.results:
            bound = self.frame.values.get(result)
            if isinstance(bound, Affine):
                bound = bound.exact
            if isinstance(bound, Pointers):
                return any(self._asks_later(u, op, plan) for u, _ in result.uses)
            if isinstance(bound, Deferred) and bound.stored is None and not (plan is not None and bound in plan.stored):
                return any(self._asks_later(u, op, plan) for u, _ in result.uses)
        return False

    def materialise(self, nodes: Sequence[Deferred]) -> None:
        """Compute deferred tensors now, those of one size in one loop, and keep them."""
        groups: dict[tuple[int, ...], list[Deferred]] = {}
        for node in nodes:
            if node.stored is None:
                groups.setdefault((prod(node.shape),), []).append(node)
        for group in groups.values():
            layouts = [self.layout_of(node.operation.results[node.index].type) for node in group]
            if layouts[0].steps == 1:
                for node, layout in zip(group, layouts, strict=True):
                    node.stored = self.fragment(node, layout)
                continue
            from .masks import guarded
            arrays = {node: self.allocate(node.shape, node.element) for node in group}
            below = [x for node, layout in zip(group, layouts, strict=True) for x in self._below(node, layout)]
            plan = self.plan(None, below)
            plan.stored.update(arrays)
            with StepLoop(self, len(layouts[0].step)):
                def evaluate(group: Sequence[Deferred] = group, layouts: Sequence[Layout] = layouts) -> list[Register]:
                    for node, layout in zip(group, layouts, strict=True):
                        self.fragment(node, layout)
                    return []
                guarded(self, below, [], evaluate)
            self.finish(plan)

    def _below(self, node: Deferred, layout: Layout) -> Iterable[tuple[Any, Layout]]:
        source = SOURCE_LAYOUTS.get(node.operation.name)
        for operand in node.operands:
            for each in (operand if isinstance(operand, tuple) else (operand,)):
                if each is not None and not isinstance(each, Register):
                    yield each, fragments.without_broadcast(source(node.operation, layout)) if source else layout

    def settle(self, memory_only: bool, op: Operation | None = None) -> None:
        """Compute what is pending before code runs that it must not move across: a write (memory_only) or a region."""
        kept = []
        chosen = []
        for node in self.frame.pending:
            if node.stored is not None:
                continue
            kept.append(node)
        taken = Plan()
        for node in reversed(kept):
            expensive = node.reads_memory or not memory_only and node.weight > CHEAP
            if expensive and not _is_view(node) and self.needed_later(node, op, taken):
                taken.stored[node] = None  # type: ignore[assignment]
                chosen.append(node)
        self.materialise(chosen)
        self.frame.pending = [node for node in kept if node.stored is None]


def _same_threads(have: Layout, want: Layout) -> bool:
    """Does every lane hold under `have` what it needs under `want`? (No lanes: all of them hold the same.)"""
    def own(bases: tuple[int, ...]) -> tuple[int, ...]:
        return bases if any(bases) else ()
    return own(have.lane) == own(want.lane) and own(have.warp) == own(want.warp)


def _is_view(node: Deferred) -> bool:
    """A view of one tensor: its operand is worth keeping, not the view."""
    entry = RULES[node.operation.name]
    return entry.kind == "pulled" and entry.weight == 0


def _walk(tensor: Any, layout: Layout, seen: set[tuple[int, Layout]]) -> Iterable[tuple[Deferred, Layout]]:
    """Every deferred value below a tensor with the layout asked of it; what lies below a computed one is not visited."""
    if isinstance(tensor, (Pointers, Affine, tuple)):
        parts = (tensor.affine, *tensor.terms) if isinstance(tensor, Pointers) else tensor
        for part in (tensor.exact,) if isinstance(tensor, Affine) else parts:
            yield from _walk(part, layout, seen)
    elif isinstance(tensor, Deferred) and (id(tensor), layout) not in seen:
        seen.add((id(tensor), layout))
        yield tensor, layout
        if tensor.stored is None:
            source = SOURCE_LAYOUTS.get(tensor.operation.name)
            below = fragments.without_broadcast(source(tensor.operation, layout)) if source else layout
            for operand in tensor.operands:
                yield from _walk(operand, below, seen)


@dataclass(frozen=True)
class _Identity:
    """A tensor compared by identity, as a key."""

    tensor: Any

    def __hash__(self) -> int:
        return id(self.tensor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.tensor is self.tensor


__all__ = ["Context", "StepLoop", "element_of", "shape_of"]
