"""Run by lower/test_debug.py in a process of its own, since device_print writes to the C library's stdout.

Every case prints with a prefix of its own, so that one run serves all tests.
"""

from __future__ import annotations

import family  # noqa: F401 - TRITON_SPIRV_TARGET may name its target
import numpy as np
import torch
import triton
import triton.language as tl
from triton_spirv.errors import MissingCapability


@triton.jit
def print_vector(x_ptr, PREFIX: tl.constexpr, HEX: tl.constexpr, BLOCK: tl.constexpr):
    tl.device_print(PREFIX, tl.load(x_ptr + tl.arange(0, BLOCK)), hex=HEX)


@triton.jit
def print_block(x_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.device_print("block", tl.load(x_ptr + i))


@triton.jit
def print_scalar(x_ptr):
    tl.device_print("scalar", tl.load(x_ptr + tl.program_id(0)))


@triton.jit
def print_as_threads():
    tl.device_print("each thread", 7)


@triton.jit
def print_text():
    tl.device_print("only text")


@triton.jit
def print_two(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("pair", x, x * 10)


@triton.jit
def print_in_branch(x_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    if x > 2:
        tl.device_print("large", x)


VECTORS = {
    "i8": np.array([-128, -1, 0, 127], np.int8),
    "u8": np.array([0, 1, 200, 255], np.uint8),
    "i32": np.array([-(2**31), -1, 0, 2**31 - 1], np.int32),
    "u32": np.array([0, 1, 2**31, 2**32 - 1], np.uint32),
    "i64": np.array([-(2**63), -1, 0, 2**63 - 1], np.int64),
    "f16": np.array([0, 0.5, -1.25, 100], np.float16),
    "f32": np.array([0, 0.5, -1.25, 1000.0], np.float32),
    "f64": np.array([0, 0.5, -1.25, 1e6], np.float64),
}


def main() -> None:
    integers = torch.arange(16, dtype=torch.int32)
    for name, values in VECTORS.items():
        try:
            print_vector[(1,)](torch.from_numpy(values), name, False, 4)
        except MissingCapability as error:
            assert "has no 64-bit floats" in str(error) and name == "f64"
    print_vector[(1,)](torch.from_numpy(VECTORS["i32"]), "hex", True, 4)
    print_block[(1,)](integers, 4, 4)
    print_scalar[(3, 1, 1)](integers)
    print_text[(2, 1, 2)]()
    print_as_threads[(1,)](print_each_thread=True, num_warps=2)
    print_two[(1,)](integers, 4)
    print_in_branch[(5,)](integers)


if __name__ == "__main__":
    main()
