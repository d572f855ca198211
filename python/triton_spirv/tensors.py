"""Tensors of torch whose memory is not their elements: lazily conjugated and negated views, and tensors whose
storage holds nothing."""

from __future__ import annotations

import functools
from typing import Any

from .errors import LaunchError


def check_elements(tensor: Any) -> None:
    """LaunchError where a kernel would find something else at the tensor's address than its elements."""
    if tensor.is_conj():
        raise LaunchError("the tensor is a conjugated view, and its memory holds the values before "
                          "conjugation: pass x.resolve_conj()")
    if tensor.is_neg():
        raise LaunchError("the tensor is a negated view, and its memory holds the values before "
                          "negation: pass x.resolve_neg()")
    if not tensor.numel():
        return
    if tensor._is_zerotensor():
        raise LaunchError("the tensor stands for zeros and has no memory (torch._efficientzerotensor): pass "
                          "x.clone()")
    storage = tensor.untyped_storage()
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    needed = (tensor.storage_offset() + last + 1) * tensor.element_size()
    if needed > storage.nbytes():
        raise LaunchError(f"the tensor's storage has {storage.nbytes()} bytes, its elements need {needed}: "
                          "it was made smaller (x.untyped_storage().resize_()); make it as large as it was, "
                          "and fill it, before the launch")


def why_not_shared(tensor: Any) -> str:
    """Why kernels of OpenCL cannot work on a tensor that is not in host memory, and the way out."""
    if str(tensor.device).startswith("xpu"):
        return (f"the tensor is on {tensor.device}, in memory of Level Zero's, which OpenCL does not have: "
                "pass tensor.cpu(), or triton_spirv.asarray(tensor, device='gpu'), a copy for many launches")
    return f"the tensor is on {tensor.device}, kernels here work on host memory: pass tensor.cpu()"


@functools.cache
def lowest_address() -> int:
    """Memory of tensors is not below it, as a rule: a tensor with an address there wants `check_elements`. A
    view of an emptied storage has its offset, in bytes, for an address."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            lines = file.readlines()
    except OSError:
        return 1 << 16  # what the system leaves unmapped below everything
    heap = next((line for line in lines if line.rstrip().endswith("[heap]")), lines[0])
    return int(heap.partition("-")[0], 16)
