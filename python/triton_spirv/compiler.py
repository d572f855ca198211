"""From IR text to a SPIR-V module: parse, check that every operation has a rule, lower, list, assemble."""

from __future__ import annotations

import sys
from typing import Any

from .artifact import Artifact
from .artifact import Parameter as ArtifactParameter
from .check_layout import LANES
from .collection import collection_later
from .deep_stack import deepened
from .environment import Environment, OpenCL, Vulkan
from .environment.base import Parameter
from .environment.memory_types import type_bytes
from .errors import (
    InternalError,
    LoweringError,
    ResourceError,
    TritonSpirvError,
    UnsupportedOperation,
    is_interruption,
)
from .facts.column_accesses import accessed_across
from .facts.foreign_pointers import follows
from .facts.pointers import pointer_roots, written_arguments
from .facts.program_waits import exposed_roots, waits
from .facts.reach import reach
from .inspection import Inspection
from .ir import FloatType, IntegerType, Operation, PointerType, Type, parse
from .ir.dialects import with_trait
from .lower import RULES
from .lower.budget import Budget
from .lower.context import Context
from .lower.control.blocks import run_function
from .lower.control.loop_limit import LoopLimit
from .lower.kernel import Kernel, Options
from .lower.lanes.shared_races import SharedRaces
from .lower.plan.records import Plan
from .lower.plan.text import plan_text
from .lower.plan.verify import verify_plan
from .lower.program.finishing import Finishing
from .lower.program.program_id import axes_asked_for
from .lower.program.size import bounded
from .lower.stop_word import stop_word_of
from .lower.support import require_float64, require_rules
from .lower.values.types import storage_type
from .passes.checked import instrument
from .passes.comparable import make_comparable
from .passes.pipeline import FACTS, PASSES, run_passes
from .recordings import keep_compilation
from .spirv.builder import Builder
from .spirv.module import Module as SpirvModule
from .spirv.passes.pipeline import NAMES
from .spirv.types import Array
from .target import CPU, Target, find_target

ENVIRONMENTS: dict[str, type[Environment]] = {"opencl": OpenCL, "vulkan": Vulkan}

#: Of what can be printed: the IR behind each pass, the plan, the finished function behind each pass.
PASS_NAMES = (*(each.name for each in PASSES), FACTS, "plan", *NAMES)

#: Operations that have no rule of their own: they end regions, or wrap everything.
STRUCTURE = frozenset(
    {
        "builtin.module",
        "tt.func",
        "tt.return",
        "scf.yield",
        "scf.condition",
        "cf.br",
        "cf.cond_br",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
    }
)


def compile(text: str, target: Target | str = CPU, *, num_warps: int = 4, **options: Any) -> Artifact:
    """Lower the kernel in `text` (TTIR, or TTGIR for targets with lanes) for a target.

    options: num_stages (loops fetch the operands of a matrix unit so many iterations ahead, less one),
    block_io (False: operands are not loaded by 2D block messages), overlapping (True: any two pointer
    arguments may overlap in memory), enable_fp_fusion (a multiplication and an
    addition may become one instruction with one rounding), fast_math (division, roots and elementary
    functions of f32 may be wrong by thousands of units in the last place, and products of bf16 take denormal
    numbers as zero: docs/accuracy.md), print_copies (how often a work-item that runs a
    whole program prints a scalar), check (names of checks of docs/checking.md that the kernel makes while
    it runs), optimise (which optimisations are made: target/optimisations.py), compared (a form of
    the kernel that check=compiler compares besides: passes/comparable.py).
    Raises ParseError, UnsupportedOperation (every operation without a rule, at once), LoweringError,
    MissingCapability, ResourceError; InternalError for a defect of this package.
    """
    target = find_target(target) if isinstance(target, str) else target
    target = target.optimised(options.get("optimise", ""))
    try:
        with collection_later():
            return deepened(_within_resources, text, target, num_warps, options)
    except InternalError as error:
        defect = error
    except (TritonSpirvError, MemoryError):
        raise
    except Exception as error:
        if is_interruption(error):
            raise
        defect = InternalError(f"{type(error).__name__}: {error}")
        defect.__cause__ = error
    defect.recorded = keep_compilation(text, target, {"num_warps": num_warps, **options}, str(defect.args[0]))
    raise defect


