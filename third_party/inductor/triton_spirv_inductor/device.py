"""What Inductor is told about the CPU as a device of Triton: its processor and its streams.

All of it stands beside torch's own registrations and is without effect on Inductor's C++ backend.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from pathlib import Path
from typing import Any

from . import (
    choices,
    concatenation,
    convolutions,
    cpp_wrapper,
    flex,
    heuristics,
    indexing,
    library,
    masking,
    memory,
    products,
    reduction_tiling,
    rows_in_turn,
    sizes,
    small_integers,
    tiling,
)


@functools.cache
def register() -> None:
    """Once in a process."""
    choices.install()
    concatenation.install()
    convolutions.install()
    cpp_wrapper.install()
    flex.install()
    heuristics.note_lengths()
    indexing.install()
    masking.install()
    memory.install()
    products.install()
    reduction_tiling.install()
    rows_in_turn.install()
    sizes.install()
    small_integers.install()
    tiling.install()
    _name_ourselves_in_caches()
    _name_the_processor()
    _write_streams_in_one_line()
    _pass_numbers_in_memory()


def own_key(folder: Path = Path(__file__).parent) -> str:
    """A hash of this package's code, which is part of what Inductor writes."""
    texts = (path.name.encode() + path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _name_ourselves_in_caches() -> None:
    """Kernels of Inductor's caches count as other ones when this package has changed, and on another
    processor or for another target, whose names are in their text; without a GPU their key knows torch's
    version and nothing of Triton."""
    from torch._inductor.codecache import CacheBase
    from triton_spirv.runtime.processor import processor
    from triton_spirv_backend.targets import current_target

    written = CacheBase.get_system

    @functools.cache
    def get_system() -> Any:
        system = dict(written())
        ours = (f"{system['hash']} {own_key()} {library.said()} {processor().key} "
                f"{current_target().arch}")
        return {**system, "hash": hashlib.sha256(ours.encode()).hexdigest()}

    CacheBase.get_system = staticmethod(get_system)


def _name_the_processor() -> None:
    """The target of Inductor's kernels names the processor, as that of other launches does; torch says ""
    for a CPU, and kernels would know of no instructions beyond x86-64's first."""
    from torch._dynamo import device_interface
    from triton_spirv_backend.targets import current_target

    class Interface(device_interface.get_interface_for_device("cpu")):  # type: ignore[misc]
        #: of which there is one; torch enters it before it times kernels
        device = contextlib.nullcontext

        @staticmethod
        def get_compute_capability(device: Any = None) -> Any:
            return current_target().arch

    device_interface.register_interface_for_device("cpu", Interface)


def _write_streams_in_one_line() -> None:
    """torch pastes this text into indented code, where its own of several lines is a syntax error."""
    from torch._inductor.codegen import common, cpu_device_op_overrides

    class Overrides(cpu_device_op_overrides.CpuDeviceOpOverrides):

        def import_get_raw_stream_as(self, name: str) -> str:
            return f"{name} = lambda device: 0"

    common.get_device_op_overrides("cpu")  # registers torch's own, once; ours comes after it
    common.register_device_op_overrides("cpu", Overrides())


def _pass_numbers_in_memory() -> None:
    """Tensors without dimensions are passed like others. torch passes them to kernels by value, except those
    that it knows to be written: it forgets those that a backward graph computes in place, and such kernels
    compute with a pointer."""
    from torch._inductor import config
    from torch._inductor.codegen import triton, triton_utils, wrapper
    from torch._inductor.virtualized import V

    torchs = triton_utils.should_unwrap_unspec_arg

    def by_value(name: str) -> bool:
        on_cpu = config.cpu_backend == "triton" and V.graph.get_current_device_or_throw().type == "cpu"
        return not on_cpu and torchs(name)

    for module in (triton_utils, triton, wrapper):  # each has imported it by name
        module.should_unwrap_unspec_arg = by_value
