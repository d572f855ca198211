"""Tensors of torch whose memory is not their elements: lazily conjugated and negated views, and tensors whose
storage holds nothing."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol, TypeGuard

from .errors import LaunchError


class Addressed(Protocol):
    """Memory that says where it begins: any array or tensor."""

    def data_ptr(self) -> int: ...


class Storage(Addressed, Protocol):
    """What a tensor of torch's is a view of."""

    def nbytes(self) -> int: ...


class Placed(Addressed, Protocol):
    """A tensor of torch's, or of something that is like it: on which device?"""

    @property
    def is_cpu(self) -> bool: ...
    @property
    def device(self) -> object: ...


class Tensor(Placed, Protocol):
    """torch's, as far as launches ask."""

    @property
    def shape(self) -> Sequence[int]: ...
    def stride(self) -> Sequence[int]: ...
    def numel(self) -> int: ...
    def element_size(self) -> int: ...
    def storage_offset(self) -> int: ...
    def untyped_storage(self) -> Storage: ...
    def detach(self) -> Tensor: ...
    def is_conj(self) -> bool: ...
    def is_neg(self) -> bool: ...
    def _is_zerotensor(self) -> bool: ...


def has_address(argument: object) -> TypeGuard[Addressed]:
    """Is it an array or a tensor, or a wrapper around one?"""
    return hasattr(argument, "data_ptr")


def is_tensor(argument: object) -> TypeGuard[Tensor]:
    """Is it a tensor of torch's?"""
    return hasattr(argument, "is_conj")


def has_storage(argument: object) -> TypeGuard[Tensor]:
    """The same, asked of what this is about: an argument that is a view of something."""
    return hasattr(argument, "untyped_storage")


def check_elements(tensor: Tensor) -> None:
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


def why_not_shared(tensor: Placed) -> str:
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
