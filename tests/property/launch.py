"""Compile and launch a generated program, and compare every buffer with what numpy says, and with what the
same program computes when it is spread, aligned or specialised otherwise."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

import numeric
import numpy as np
import torch
from conftest import assert_valid

from property.program import Program
from property.steps import ROUNDED, ZERO, Value

GUARD = 8  # elements behind each buffer that no kernel may touch

#: what must not change a result. `arguments`: other alignments; `specialised`: no scalar is a constant or
#: known to be divisible by 16; `block`: a tiled program in other tiles.
VARIANTS = ("warps", "arguments", "specialised", "block")


#: without debug=True the front end drops it
ASSERTION = "tl.device_assert"


class Disagreement(AssertionError):
    """A buffer holds something else than numpy computes."""


def kernel_of(source: str) -> Any:
    """The kernel of a module text; @triton.jit needs a file."""
    handle, path = tempfile.mkstemp(suffix=".py", prefix="generated_")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(source)
        specification = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert specification and specification.loader
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module.kernel
    finally:
        os.unlink(path)


def launch(program: Program, variant: str = "") -> dict[str, np.ndarray]:
    """What the buffers hold afterwards; Disagreement where something else was written."""
    whole: dict[str, torch.Tensor] = {}
    shifts = {b.name: b.shift ^ (3 if variant == "arguments" else 0) for b in program.buffers}
    for name, data in program.inputs().items():
        buffer = program.named(name)
        storage = numeric.poisoned(shifts[name] + len(data) + GUARD, buffer.dtype)
        storage[shifts[name] : shifts[name] + len(data)] = numeric.tensor(data, buffer.dtype)
        whole[name] = storage
    arguments = [whole[b.root.name][shifts[b.root.name] + b.offset :] for b in program.buffers]
    warps, grid = program.warps, program.grid
    options: dict[str, Any] = {}
    if variant == "warps":
        warps = 1 if warps != 1 else 8
    if program.tile:
        block = program.tile // (4 if variant == "block" else 1)
        grid, options = (program.tile // block,), {"BLOCK": block}
    source = program.source(unspecialised=variant == "specialised")
    if ASSERTION in source and not os.environ.get("TRITON_INTERPRET"):
        options |= {"debug": True, "sanitize_overflow": False}
    assert_valid(kernel_of(source)[grid](*arguments, *program.scalars.values(), num_warps=warps,
                                         enable_fp_fusion=False, **options))
    found = {}
    for buffer in program.own():
        storage, clean = whole[buffer.name], numeric.poisoned(len(whole[buffer.name]), buffer.dtype)
        shift = shifts[buffer.name]
        inside = torch.zeros(len(storage), dtype=torch.bool)
        inside[shift : shift + program.length(buffer)] = True
        size = storage.element_size()
        touched = (storage.view(torch.uint8) != clean.view(torch.uint8)).reshape(-1, size).any(1) & ~inside
        if touched.any():
            raise Disagreement(f"{buffer.name}: written out of bounds at {touched.nonzero()[:4].tolist()}")
        found[buffer.name] = numeric.array(storage[inside])
    return found


def check(program: Program, variants: tuple[str, ...] = (), order_is_open: bool = False) -> list[str]:
    """The comparisons that were made; Disagreement where the kernel computes something else than numpy, or
    than itself otherwise spread.

    `order_is_open`: warps, and what is known of arguments, say how a tensor is spread over lanes, and so in
    which order floats are added."""
    expected = program.evaluate()
    found = launch(program)
    made = ["numpy"]
    for buffer in program.own():
        compare(buffer.name, found[buffer.name], expected[buffer.name], buffer.level >= ZERO)
    for variant in variants:
        if (variant == "block" and not program.tile) or (variant == "specialised" and not program.scalars):
            continue
        again = launch(program, variant)
        open_order = variant == "block" or order_is_open
        for buffer in program.own():
            name, value = buffer.name, Value(found[buffer.name])
            if open_order and buffer.level == ROUNDED:
                value = expected[name]
            compare(f"{name} with other {variant}", again[name], value, buffer.level >= ZERO)
        made.append(variant)
    return made


def compare(name: str, found: np.ndarray, expected: Value, zeros_are_equal: bool) -> None:
    data, error = expected.data, expected.error
    with np.errstate(all="ignore"):
        wrong = found != data
        if found.dtype.kind == "f":
            wrong &= ~(np.isnan(found) & np.isnan(data))
            if error is not None:
                near = np.abs(found.astype(np.float64) - data.astype(np.float64)) <= error
                wrong &= ~(near | np.isinf(error))
            if not zeros_are_equal:
                wrong |= (found == 0) & (data == 0) & (np.signbit(found) != np.signbit(data))
    if wrong.any():
        places = np.nonzero(wrong)[0]
        shown = "\n".join(f"  [{i}]: got {found[i]!r}, expected {data[i]!r}" for i in places[:6])
        raise Disagreement(f"{name}: {len(places)} of {wrong.size} elements differ\n{shown}")
