"""The stages of a compilation. Differences between Triton 3.6 and 3.9 are met here: a pass that a version
lacks, or has wrong, is left out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import triton_spirv
from triton import __version__, knobs
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton_spirv.errors import UnsupportedOperation
from triton_spirv.facts.slopes import constant
from triton_spirv.ir import parse
from triton_spirv.slow import watched

from .errors import as_triton_errors
from .options import SPIRVOptions
from .targets import emitter_target

# Tensor descriptors become pointers before anything else is rewritten: rank-reducing loads are ill-typed
# afterwards otherwise.
TTIR_PASSES = (
    "common.add_inliner", "ttir.add_rewrite_tensor_pointer", "ttir.add_rewrite_tensor_descriptor_to_pointer",
    "common.add_canonicalizer", "ttir.add_combine", "ttir.add_reorder_broadcast", "common.add_cse",
    "ttir.add_triton_licm", "common.add_symbol_dce",
)
#: What `loop_unroll_factor` asks for. MLIR counts the rounds of a loop that has none as an unsigned number,
#: and makes some, where the step is not 1 and the bounds are not known.
UNROLL, UNROLLED = "ttir.add_loop_unroll", "tt.loop_unroll_factor"
TTGIR_PASSES = (
    "ttgpuir.add_coalesce", "ttgpuir.add_remove_layout_conversions", "ttgpuir.add_optimize_thread_locality",
    "ttgpuir.add_fuse_nested_loops", "common.add_canonicalizer", "common.add_cse",
)
#: Before Triton 3.9 its assertion failed at a gather of more elements along the axis than there are.
UNTIL_39_WITHOUT_GATHERS = "ttgpuir.add_optimize_thread_locality"

#: What to do where they do not end: in Triton 3.9 TTGIR_PASSES[1] goes round for ever in some kernels that
#: reshape and transpose, for its own GPUs, too.
WITHOUT_END = ('they may never end, which is a mistake of theirs; the launch option optimise="-layouts" does '
               'without them, and so does a CPU in vector mode')

#: Bytes that a GPU would exchange between warps for a reduction or a scan. Kernels that size their grid by
#: occupancy divide by the shared memory of such a kernel, so it is never 0 there, although a CPU device needs
#: none.
EXCHANGE_BYTES = 128


class ModuleText(str):
    """The text of an MLIR module, printed once, with the module itself for the next stage."""

    module: Any

    @classmethod
    def of(cls, module: Any) -> ModuleText:
        text = cls(module)
        text.module = module
        return text

    def create_location_snapshot(self, path: str) -> None:
        """Triton calls this for USE_IR_LOC."""
        self.module.create_location_snapshot(path)


class Pipeline:
    """One compilation; stages hand each other the emitter's input and its artifact."""

    def __init__(self, target: GPUTarget, options: SPIRVOptions, language: Any) -> None:
        if getattr(language, "name", "TRITON") != "TRITON":
            raise UnsupportedOperation("Gluon kernels name the layouts and instructions of one GPU family; "
                                       "this backend compiles kernels of @triton.jit only")
        if knobs.compilation.store_binary_only:
            raise UnsupportedOperation("TRITON_STORE_BINARY_ONLY=1 keeps only the binaries that Triton knows "
                                       "itself, so a SPIR-V module would be lost; unset it")
        self.target, self.options = emitter_target(target).optimised(options.optimise), options
        self.source, self.artifact = "", None

    def add_to(self, stages: dict[str, Callable[[Any, dict[str, Any]], Any]]) -> None:
        """Triton runs the stages in this order, each with what the one before gave, and stores the text of
        each."""
        stages["ttir"] = self.ttir
        stages["ttgir"] = self.ttgir
        stages["plan"] = self.plan
        stages["spvasm"] = self.spvasm
        stages["spv"] = self.spv

    def emitter_options(self) -> dict[str, Any]:
        """The keywords of triton_spirv.compile that follow from the options of a launch."""
        return emitter_options(self.options)

    def ttir(self, module: Any, metadata: dict[str, Any]) -> ModuleText:
        """Upstream's passes that simplify Triton IR."""
        run_passes(module, TTIR_PASSES, "make_ttir")
        text = ModuleText.of(module)
        if UNROLLED not in text or not unrolls_right(text):
            return text
        run_passes(module, (UNROLL,), "make_ttir")
        return ModuleText.of(module)

    def ttgir(self, stage: Any, metadata: dict[str, Any]) -> str:
        """The same with layouts of lanes and warps. Where one work-item runs a whole program this is only to
        be read, as the conversion leaves it: code is made from the TTIR there, which is kept here, and the
        passes on layouts would take 12 of the 85 ms that attention takes to become SPIR-V."""
        self.source = str(stage)
        module = getattr(stage, "module", stage)
        unit, warps = self.target.matrix, self.options.num_warps
        metadata["asked_warps"] = warps
        lanes = self.target.product_lanes
        if unit is not None and unit.columns in self.target.sub_group_sizes:
            lanes = unit.columns
        if lanes and "tt.dot " in self.source:
            # sub-groups are those of the matrix unit, or so small that a thread's registers hold what lanes
            # sum; as many lanes as asked for share a program
            warps *= max(1, self.target.sub_group_size // lanes)
            self.target = self.target.with_options(sub_group_size=lanes)
            metadata["num_warps"] = warps
        warp_size = self.target.sub_group_size if self.target.lanes else self.options.warp_size
        try:
            manager = ir.pass_manager(module.context)
            passes.ttir.add_convert_to_ttgpuir(manager, f"spirv:{self.target.name}", warps,
                                               warp_size, self.options.num_ctas)
            manager.run(module, "make_ttgir")
            if self.target.lanes:
                kept = len(TTGIR_PASSES) if self.target.optimises("layouts") else 1
                with watched(self.in_passes, WITHOUT_END):
                    run_passes(module, ttgir_passes(self.source)[:kept], "make_ttgir")
        except RuntimeError as error:
            if self.target.lanes:
                raise
            return f"// no TTGIR: {error}\n"
        if self.target.lanes:
            self.source = str(module)
        return str(module)

    def in_passes(self) -> str:
        """Who works on what, for a warning that Triton's passes on layouts take long."""
        kernel = parse(self.source).entry
        return (f"Triton's passes on layouts have worked on {kernel.attributes['sym_name']} "
                f"({kernel.location})")

    def plan(self, stage: Any, metadata: dict[str, Any]) -> str:
        """The emitter's work; what it decided is what this stage shows of it."""
        if not self.source:
            raise UnsupportedOperation(f"target {self.target.name} compiles Triton IR (.ttir), not TTGIR")
        with as_triton_errors():
            artifact = triton_spirv.compile(self.source, self.target, **self.emitter_options())
        self.artifact = artifact
        exchanges = "tt.reduce" in self.source or "tt.scan" in self.source
        metadata.update(name=artifact.entry, artifact=artifact.to_json(),
                        shared=artifact.shared_bytes or EXCHANGE_BYTES * exchanges)
        metadata["overflow"] = artifact.overflow_bytes
        for scratch in ("global_scratch", "profile_scratch"):
            metadata.update({f"{scratch}_size": 0, f"{scratch}_align": 1})
        return artifact.plan

    def spvasm(self, stage: Any, metadata: dict[str, Any]) -> str:
        """The listing of the module."""
        assert self.artifact is not None
        return self.artifact.listing

    def spv(self, stage: Any, metadata: dict[str, Any]) -> bytes:
        """The module's words, or the native binary that is made of them."""
        from . import native_stage

        assert self.artifact is not None
        words = self.artifact.words
        metadata.update(native_stage.NOT_NATIVE, spirv_digest=hashlib.sha256(words).hexdigest())
        if not self.options.native:
            return words
        with as_triton_errors():
            return native_stage.make(words, self.artifact, self.options, metadata)


def emitter_options(options: Any) -> dict[str, Any]:
    """The same, of options or of a compiled kernel's metadata."""
    return {"num_warps": options.num_warps, "enable_fp_fusion": options.enable_fp_fusion,
            "num_stages": options.num_stages, "block_io": options.block_io, "fast_math": options.fast_math,
            "overlapping": options.overlapping, "optimise": options.optimise, "compared": options.compared,
            "check": tuple(filter(None, options.check.split(","))),
            "print_copies": options.num_warps * options.warp_size if options.print_each_thread else 1}


def unrolls_right(source: str) -> bool:
    """Are the rounds of each loop that is to be unrolled counted right, of a module of this text? Unrolling
    is a hint: where one is not, no loop is unrolled."""
    loops = [op for op in parse(source).walk() if UNROLLED in op.attributes]
    bounds = [[constant(value) for value in (loop.lower, loop.upper, loop.step)] for loop in loops]
    return all(step == 1 or None not in (lower, upper, step) for lower, upper, step in bounds)


def ttgir_passes(source: str) -> tuple[str, ...]:
    """The passes on layouts for a module of this text."""
    version = tuple(int(part) for part in __version__.split(".")[:2])
    if version >= (3, 9) or "tt.gather " not in source:
        return TTGIR_PASSES
    return tuple(name for name in TTGIR_PASSES if name != UNTIL_39_WITHOUT_GATHERS)


def run_passes(module: Any, names: tuple[str, ...], title: str) -> None:
    """Run the named passes of triton._C.libtriton.passes, those that this Triton has."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    for name in names:
        group, _, function = name.partition(".")
        add = getattr(getattr(passes, group), function, None)
        if add is not None:
            add(manager)
    manager.run(module, title)
