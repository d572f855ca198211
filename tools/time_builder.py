"""Print what the SPIR-V builder costs: microseconds for each kind of call, best of some rounds.

    python tools/time_builder.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

from triton_spirv.spirv import Float, Module, Pointer, Vector, Void, listing

COUNT, ROUNDS = 1000, 8
F32x16 = Vector(Float(32), 16)


def best(action: Callable[[], object], count: int) -> float:
    """Microseconds of one of the `count` steps of an action."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times) / count * 1e6


def repeated(action: Callable[[], object]) -> Callable[[], object]:
    def loop() -> None:
        for _ in range(COUNT):
            action()
    return loop


def main() -> None:
    m = Module()
    function = m.function("kernel", Void(), [Pointer("CrossWorkgroup", F32x16)])
    pointer = function.parameters[0]
    m.begin(m.label())
    x = m.emit("OpLoad", pointer, ("Aligned", 64), type=F32x16)
    steps: dict[str, Callable[[], object]] = {
        "emit OpFAdd": lambda: m.emit("OpFAdd", x, x, type=F32x16),
        "emit OpLoad Aligned": lambda: m.emit("OpLoad", pointer, ("Aligned", 64), type=F32x16),
        "emit OpStore Aligned": lambda: m.emit("OpStore", pointer, x, ("Aligned", 64)),
        "emit OpCompositeExtract": lambda: m.emit("OpCompositeExtract", x, 3, type=Float(32)),
        "ext exp": lambda: m.ext("OpenCL.std", "exp", x, type=F32x16),
        "constant again": lambda: m.constant(F32x16, 2.0),
        "Vector(Float(32), 16)": lambda: Vector(Float(32), 16),
    }
    for name, step in steps.items():
        print(f"{name:24} {best(repeated(step), COUNT):6.2f} us")
    m.emit("OpReturn")
    m.end_function()
    print(f"{'words':24} {best(m.words, m.instruction_count):6.2f} us an instruction")
    print(f"{'listing':24} {best(lambda: listing(m), m.instruction_count):6.2f} us an instruction")


if __name__ == "__main__":
    main()
