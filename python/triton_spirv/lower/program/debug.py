"""What a kernel tells its user: prints and assertions; and hints, which need no code.

A line of output is Triton's own: `pid (x, y, z) idx (i, j) prefix: value`, one per element. A GPU prints a
scalar once per thread of the program. One work-item that runs a whole program prints it once, or as often as
a GPU would for scripts that count on it (`print_copies`).

A failing assertion leaves its number, the program and the element for the launcher (../assertions.py), which
raises. The program ends there, with all its lanes, so that what the assertion guards is not executed: an
access out of bounds would end the process.
"""

from __future__ import annotations

from ...ir.model import FloatType, IntegerType, Operation, PointerType, TensorType, Type, bits_of
from ...spirv.builder import I32, Builder, width_of
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float
from ..assertions import fail, record
from ..context import Context, StepLoop
from ..lanes.elements import guarded, linear_index, owner, redundant, visit_elements, visited_layout
from ..lanes.exchange import anywhere
from ..registry import lowers
from ..values.fragment import components
from ..values.numbers import bool_to_int, is_bool, least, to_arithmetic
from ..values.tensor import Affine, Bound, Tensor, Uniform
from ..values.types import as_scalar, element_of, is_pointer, register_type

INDEX = IntegerType(32)
NOWHERE = (1 << 31) - 1    # the number of no element


# --- tt.print -----------------------------------------------------------------------------------------------


@lowers("tt.print")
def device_print(ctx: Context, op: Operation, args: tuple[Bound, ...]) -> None:
    """args: scalars and tensors of any shapes. `prefix` brings its own spaces and colon."""
    ctx.launch.prints = True
    ctx.pending.settle(memory_only=True)
    pid = [ctx.env.program_id(axis) for axis in range(3)]
    prefix = op.attributes["prefix"].replace("%", "%%")
    if not args:
        _repeated(ctx, f"pid (%u, %u, %u){prefix}\n", pid)
    signs = op.attributes.get("isSigned") or (True,) * len(args)
    hex = bool(op.attributes.get("hex", False))
    for i, (value, bound) in enumerate(zip(op.args, args, strict=True)):
        element, signed = element_of(value.type), bool(signs[i]) and not hex
        start = f"pid (%u, %u, %u) idx ({{}}){prefix}" + f"(operand {i}) " * (len(args) > 1)
        line = start + _form(element, hex, signed) + "\n"
        if isinstance(value.type, TensorType):
            assert not isinstance(bound, Register)
            _print_tensor(ctx, op, value.type, bound, pid, line, signed)
        else:
            assert isinstance(bound, Register)
            _repeated(ctx, line.replace("{}", "", 1), [*pid, _shown(ctx, element, bound, signed)])


def _repeated(ctx: Context, line: str, values: list[Register]) -> None:
    """`print_copies` times; lanes that share a program print once each anyway."""
    b = ctx.b
    copies = ctx.kernel.options.print_copies // ctx.layouts.lanes
    if copies <= 1:
        ctx.env.printf(line, *values)
        return
    zero, one, end = (b.constant(I32, number) for number in (0, 1, copies))
    loop = For(b.module, zero, end, one, control="DontUnroll")
    with loop:
        ctx.env.printf(line, *values)
        loop.yield_([])


def _print_tensor(ctx: Context, op: Operation, type: TensorType, bound: Tensor, pid: list[Register],
                  line: str, signed: bool) -> None:
    """One line per element, in row-major order where one work-item holds them all; `{}` is for the index."""
    layout = visited_layout(ctx, type)
    indices = ", ".join(f"%{len(str(size - 1))}d" for size in type.shape)
    coordinates = [coordinate(ctx, type.shape, axis) for axis in range(len(type.shape))]
    acts = owner(ctx, *redundant(layout))
    line = line.replace("{}", indices, 1)  # what follows is the user's text

    def visit(row: list[Register]) -> None:
        shown = _shown(ctx, type.element, row[0], signed)
        guarded(ctx, acts, lambda: ctx.env.printf(line, *pid, *row[1:], shown))
    walk = ctx.walks.plan(op, [(bound, layout)])
    with StepLoop(ctx.walks, len(layout.step)):
        visit_elements(ctx, layout, [bound, *coordinates], visit)
    ctx.walks.finish(walk)


def coordinate(ctx: Context, shape: tuple[int, ...], axis: int) -> Affine:
    """The tensor of each element's index along an axis, i32."""
    zero = ctx.b.constant(I32, 0)
    return Affine(shape, INDEX, zero, tuple(int(d == axis) for d in range(len(shape))))


