"""Tensors of torch.xpu, and arrays of an OpenCL GPU for torch.

torch keeps tensors of Intel's GPUs in a context of SYCL's, on Level Zero. OpenCL does not have that memory (a
kernel faults there: test_simulated_gpu.py, test_kernels_fault_where_they_may_not_be), nor Level Zero that of
OpenCL: what crosses is copied, on the host. There is no torch.xpu here; `XpuTensor` stands for one in what is
asked of it before a kernel would use its memory.
"""

from __future__ import annotations

from typing import Any

import handmade
import numpy as np
import pytest
import triton_spirv
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import devices

torch = pytest.importorskip("torch")


class XpuTensor:
    """A tensor of torch.xpu: everything on the host that torch answers for it there."""

    is_cpu = False
    device = torch.device("xpu:0")

    def __init__(self, values: Any) -> None:
        self._values = values

    def data_ptr(self) -> int:
        raise AssertionError("the address is of no use")

    def cpu(self) -> Any:
        return self._values.cpu()

    def detach(self) -> XpuTensor:
        return self

    resolve_conj = resolve_neg = detach

    def numpy(self) -> Any:
        raise TypeError("can't convert xpu:0 device type tensor to numpy. Use Tensor.cpu()")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 14, 0

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("nobody here has that device")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._values, name)


@pytest.mark.parametrize("where", ["cpu", "gpu"])
def test_refused_by_name(where: str, request: pytest.FixtureRequest) -> None:
    """Before the driver is asked anything; the ways out that are named work."""
    device = "cpu" if where == "cpu" else request.getfixturevalue("gpu")
    kernel = handmade.bind(handmade.scaled_add("arguments"), device)
    x, y, out = XpuTensor(torch.ones(8)), torch.full((8,), 2.0), torch.zeros(8)
    with pytest.raises(LaunchError, match=r"scaled_add, argument 0 \(x\): the tensor is on xpu:0, in memory "
                                          r"of Level Zero's, .* pass tensor\.cpu\(\), or triton_spirv"):
        kernel.launch(8, 1, 1, (x, y, out, 3.0))
    kernel.launch(8, 1, 1, (x.cpu(), y, out, 3.0))
    assert (out == 7).all()
    with pytest.raises(LaunchError, match="the tensor is on xpu:0"):
        triton_spirv.asarray(x)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_copies_cross(gpu: str, dtype: str) -> None:
    there = devices.name_of(devices.choose(gpu))
    tensor = XpuTensor(torch.arange(24).reshape(4, 6).to(getattr(torch, dtype)))
    array = triton_spirv.asarray(tensor, device=there)
    assert str(array.dtype) == dtype and array.shape == (4, 6)
    assert torch.equal(torch.from_dlpack(array), tensor.cpu())
    array.fill_(0)
    array[1:3].copy_from(XpuTensor(tensor.cpu()[:2]))
    back = torch.from_dlpack(array)
    assert torch.equal(back[1:3], tensor.cpu()[:2]) and not back[0].any() and not back[3].any()


# ---- arrays of the device for others

@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "float16", "bool", "int16"])
def test_a_copy_by_dlpack(gpu: str, dtype: str) -> None:
    """Of the right type, shape and strides; what numpy lacks, torch has."""
    there = devices.name_of(devices.choose(gpu))
    kind = triton_spirv.empty(1, dtype).dtype
    bits = (np.arange(24) % 2 == 0).astype(kind.storage).reshape(4, 6)
    array = triton_spirv.asarray(bits, dtype, device=there).T[1:]
    assert array.__dlpack_device__() == (1, 0)
    tensor = torch.from_dlpack(array)
    assert tensor.dtype == getattr(torch, dtype) and tensor.shape == (5, 4) and tensor.stride() == (1, 6)
    as_bits = tensor.contiguous().view(torch.uint8).numpy()
    np.testing.assert_array_equal(as_bits, np.ascontiguousarray(bits.T[1:]).view(np.uint8))
    tensor.zero_()
    assert array.numpy().any()
    if kind.name != kind.storage:
        with pytest.raises((BufferError, RuntimeError)):
            np.from_dlpack(array)


def test_what_dlpack_asks_for(gpu: str) -> None:
    """The array is not on a oneAPI device: memory of OpenCL belongs to no context of SYCL's."""
    array = triton_spirv.zeros(4, device=devices.name_of(devices.choose(gpu)))
    for options in ({}, {"dl_device": (1, 0)}, {"max_version": (1, 0)}, {"copy": True}, {"stream": None}):
        assert "dltensor" in str(array.__dlpack__(**options))
    for device in ((14, 0), (4, 0), (2, 0), (1, 1)):
        with pytest.raises(BufferError, match="does not reach; ask for"):
            array.__dlpack__(dl_device=device)
    with pytest.raises(BufferError, match="there can only be a copy"):
        array.__dlpack__(copy=False)
