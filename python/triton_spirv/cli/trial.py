"""The kernel with which the doctor tries a device: total = x + y, in the IR that Triton would hand over. So a
device can be tried where Triton is not installed.

    python -m triton_spirv.cli.trial INDEX NAME

tries an OpenCL device in this process, for runtime/trial.py: whether the process survives is what is asked.
"""

from __future__ import annotations

import sys

from ..target import Target

#: elements of one program; warps that share it where lanes do
BLOCK, WARPS = 64, 4

_TEXT = """
module ATTRIBUTES {
  tt.func public @trial(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %total: !tt.ptr<f32>, %n: i32) {
    %size = arith.constant 64 : i32
    %program = tt.get_program_id x : i32
    %start = arith.muli %program, %size : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32LAYOUT>
    %starts = tt.splat %start : i32 -> tensor<64xi32LAYOUT>
    %i = arith.addi %starts, %range : tensor<64xi32LAYOUT>
    %ends = tt.splat %n : i32 -> tensor<64xi32LAYOUT>
    %keep = arith.cmpi slt, %i, %ends : tensor<64xi32LAYOUT>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>LAYOUT>
    %xi = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>LAYOUT>, tensor<64xi32LAYOUT>
    %a = tt.load %xi, %keep : tensor<64x!tt.ptr<f32>LAYOUT>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>LAYOUT>
    %yi = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>LAYOUT>, tensor<64xi32LAYOUT>
    %b = tt.load %yi, %keep : tensor<64x!tt.ptr<f32>LAYOUT>
    %sum = arith.addf %a, %b : tensor<64xf32LAYOUT>
    %ts = tt.splat %total : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>LAYOUT>
    %ti = tt.addptr %ts, %i : tensor<64x!tt.ptr<f32>LAYOUT>, tensor<64xi32LAYOUT>
    tt.store %ti, %sum, %keep : tensor<64x!tt.ptr<f32>LAYOUT>
    tt.return
  }
}
"""


def trial_text(target: Target) -> str:
    """TTIR, or TTGIR where lanes share a program."""
    if not target.lanes:
        return _TEXT.replace("ATTRIBUTES ", "").replace("LAYOUT", "")
    lanes = target.sub_group_size
    layout = (f"#lanes = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{lanes}], "
              f"warpsPerCTA = [{WARPS}], order = [0]}}>\n")
    attributes = (f'attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {WARPS} : i32, '
                  f'"ttg.threads-per-warp" = {lanes} : i32}} ')
    return layout + _TEXT.replace("ATTRIBUTES ", attributes).replace("LAYOUT", ", #lanes")


def main(index: str, name: str) -> int:
    """0: a kernel ran and was right; WRONG: its results were not; 1: anything else, said on stderr."""
    from ..runtime.devices import devices
    from ..runtime.trial import WRONG
    from .doctor import try_kernel

    found = [device for device in devices() if (str(device.index), device.name) == (index, name)]
    try:
        try_kernel(found[0])
    except ArithmeticError as error:
        print(error, file=sys.stderr)
        return WRONG
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
