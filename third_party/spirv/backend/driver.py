"""Triton's driver contract: is this backend active, which device is it, and what launches a kernel.

Triton imports this file whenever it is imported itself. With the switch off nothing here has any effect;
OpenCL is loaded by the first launch, not by compiling.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton.backends.driver import DriverBase
from triton_spirv import switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triton.backends.compiler import GPUTarget

#: the name of the entry point, which is the backend's name for TRITON_DEFAULT_BACKEND
NAME = "spirv"


class SPIRVDriver(DriverBase):
    """Kernels run on the device that TRITON_SPIRV_DEVICE picks, on host memory."""

    def __init__(self) -> None:
        super().__init__()
        import triton_spirv.forks  # noqa: F401  # first: a fork waits for the imports that follow
        from triton_spirv import variables

        from . import autotuning, concurrency, installation_key, observers
        from .binding import explain_refused_arguments
        from .launcher import SPIRVUtils, make_launcher
        from .targets import current_device, current_interface

        variables.require_known_values()
        explain_refused_arguments()
        installation_key.keep()
        concurrency.serve_threads()
        observers.watch_compilations()
        autotuning.tune_by_racing()
        self.utils = SPIRVUtils()
        self.launcher_cls = make_launcher
        self.get_current_device = current_device  # type: ignore[method-assign]
        self.get_device_interface = current_interface  # type: ignore[method-assign]

    @staticmethod
    def is_active() -> bool:
        switch.require_known()
        if not switch.is_on() and switch.is_automatic() and _is_alone():
            switch.choose()
            _silence_absent()
        return switch.is_on()

    def get_current_device(self) -> str:
        """The key of kernels' caches; every launch asks, so the instance has the function itself."""
        from .targets import current_device

        return current_device()

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return 0, 0

    def get_current_target(self) -> GPUTarget:
        from .targets import current_target

        return current_target()

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        """What torch.cuda is to a GPU; who waits for a launch asks each time, so the instance has it, too."""
        from .targets import current_interface

        return current_interface()

    def map_python_to_cpp_type(self, ty: str) -> str:
        from .launcher import CPP_TYPES

        return "void*" if ty.startswith("*") else CPP_TYPES[ty]

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args

    def get_benchmarker(self) -> Any:
        from .autotuning import benchmark

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        from . import interface, vulkan_interface
        from .targets import chosen_vulkan

        device = chosen_vulkan()
        return interface.memory_beyond_caches() if device is None else vulkan_interface.of(device).cache()

    def clear_cache(self, cache: Any) -> None:
        cache.fill(0)

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        from triton_spirv import zeros

        return zeros(size, "int8")


# ---- which driver is active
#
# With the variable of the switch unset, ours is active where no other is: the answer is found when Triton
# chooses its driver, not when it is imported.

_asking = threading.local()

#: driver that imports torch to find out whether it is active -> Linux's device files without which it is not
_DEVICE_FILES = {"triton.backends.amd.driver": ("kfd", "dxg"),
                 "triton.backends.nvidia.driver": ("nvidia*", "nvhost*", "nvmap", "dxg")}
_DEVICES = Path("/dev")


def _is_alone() -> bool:
    """Is no other backend active? Asks each, as Triton does; False for a backend that asks ours meanwhile."""
    from triton.backends import backends

    named = os.environ.get("TRITON_DEFAULT_BACKEND")
    if named:
        return named == NAME
    if getattr(_asking, "now", False):
        return False
    _asking.now = True
    try:
        others = [each.driver for each in backends.values()
                  if each.driver is not SPIRVDriver and _may_be_active(each.driver)]
        return not any(driver.is_active() for driver in others)
    finally:
        _asking.now = False


def _may_be_active(driver: Any) -> bool:
    """False for the driver of a vendor of whose GPUs this machine has none. In a program that does not use
    torch, asking it takes 1.3 s: it imports torch for the answer."""
    files = _DEVICE_FILES.get(driver.__module__)
    if files is None or "torch" in sys.modules or sys.platform != "linux":
        return True
    return any(True for name in files for _ in _DEVICES.glob(name))


# Triton refuses to choose between two active drivers, and 3.6 has no variable that names one. So with the
# switch on, the other drivers answer that they are not active: in memory, asked anew each time, and never
# with the switch off.

_before: tuple[Any, Any] = (None, None)
_default_backend = os.environ.get("TRITON_DEFAULT_BACKEND")


def _switched() -> None:
    """The switch has been turned: the driver is chosen anew, or the one that was in use before comes back."""
    global _before
    config = getattr(sys.modules.get("triton.runtime.driver"), "driver", None)
    if switch.is_on():
        _silence_others()
        if config is not None:
            _before = config._default, config._active
            config._default = config._active = None
    else:
        if _default_backend is not None:
            os.environ["TRITON_DEFAULT_BACKEND"] = _default_backend
        if config is not None:
            config._default, config._active = _before
            _release_kernels()


def _release_kernels() -> None:
    """Triton 3.9 unloads a dying kernel through the driver that is active then, which is no longer ours.

    Our programs need no unloading: they go with the last reference.
    """
    kind = getattr(sys.modules.get("triton.compiler.compiler"), "CompiledKernel", None)
    for kernel in gc.get_objects():
        if type(kernel) is kind and hasattr(kernel.function, "bind"):
            kernel._module_pid = None


def _silence_absent() -> None:
    """Triton asks all drivers, those too of which we know the answer; some of them before ours."""
    for driver in _known():
        if not _may_be_active(driver):
            _silence(driver)


def _silence_others() -> None:
    if _default_backend is not None:
        os.environ["TRITON_DEFAULT_BACKEND"] = NAME
    for driver in _known():
        _silence(driver)


def _known() -> Iterator[type]:
    """The drivers that have been imported."""
    pending = list(DriverBase.__subclasses__())
    while pending:
        driver = pending.pop()
        pending += driver.__subclasses__()
        yield driver


def _silence(driver: type) -> None:
    own = driver.__dict__.get("is_active")
    if own is None or driver is SPIRVDriver or getattr(own, "__isabstractmethod__", False):
        return
    if hasattr(own.__func__, "silenced"):
        return
    original = driver.is_active  # type: ignore[attr-defined]

    @functools.wraps(own.__func__)
    def is_active(*_: Any) -> bool:
        return not switch.is_on() and _may_be_active(driver) and original()

    is_active.silenced = True  # type: ignore[attr-defined]
    driver.is_active = staticmethod(is_active)  # type: ignore[attr-defined]


def _silence_later_ones() -> None:
    """Drivers whose modules Triton imports after this one."""

    def initialise_subclass(cls: type, **options: Any) -> None:
        super(DriverBase, cls).__init_subclass__(**options)
        if switch.is_on() or not _may_be_active(cls):
            _silence(cls)

    DriverBase.__init_subclass__ = classmethod(initialise_subclass)


switch.on_change(_switched)
if switch.is_on():
    _silence_others()
elif switch.is_automatic():
    _silence_absent()
if switch.is_on() or switch.is_automatic():
    _silence_later_ones()
