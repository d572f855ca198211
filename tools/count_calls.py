"""Print what compiling one masked 2D load and its store costs: calls of Python functions, how deep they lie,
files of the emitter that take part, and the least of some processor times.

    python tools/count_calls.py
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from triton_spirv import compile  # noqa: E402

ROUNDS = 150

#: where each file of the emitter lies
FOLDER = "triton_spirv/lower/"

COPY = """\
module {
  tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                       %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %n: i32) {
    %zero = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ms = tt.splat %m : i32 -> tensor<32x1xi32>
    %ns = tt.splat %n : i32 -> tensor<1x64xi32>
    %mr = arith.cmpi slt, %r1, %ms : tensor<32x1xi32>
    %mc = arith.cmpi slt, %c1, %ns : tensor<1x64xi32>
    %mrb = tt.broadcast %mr : tensor<32x1xi1> -> tensor<32x64xi1>
    %mcb = tt.broadcast %mc : tensor<1x64xi1> -> tensor<32x64xi1>
    %mask = arith.andi %mrb, %mcb : tensor<32x64xi1>
    %nr = tt.splat %n : i32 -> tensor<32x1xi32>
    %row = arith.muli %r1, %nr : tensor<32x1xi32>
    %rowb = tt.broadcast %row : tensor<32x1xi32> -> tensor<32x64xi32>
    %colb = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<32x64xi32>
    %off = arith.addi %rowb, %colb : tensor<32x64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %off : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %v = tt.load %xp, %mask, %zero : tensor<32x64x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %off : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    tt.store %yp, %v, %mask : tensor<32x64x!tt.ptr<f32>>
    tt.return
  }
}
"""


@dataclass
class Cost:
    """calls: resumed generators included; depth: of calls in calls."""

    calls: int = 0
    depth: int = 0
    files: set[str] = field(default_factory=set)


def cost(text: str = COPY) -> Cost:
    """Of compiling a kernel that was compiled before, for a CPU."""
    found, depth = Cost(), 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal depth
        if event == "call":
            depth += 1
            found.calls, found.depth = found.calls + 1, max(found.depth, depth)
            name = frame.f_code.co_filename.replace(os.sep, "/")
            if FOLDER in name:
                found.files.add(name.partition(FOLDER)[2])
        elif event == "return":
            depth -= 1

    words = os.environ.pop("TRITON_SPIRV_DEBUG", None)  # the tests' verifiers
    compile(text, "cpu")
    sys.setprofile(profile)
    try:
        compile(text, "cpu")
    finally:
        sys.setprofile(None)
        if words is not None:
            os.environ["TRITON_SPIRV_DEBUG"] = words
    return found


def main() -> None:
    found, times = cost(), []
    for _ in range(ROUNDS):
        start = time.process_time()
        compile(COPY, "cpu")
        times.append(time.process_time() - start)
    print(f"{found.calls} calls, {found.depth} deep, {len(found.files)} files of lower/, "
          f"{min(times) * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
