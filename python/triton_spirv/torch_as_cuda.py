"""Programs written for CUDA, with torch's CPU tensors: `with triton_spirv.torch_cpu_as_cuda():`.

A tensor that is asked for on "cuda" is made on the CPU, `.to("cuda")` and `.cuda()` give the tensor itself,
and torch.cuda's streams, events and waits are those of the device that kernels run on. Nothing is computed.
`torch.cuda.is_available()` stays False unless asked, so that libraries do not take the paths of one vendor.

Libraries that take the name of Triton's backend for a device of torch's find that, too: device "spirv" and
`torch.spirv`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from . import plugin

#: what stands for an attribute that was not there
_ABSENT = object()

#: devices whose tensors are made on the CPU; the second is the name of Triton's backend in lane modes
_DEVICES = ("cuda", "spirv")


@contextmanager
def torch_cpu_as_cuda(*, available: bool = False, is_cuda: bool = False,
                      capability: tuple[int, int] = (0, 0)) -> Iterator[None]:
    """Device "cuda" means torch's CPU in this block, or in the function that this decorates.

    available: torch.cuda.is_available() says True, and device_count() 1.
    is_cuda: Tensor.is_cuda says True. `tensor.device` is the CPU all the same.
    capability: what torch.cuda.get_device_capability() says.

    In this thread and process only; it is not for models on a real GPU, which it hides.
    """
    with ExitStack() as stack:
        for owner, name, value in _replacements(available, is_cuda, capability):
            stack.enter_context(_replaced(owner, name, value))
        stack.enter_context(_redirected())
        yield


def capability(text: str) -> tuple[int, int]:
    """"8.0" -> (8, 0)."""
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


def where_torch_is(**settings: Any) -> AbstractContextManager[None]:
    """`torch_cpu_as_cuda`, or nothing where torch is not installed."""
    if importlib.util.find_spec("torch") is None:
        return nullcontext()
    return torch_cpu_as_cuda(**settings)


def _replacements(available: bool, is_cuda: bool,
                  capability: tuple[int, int]) -> Iterator[tuple[Any, str, Any]]:
    """(owner, attribute, what it is for a while)."""
    import torch

    targets = plugin.front_end("targets")
    device = targets.current_interface()
    facts, page = device.get_device_properties(), os.sysconf("SC_PAGE_SIZE")
    facts.__dict__.update(
        major=capability[0], minor=capability[1], warp_size=32, shared_memory_per_block_optin=1 << 20,
        gcnArchName=facts.name,  # Inductor's name of a device that is not CUDA's
        total_memory=page * os.sysconf("SC_PHYS_PAGES"),
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536)

    def answer(value: Any) -> Any:
        return lambda *arguments, **named: value

    def unchanged(tensor: Any, *arguments: Any, **named: Any) -> Any:
        return tensor

    answers = {"current_device": 0, "set_device": None, "get_device_capability": capability,
               "mem_get_info": (page * os.sysconf("SC_AVPHYS_PAGES"), facts.total_memory),
               "get_device_name": facts.name, "get_device_properties": facts, "empty_cache": None,
               "manual_seed": None, "manual_seed_all": None, "reset_peak_memory_stats": None,
               "is_available": available, "device_count": int(available), "is_initialized": available,
               "is_current_stream_capturing": False}  # torch.compile asks it of CUDA since torch 2.14
    for name, value in answers.items():
        yield torch.cuda, name, answer(value)
    if available:
        yield torch.cuda, "default_generators", (torch.default_generator,)
        for name, value in {"is_available": True, "device_count": 1, "current_device_index": 0,
                            "set_device_index": None, "empty_cache": None,
                            "current_accelerator": torch.device("cuda")}.items():
            yield torch.accelerator, name, answer(value)
        # torch.compile knows functions by what they are, and refuses to know one by two names
        yield torch.accelerator, "synchronize", functools.partial(device.synchronize)
        yield torch.accelerator, "current_stream", functools.partial(_stream_of_a_device, device)
        if hasattr(torch._C._dynamo.utils, "get_current_stream"):
            loaded = map(sys.modules.get, ("torch._dynamo.utils", "torch._dynamo.guards"))
            for module in (torch._C._dynamo.utils, *filter(None, loaded)):
                yield module, "get_current_stream", _accelerators_stream
    if targets.current_target().backend == "spirv" and _is_a_device("spirv"):
        yield torch, "spirv", torch.cuda
        yield torch.cuda, "get_amp_supported_dtype", answer([torch.float16, torch.bfloat16])
    # the first of these libraries hand to functions of their own, the second torch asks when it traces
    for name in ("_cuda_getCurrentRawStream", "_cuda_getDevice"):
        yield torch._C, name, answer(0)
    for name in ("device", "device_of"):
        yield torch.cuda, name, _TheDevice
    for name in ("Event", "Stream", "current_stream", "default_stream", "stream", "synchronize"):
        yield torch.cuda, name, getattr(device, name)
    for name in ("cuda", "pin_memory"):
        yield torch.Tensor, name, unchanged
    yield torch.Tensor, "record_stream", answer(None)
    if is_cuda:
        yield torch.Tensor, "is_cuda", property(lambda tensor: True)


class _TheDevice(AbstractContextManager[None]):
    """torch.cuda.device: there is one device, which is always the current one."""

    idx = prev_idx = 0

    def __init__(self, *device: Any) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def _stream_of_a_device(interface: Any, device: Any = None) -> Any:
    """The current stream, which says as torch's do that it is one of CUDA's."""
    import torch

    stream = interface.current_stream(device)
    stream.device = torch.device("cuda", 0)
    return stream


def _accelerators_stream(device: object) -> object:
    """What compiled models ask in torch's native code since 2.15, as they asked it before. Modules that are
    imported meanwhile keep this function."""
    import torch

    return torch.accelerator.current_stream(device)


def _is_a_device(name: str) -> bool:
    """Does torch know a device of that name? It has one name to give away, once in a process."""
    import torch

    if torch._C._get_privateuse1_backend_name() == "privateuseone":
        torch.utils.rename_privateuse1_backend(name)
    return torch._C._get_privateuse1_backend_name() == name


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = owner.__dict__.get(name, _ABSENT)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def _on_cpu(device: Any) -> Any:
    """A device as an argument has it: a number is one of CUDA's, as torch has it."""
    import torch

    if isinstance(device, bool):
        return device
    if isinstance(device, int):
        return "cpu"
    named = isinstance(device, (str, torch.device)) and str(device).partition(":")[0] in _DEVICES
    return "cpu" if named else device


def _redirected() -> Any:
    """The mode in which torch's functions take "cuda" for the CPU."""
    from torch.overrides import TorchFunctionMode
    from torch.utils import _device

    class OnCpu(TorchFunctionMode):

        def __torch_function__(self, function: Any, kinds: Any, arguments: Any = (),
                               named: Any = None) -> Any:
            named = dict(named or {})
            default = _device.CURRENT_DEVICE  # torch.set_default_device("cuda")
            if named.get("device") is not None:
                named["device"] = _on_cpu(named["device"])
            elif default is not None and function in _device._device_constructors():
                named["device"] = _on_cpu(default)
            if named.get("pin_memory"):
                named["pin_memory"] = False
            if getattr(function, "__name__", "") == "to" and len(arguments) > 1:
                arguments = (arguments[0], _on_cpu(arguments[1]), *arguments[2:])
            return function(*arguments, **named)

    return OnCpu()