def _within_resources(text: str, target: Target, num_warps: int, options: dict[str, Any]) -> Artifact:
    """The same; where shared memory does not suffice, what loops spend on being fast is given up, and then
    arrays overflow into global memory."""
    ways = [(target, False), (target.with_options(double_buffers=False), True)]
    if target.double_buffers:
        ways.insert(1, (target.with_options(double_buffers=False), False))
    for way, overflows in ways:
        try:
            return _compiled(text, way, num_warps, options, overflows)
        except ResourceError as error:
            if overflows or (error.name != "shared memory" and not way.double_buffers):
                raise
    raise AssertionError("the last way ends in an artifact or an error")


def _compiled(text: str, target: Target, num_warps: int, options: dict[str, Any],
              overflows: bool) -> Artifact:
    """The same for one target, as it is. overflows: may arrays lie in global memory that should be shared?"""
    budget = Budget()
    module = parse(text)
    make_comparable(module, options.get("compared", ""))
    warps = int(module.attributes.get("ttg.num-warps", num_warps))
    require_rules(module, RULES.keys() | STRUCTURE, target.name)
    reached = reach(module) if target.lanes else ()  # of targets whose devices may have memory of their own
    checks = options.get("check", ())
    # what launchers ask of the kernel, not of what checks make of it
    asked = (written_arguments(module), follows(module)) if checks else None
    watches_lanes, hears = LANES in checks, ENVIRONMENTS[target.environment].watches_shared
    sites = instrument(module, checks, bool(target.lanes), hears)
    if watches_lanes and not (target.lanes and hears):
        raise UnsupportedOperation("check=lanes is for OpenCL devices with lanes: TRITON_SPIRV_DEVICE=cpu "
                                   f"TRITON_SPIRV_TARGET=simt; not for {target.name}")
    inspection = Inspection.asked(PASS_NAMES)
    run_passes(module, target, warps, inspection)
    if not target.float64:
        require_float64(module, target.name)
    kernel = module.entry
    name = kernel.attributes["sym_name"]
    environment = ENVIRONMENTS[target.environment]
    b = Builder(environment.module(target))
    b.converts_bf16 = target.converts_bf16
    b.float16 = target.float16
    b.extends_by_halves = target.has("extends_by_halves")
    env = environment(b, target)
    across = accessed_across(module) if not target.lanes and target.optimises("vectors") else {}
    operations = list(module.walk())
    ctx = Context(b, env, target if across else bounded(module, target), Kernel(
        module.functions, Options.of(options), num_warps=warps if target.lanes else 1,
        axes=axes_asked_for(operations),
        has_atomics=not with_trait("atomic").isdisjoint([op.name for op in operations]),
        stop_word=stop_word_of(sites, len(kernel.regions[0].entry.arguments)),
        stops_rounds=not {"all", "deadlock", LANES}.isdisjoint(checks), across=across), budget)
    budget.kernel = f"{name} ({kernel.location})"
    ctx.shared.roots = pointer_roots(module)
    ctx.shared.exposed = exposed_roots(module)
    parameters = [_parameter(value, kernel) for value in kernel.regions[0].entry.arguments]
    local_size = ctx.kernel.num_warps * target.sub_group_size if target.lanes else 1
    ctx.launch.overflows = overflows
    ctx.launch.reports = watches_lanes
    races = SharedRaces(b, env, len(parameters), len(sites)) if watches_lanes else None
    hidden = ctx.launch.hidden_parameters(module)
    ctx.later_uses.reading_together = ctx.launch.joined
    bound = env.begin_kernel(name, parameters + hidden, local_size)
    for value, register in zip(kernel.regions[0].entry.arguments, bound, strict=False):
        ctx.bindings.bind(value, register)
    ctx.launch.parameters = {register.id: i for i, register in enumerate(bound)}
    ctx.launch.bind_hidden(hidden, bound[len(parameters):])
    if target.loop_rounds and "assert_buffer" in ctx.launch.hidden:
        b.module.watch = LoopLimit(ctx)
    if races is not None:
        ctx.shared.races = races
        races.begin(ctx)
    run_function(ctx, kernel.regions[0], [])
    if races is not None:
        races.finish()
        sites = (*sites, *races.sites)
    b.emit("OpReturn")
    if overflows:
        env.set_overflow(ctx.launch.overflow_bytes)
    written, followed = asked or (written_arguments(module), follows(module))
    plan = ctx.recorder.finish(kernel, target.name)
    _check_plan(plan, inspection)
    private_bytes = _private_bytes(b.module, target, local_size)
    finishing = Finishing(ctx)
    finishing.run(inspection.verify, inspection.printed)
    env.end_kernel()
    return Artifact(
        words=b.module.words(),
        plan=plan_text(plan),
        entry=name,
        parameters=tuple(ArtifactParameter(p.name, p.type) for p in parameters),
        passing=env.passing,
        hidden=tuple(p.name for p in hidden),
        written=written,
        local_size=(local_size, 1, 1),
        shared_bytes=ctx.launch.shared_bytes,
        overflow_bytes=ctx.launch.overflow_bytes,
        sub_group_size=target.sub_group_size,
        num_warps=ctx.kernel.num_warps if target.lanes else num_warps,
        requires=tuple(sorted(ctx.launch.requires)),
        register_bytes=ctx.launch.register_bytes,
        grf_mode=target.grf_mode(max(ctx.launch.register_bytes, finishing.live_bytes * 3 // 4),
                                 ctx.kernel.num_warps),
        asserts=tuple(ctx.launch.asserts),
        prints=ctx.launch.prints,
        formats=tuple(env.formats),
        counts_programs=env.counts_programs,
        in_parts=bool(env.exports),
        exports="" if ctx.launch.prints else env.exports,
        private_bytes=private_bytes,
        waits=waits(module),
        assumes_disjoint=finishing.assumes_disjoint,
        follows=followed,
        reach=reached,
        sites=sites,
        place=f"{kernel.location.file}:{kernel.location.line}" if kernel.location.known else "",
        target=target,
    )


def _check_plan(plan: Plan, inspection: Inspection) -> None:
    """Verified always: it costs a hundredth of a compilation, and what it finds would be a wrong result."""
    if "plan" in inspection.printed:
        print(plan_text(plan), file=sys.stderr)
    verify_plan(plan)


def _private_bytes(module: SpirvModule, target: Target, work_items: int) -> int:
    """Of the private arrays of the function at hand; ResourceError for more than the target has."""
    types = module.types
    held = [types[words[1]].pointee for words in module.functions[-1].variables]  # type: ignore[attr-defined]
    needed = work_items * sum(type_bytes(type) for type in held if isinstance(type, Array))
    if needed > target.private_bytes:
        raise ResourceError(needed, target.private_bytes, "private memory")
    return needed


def _parameter(value: Any, kernel: Operation) -> Parameter:
    """A kernel argument as the environment and the launcher see it."""
    type: Type = value.type
    if isinstance(type, PointerType):
        return Parameter(value.name, "ptr", storage_type(type.pointee))
    if isinstance(type, IntegerType) and type.width in (1, 8, 16, 32, 64):
        return Parameter(value.name, f"i{type.width}")
    if isinstance(type, FloatType) and type.name in ("f16", "bf16", "f32", "f64"):
        return Parameter(value.name, type.name)
    raise LoweringError(f"kernel argument {value.name} of type {type} cannot be passed; pass pointers, "
                        "integers and floats", str(kernel.location))
