"""A pytest plugin: bitsandbytes' operations on CPU tensors are those of its Triton backend.

The library registers that backend for Intel GPUs ("xpu") only. It is the same registration here, for "cpu".
"""

from __future__ import annotations

from typing import Any

_libraries: list[Any] = []  # a registration lasts as long as its library


def pytest_collection_modifyitems() -> None:
    """The tests are loaded, and with them bitsandbytes."""
    import torch
    from bitsandbytes.backends.triton import ops

    library = torch.library.Library("bitsandbytes", "IMPL", "CPU")
    _libraries.append(library)
    for name, function in {
        "quantize_blockwise": ops.quantize_blockwise,
        "dequantize_blockwise": ops.dequantize_blockwise,
        "dequantize_blockwise.out": ops.dequantize_blockwise_inplace,
        "quantize_4bit": ops.quantize_4bit,
        "dequantize_4bit": ops.dequantize_4bit,
        "dequantize_4bit.out": ops.dequantize_4bit_inplace,
        "gemv_4bit": ops.gemv_4bit,
        "optimizer_update_8bit_blockwise": ops.optimizer_update_8bit_blockwise,
        "optimizer_update_32bit": ops.optimizer_update_32bit,
    }.items():
        library.impl(name, function, "CPU", allow_override=True)
