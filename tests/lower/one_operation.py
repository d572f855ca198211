"""A kernel in IR of one operation, element by element, for operations that no Triton kernel reaches."""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
from numeric import FLOATS

SIGNED = ("i8", "i16", "i32", "i64")


def compute(run_text: Any, line: str, values: list[np.ndarray], dtypes: list[str], results: list[str],
            block: int = 256) -> list[Any]:
    """Run one operation, `%r = <line>` on `%v0`, `%v1`, ..., in programs of `block` elements; 1: on scalars.

    T<dtype> stands for the type of a block.
    """
    def kind(dtype: str) -> str:
        return f"tensor<{block}x{dtype}>" if block > 1 else dtype

    def pointer(dtype: str) -> str:
        return f"tensor<{block}x!tt.ptr<{dtype}>>" if block > 1 else f"!tt.ptr<{dtype}>"

    names = {dtype: kind(dtype) for dtype in (*FLOATS, *SIGNED, "i1")}
    for dtype, spelled in names.items():
        line = line.replace(f"T<{dtype}>", spelled)
    every = [*dtypes, *results]
    body = [f"%size = arith.constant {block} : i32", "%pid = tt.get_program_id x : i32",
            "%first = arith.muli %pid, %size : i32"]
    if block > 1:
        body += [f"%range = tt.make_range {{end = {block} : i32, start = 0 : i32}} : tensor<{block}xi32>",
                 f"%start = tt.splat %first : i32 -> tensor<{block}xi32>",
                 f"%offset = arith.addi %start, %range : tensor<{block}xi32>"]
    for i, dtype in enumerate(every):
        base = f"%p{i}"
        if block > 1:
            body.append(f"%s{i} = tt.splat %p{i} : !tt.ptr<{dtype}> -> {pointer(dtype)}")
            base = f"%s{i}"
        offset = "%offset" if block > 1 else "%first"
        body.append(f"%q{i} = tt.addptr {base}, {offset} : {pointer(dtype)}, {kind('i32')}")
        if i < len(dtypes):
            body.append(f"%v{i} = tt.load %q{i} : {pointer(dtype)}")
    names_of_results = ["%r"] if len(results) == 1 else [f"%r#{i}" for i in range(len(results))]
    body.append(f"%r{f':{len(results)}' if len(results) > 1 else ''} = {line}")
    for i, name in enumerate(names_of_results, len(dtypes)):
        body.append(f"tt.store %q{i}, {name} : {pointer(every[i])}")
    arguments = ", ".join(f"%p{i}: !tt.ptr<{dtype}>" for i, dtype in enumerate(every))
    text = "\n".join(["module {", f"tt.func public @kernel({arguments}) {{", *body, "tt.return", "}", "}"])
    inputs = [numeric.tensor(v, d) for v, d in zip(values, dtypes, strict=True)]
    outputs = [numeric.poisoned(len(values[0]), dtype) for dtype in results]
    run_text(text, len(values[0]) // block, *inputs, *outputs)
    return outputs