def _form(element: Type, hex: bool, signed: bool) -> str:
    """How printf shows an element."""
    if isinstance(element, FloatType):
        return "%a" if hex else "%f"
    bits = bits_of(element)
    long = "l" * (bits == 64)
    if hex or isinstance(element, PointerType):
        return f"0x%0{max(1, bits // 4)}{long}x"
    return f"%{long}{'d' if signed and bits > 1 else 'u'}"


def _shown(ctx: Context, element: Type, value: Register, signed: bool) -> Register:
    """The element as C passes it to printf: float as double, small integers as int."""
    b = ctx.b
    if isinstance(element, FloatType):
        value = to_arithmetic(b, value, element)
        wide = Float(64) if ctx.target.float64 else Float(32)
        return value if value.type == wide else b.convert("OpFConvert", value, wide)
    if is_bool(value):
        return bool_to_int(b, value)
    if is_pointer(value):
        return ctx.env.address(value)
    return b.resize(value, 32, signed) if bits_of(element) < 32 else value


# --- tt.assert ----------------------------------------------------------------------------------------------


@lowers("tt.assert")
def device_assert(ctx: Context, op: Operation, condition: Bound) -> None:
    """Where an element of the condition is false, the program ends and the launch raises."""
    b = ctx.b
    ctx.pending.settle(memory_only=True)
    holds, element = _holds(ctx, op, condition)
    if holds.constant is True:
        return
    fails = b.logical_not(holds)
    # who left alone would be missed at a barrier
    together = not ctx.convergence.parted or ctx.layouts.lanes == 1
    alike = isinstance(condition, (Register, Uniform))
    somewhere = fails if alike or not together else anywhere(ctx, fails)
    type, run = op.operands[0].type, op.attributes.get("run", 1)  # written by passes/once_per_run.py
    shape = type.shape if isinstance(type, TensorType) else ()
    number = record(ctx, op.location, _function(op), op.attributes["message"],
                    shape if run == 1 else (shape[0] * run,))
    with if_(b.module, somewhere):
        guarded(ctx, None if fails is somewhere else fails,
                lambda: fail(ctx, number, None if element is None else b.imul(_least(b, element), run)))
        if together:
            b.emit("OpReturn")


def _holds(ctx: Context, op: Operation, condition: Bound) -> tuple[Register, Register | None]:
    """Is the condition true in every element that this work-item holds? And where it is not: for each
    component the least number of such an element in row-major order, i32, or NOWHERE; None: a scalar."""
    b = ctx.b
    if isinstance(condition, (Register, Uniform)):
        return condition.scalar if isinstance(condition, Uniform) else condition, None
    layout = visited_layout(ctx, op.operands[0].type)
    numbers = linear_index(ctx, layout.shape, INDEX)
    nowhere = b.splat(b.constant(I32, NOWHERE), layout.width)
    walk = ctx.walks.plan(op, [(condition, layout)])
    with StepLoop(ctx.walks, len(layout.step), [nowhere] if layout.step else []) as loop:
        found = loop.carried[0] if loop.carried else nowhere
        for holds, number in zip(ctx.evaluation.fragment(condition, layout).registers,
                                 ctx.evaluation.fragment(numbers, layout).registers, strict=True):
            found = least(b, found, b.select(holds, nowhere, number))
        loop.yield_([found])
    ctx.walks.finish(walk)
    found = loop.results[0]
    return b.all(b.compare("OpIEqual", found, nowhere)), found


def _least(b: Builder, numbers: Register) -> Register:
    """Of the components."""
    width = width_of(numbers.type)
    while width > 1:
        width //= 2
        numbers = least(b, *(components(b, numbers, range(start, start + width)) for start in (0, width)))
    return numbers


def _function(op: Operation) -> str:
    """The name of the function that an operation stands in."""
    around = op.parent_op
    while around is not None and not around.has("function"):
        around = around.parent_op
    return str(around.attributes["sym_name"]) if around is not None else "?"


# --- hints, and values that nobody may read ---------------------------------------------------------------


@lowers("llvm.intr.assume")
def assume(ctx: Context, op: Operation, cond: Bound, op_bundle_operands: Bound | None) -> None:
    """A promise of the user's; not used."""


@lowers("tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents")
def grid_dependency(ctx: Context, op: Operation) -> None:
    """Launches are in order: what came before is complete."""


@lowers("ub.poison")
def poison(ctx: Context, op: Operation) -> Bound:
    """Any value will do; zero is the same in every run."""
    type = op.results[0].type
    element = element_of(type)
    held = register_type(element)
    zero = ctx.b.constant(held, False if isinstance(held, Bool) else 0)
    if isinstance(type, TensorType):
        return Uniform(type.shape, element, zero)
    return as_scalar(ctx.env, zero, type)

