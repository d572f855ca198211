"""Compile and launch a generated program, and compare every buffer with what numpy says."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

import numeric
import numpy as np
import torch

from property.program import ZERO, Program, Value

GUARD = 8  # elements behind each buffer that no kernel may touch


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


def launch(program: Program, warps: int | None = None) -> dict[str, np.ndarray]:
    """What the buffers hold afterwards, guards included."""
    whole, arguments = {}, []
    for buffer in program.buffers:
        data = program.inputs()[buffer.name]
        size = buffer.shift + buffer.size + GUARD
        storage = numeric.poisoned(size, buffer.dtype)
        storage[buffer.shift : buffer.shift + buffer.size] = numeric.tensor(data, buffer.dtype)
        whole[buffer.name] = storage
        arguments.append(storage[buffer.shift :])
    kernel = kernel_of(program.source())
    kernel[(1,)](
        *arguments, *program.scalars.values(), num_warps=warps or program.warps, enable_fp_fusion=False
    )
    found = {}
    for buffer in program.buffers:
        storage, clean = whole[buffer.name], numeric.poisoned(len(whole[buffer.name]), buffer.dtype)
        inside = torch.zeros(len(storage), dtype=torch.bool)
        inside[buffer.shift : buffer.shift + buffer.size] = True
        size = storage.element_size()
        touched = (storage.view(torch.uint8) != clean.view(torch.uint8)).reshape(-1, size).any(1) & ~inside
        if touched.any():
            raise Disagreement(f"{buffer.name}: written out of bounds at {touched.nonzero()[:4].tolist()}")
        found[buffer.name] = numeric.array(storage[inside])
    return found


def check(program: Program, more_warps: bool = False) -> None:
    """Raise Disagreement where the kernel computes something else than numpy, or than itself otherwise
    spread."""
    expected = program.evaluate()
    found = launch(program)
    for buffer in program.buffers:
        compare(buffer.name, found[buffer.name], expected[buffer.name], buffer.level >= ZERO)
    if more_warps:
        again = launch(program, 1 if program.warps != 1 else 8)
        for name, value in again.items():
            compare(f"{name} with other num_warps", value, Value(found[name]), False)


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
