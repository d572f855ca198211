"""A device that ends loops before their time: the launch raises. Mesa's software device gives a program 65535
rounds; a device without such a limit computes what is asked."""

from __future__ import annotations

import numpy as np
import pytest
import triton_spirv
from triton_spirv.runtime.launch import DeviceAssertion
from triton_spirv.runtime.vulkan import arrays, devices, launch, program
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.target import LLVMPIPE_ROUNDS, target_of

HEAD = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @count(%out: !tt.ptr<i32>, %first: i32, %second: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
"""
TAIL = "    tt.store %out, %counted : !tt.ptr<i32>\n    tt.return\n  }\n}\n"
BODIES = {
    "one after the other": """
    %half = scf.for %i = %zero to %first step %one iter_args(%x = %zero) -> (i32) : i32 {
      %n = tt.load %out : !tt.ptr<i32>
      %y = arith.addi %x, %one : i32
      %z = arith.addi %y, %n : i32
      scf.yield %z : i32
    }
    %counted = scf.for %i = %zero to %second step %one iter_args(%x = %half) -> (i32) : i32 {
      %n = tt.load %out : !tt.ptr<i32>
      %y = arith.addi %x, %one : i32
      %z = arith.addi %y, %n : i32
      scf.yield %z : i32
    }
""",
    "one in the other": """
    %counted = scf.for %i = %zero to %first step %one iter_args(%x = %zero) -> (i32) : i32 {
      %sum = scf.for %j = %zero to %second step %one iter_args(%y = %x) -> (i32) : i32 {
        %n = tt.load %out : !tt.ptr<i32>
        %z = arith.addi %y, %one : i32
        %w = arith.addi %z, %n : i32
        scf.yield %w : i32
      }
      scf.yield %sum : i32
    }
""",
    "while": """
    %end = arith.addi %first, %second : i32
    %counted = scf.while (%x = %zero) : (i32) -> i32 {
      %on = arith.cmpi slt, %x, %end : i32
      scf.condition(%on) %x : i32
    } do {
    ^bb0(%x: i32):
      %n = tt.load %out : !tt.ptr<i32>
      %y = arith.addi %x, %one : i32
      %z = arith.addi %y, %n : i32
      scf.yield %z : i32
    }
""",
}
COUNTS = {
    "one after the other": [(0, 0), (1000, 1), (30000, 30000), (30000, 36000), (0, 70000), (70000, 0)],
    "one in the other": [(3, 0), (100, 600), (300, 300), (1, 70000), (40000, 1)],
    "while": [(0, 0), (30000, 30000), (40000, 30000)],
}


@pytest.mark.parametrize(("form", "first", "second"),
                         [(form, *counts) for form in COUNTS for counts in COUNTS[form]])
def test_no_loop_is_cut_silently(context: Context, device: devices.Device, form: str, first: int,
                                 second: int) -> None:
    target = target_of(device)
    artifact = triton_spirv.compile(HEAD + BODIES[form] + TAIL, target, num_warps=1)
    kernel = launch.Kernel(program.build(context, artifact.words, artifact))
    out = arrays.asarray(context, np.zeros(1, np.int32))
    rounds = first + first * second if form == "one in the other" else first + second
    kernel.launch(1, 1, 1, (out, first, second))
    if device.driver == "llvmpipe" and rounds > LLVMPIPE_ROUNDS:
        with pytest.raises(DeviceAssertion, match="65535 rounds of all loops"):
            out.numpy()
    else:
        assert out.numpy()[0] == rounds - (first if form == "one in the other" else 0)
    kernel.launch(1, 1, 1, (out.fill_(0), 5, 6))    # the next launch is judged by itself
    assert out.numpy()[0] == (30 if form == "one in the other" else 11)
