"""The launch options that kernels may be given, all backends' names included, so that kernels written for a
GPU launch unchanged."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton_spirv import checking
from triton_spirv.dataclass import dataclass
from triton_spirv.settings import flag
from triton_spirv.target.optimisations import VARIABLE, left_out

#: 1: the option print_each_thread is on where a launch does not say
PRINT_EACH_THREAD = "TRITON_SPIRV_PRINT_EACH_THREAD"
FLOAT8 = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")


@dataclass(frozen=True)
class SPIRVOptions:
    """Options that Triton's front end reads, that change code, and, below the line, that mean something
    elsewhere only."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    warp_size: int = 32
    debug: bool = False
    sanitize_overflow: bool = True
    enable_fp_fusion: bool = True
    supported_fp8_dtypes: tuple[str, ...] = FLOAT8
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: Any = None
    backend_name: str = "spirv"
    arch: str = ""
    ir_override: str | None = None
    generate_native_code: bool | str | None = None
    native_device: str = ""
    native_compiler: str = ""
    grf_mode: str = "default"
    build_flags: str = ""
    block_io: bool = True
    overlapping: bool = False
    fast_math: bool = False
    print_each_thread: bool = False
    check: str = ""
    check_limit: int = 0
    optimise: str = ""
    compared: str = ""
    # ---- accepted without meaning here
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    maxnreg: int | None = None
    min_shared_mem: int | None = None
    clc: bool = False
    cluster_dims: tuple[int, ...] = (1, 1, 1)
    ptx_version: int | None = None
    ptx_options: str | None = None
    enable_reflect_ftz: bool = True
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    allow_flush_denorm: bool = False
    schedule_hint: str = ""
    split_barriers_scope: str = "None"

    def __post_init__(self) -> None:
        count = self.num_warps
        assert count > 0 and count & (count - 1) == 0, f"num_warps must be a power of 2, got {count}"
        libraries = dict(self.extern_libs or {})
        object.__setattr__(self, "extern_libs", tuple(libraries.items()))

    @classmethod
    def parse(cls, options: dict[str, Any], target: GPUTarget) -> SPIRVOptions:
        """From the keywords of a launch; keywords that are the kernel's own parameters, or None, are left
        out."""
        known = {name: options[name] for name in FIELDS if options.get(name) is not None}
        known.setdefault("arch", str(target.arch))
        known.setdefault("warp_size", target.warp_size)
        known.setdefault("enable_fp_fusion", knobs.language.default_fp_fusion)
        if getattr(knobs.language, "force_disable_fp_fusion", False):  # Triton 3.9
            known["enable_fp_fusion"] = False
        known.setdefault("print_each_thread", flag(PRINT_EACH_THREAD, False))
        known["optimise"] = ",".join(known.get("optimise", os.environ.get(VARIABLE, "")).split())
        left_out(known["optimise"])
        known["check"] = checking.normalised(known["check"]) if "check" in known else checking.current()
        known["check_limit"] = checking.at_least_0(known.get("check_limit", 0), "check_limit")
        known.update(_native(known, target))
        return cls(**known)

    @property
    def native(self) -> bool:
        """Is the last stage to yield a native binary?"""
        return bool(self.generate_native_code)

    def hash(self) -> str:
        """Covers what changes code; options without meaning here do not cost another compilation."""
        values = [(name, getattr(self, name)) for name in FIELDS[:FIELDS.index("launch_cooperative_grid")]]
        return hashlib.sha256(repr(values).encode()).hexdigest()


def _native(known: dict[str, Any], target: GPUTarget) -> dict[str, Any]:
    """The switch as it is meant, and where it is on, the device and what compiles for it: all of it changes
    code."""
    option = known.get("generate_native_code")
    if option is None and not os.environ.get("TRITON_SPIRV_ZEBIN"):
        return {"generate_native_code": False}
    from . import native_stage

    mode = native_stage.wanted(option)
    if not mode:
        return {"generate_native_code": False}
    return {"generate_native_code": mode, **native_stage.how(target, mode, known.get("native_device", ""))}


#: the names of all options
FIELDS = [field.name for field in dataclasses.fields(SPIRVOptions)]
