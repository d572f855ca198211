"""Triton's compiler contract: from Triton IR to SPIR-V words, in stages that Triton keeps in its cache.

    ttir ──stock passes──▶ ttir ──▶ ttgir ──▶ plan ──▶ spvasm ──▶ spv

`spvasm` is a listing to read, `spv` the module. Triton imports this file whenever it is imported itself, with
the switch on or off, so everything that takes time is imported by the methods that use it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import BaseBackend, GPUTarget
from triton_spirv import switch

if TYPE_CHECKING:
    from .options import SPIRVOptions


class SPIRVBackend(BaseBackend):
    """Compiles for `GPUTarget("cpu", architecture, ...)`, a CPU device, and `GPUTarget("spirv", name of a
    known target, ...)`."""

    binary_ext = "spv"
    supports_native_tensor_specialization = True

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        # "cpu" may be another backend's name too; with the switch off that backend shall have it
        return target.backend == "spirv" or (target.backend == "cpu" and switch.is_on())

    def hash(self) -> str:
        from . import damage, fingerprint, sealed_cache, shared_binaries

        shared_binaries.mend_redis_settings()
        sealed_cache.demand_key()
        damage.notice()
        return fingerprint.of(self.target)

    def parse_options(self, options: dict[str, Any]) -> SPIRVOptions:
        from .options import SPIRVOptions

        return SPIRVOptions.parse(options, self.target)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_codegen_implementation(self, options: SPIRVOptions) -> dict[str, Any]:
        from . import concurrency, loop_carries
        from .float8 import convert_float8e4b15

        concurrency.prepare_driver()
        loop_carries.carry_copies()
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1), "convert_custom_types": convert_float8e4b15}

    def get_module_map(self) -> dict[str, ModuleType]:
        from . import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        pass  # the emitter reads text; no dialect of ours

    def add_stages(self, stages: dict[str, Any], options: SPIRVOptions, language: Any = None) -> None:
        from .stages import Pipeline

        Pipeline(self.target, options, language).add_to(stages)
