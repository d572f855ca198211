"""A program as a file of its own: the kernel, its arguments, and the numbers that it should leave."""

from __future__ import annotations

import base64
import zlib

import numeric
import numpy as np
import torch

from property.launch import ASSERTION
from property.program import Program

SHORT = 40  # elements that are shown as a list

TOP = '''"""{why}

{how}
"""

import base64
import os
import zlib

for name, value in {variables!r}.items():
    os.environ[name] = value

import torch
'''

MIDDLE = '''

def filled(dtype, values):
    """A tensor: of numbers, or of bytes (zlib, base64) where there are many."""
    if isinstance(values, list):
        return torch.tensor(values, dtype=dtype)
    return torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(values))), dtype=dtype).clone()


def differences(found, expected, error):
    """How many elements are further off than the error."""
    if not found.dtype.is_floating_point:
        return int((found != expected).sum())
    found, expected = found.double(), expected.double()
    same = (found == expected) | (found.isnan() & expected.isnan())
    return int((~same & ~((found - expected).abs() <= error)).sum())

'''


def standalone(program: Program, why: str, how: str, variables: dict[str, str]) -> str:
    """The text of the file; `how` says what else runs it, `variables` select the mode."""
    expected, lines = program.evaluate(), []
    for name, data in program.inputs().items():
        buffer = program.named(name)
        lines.append(f"{name}_whole = {_filled(data, buffer.dtype, buffer.shift)}")
        lines.append(f"{name} = {name}_whole[{buffer.shift}:]")
    for buffer in program.buffers:
        if buffer.of is not None:
            lines.append(f"{buffer.name} = {buffer.of.name}[{buffer.offset}:]")
    named = [b.name for b in program.buffers] + [str(value) for value in program.scalars.values()]
    grid, options = program.grid, f"num_warps={program.warps}, enable_fp_fusion=False"
    if program.tile:
        grid, options = (1,), f"{options}, BLOCK={program.tile}"
    if ASSERTION in program.source():
        options = f"{options}, debug=True, sanitize_overflow=False"
    lines.append(f"kernel[{grid}]({', '.join([*named, options])})")
    for buffer in program.own():
        value = expected[buffer.name]
        error = "0"
        if value.error is not None and value.error.any():
            error = _filled(value.error, "f64", 0)
        lines.append(f"wrong = differences({buffer.name}, {_filled(value.data, buffer.dtype, 0)}, {error})")
        lines.append(f'print("{buffer.name}:", wrong, "of {len(value.data)} wrong")')
    body = "".join(f"    {text}\n" for text in lines)
    top = TOP.format(why=why.replace("\\", "/"), how=how, variables=variables)
    return f"{top}{program.source()}{MIDDLE}\nif __name__ == \"__main__\":\n{body}"


def _filled(data: np.ndarray, dtype: str, shift: int) -> str:
    """A call that makes the tensor, with `shift` zeros before."""
    kind = numeric.DTYPES[dtype].torch
    tensor = torch.cat([torch.zeros(shift, dtype=kind), numeric.tensor(data, dtype)])
    values: object = tensor.tolist()
    if len(tensor) > SHORT or not all(np.isfinite(tensor.double().numpy())):
        stored = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        values = base64.b64encode(zlib.compress(stored)).decode()
    return f"filled({kind}, {values!r})"
