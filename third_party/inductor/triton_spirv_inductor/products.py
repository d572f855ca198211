"""Matrix products as Triton kernels, where they are faster than torch's library on this processor.

Inductor calls torch's library for a product, and computes what is done with the result in a kernel behind it.
Here the product is a kernel of its own, which Inductor puts that work into: bias, activation, residual. How
fast the library is depends on the processor: on one it is twice as slow, on another it packs operands better.
So both are timed (library.py). Products of static sizes are written so; with max_autotune Inductor times its
own list.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from triton_spirv.runtime.processor import cores

from . import library

#: rows, columns and terms of a product that a kernel is written for, at least, and what they multiply to:
#: of smaller ones the launch takes most
FEWEST, SMALLEST = 16, 64 ** 3

#: sizes of blocks -> how much longer a product takes with it, beside the best, of shapes that all divide
LONGER = {"BLOCK_M": {128: 1.0, 64: 1.03, 32: 1.08, 16: 1.25},
          "BLOCK_N": {128: 1.0, 64: 1.02, 32: 1.1},
          "BLOCK_K": {64: 1.0, 128: 1.01, 32: 1.04}}


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each product."""
    import torch
    from torch._inductor import lowering

    aten = torch.ops.aten
    replace(lowering.lowerings, aten.mm, mm_by)
    replace(lowering.lowerings, aten.bmm, mm_by)
    replace(lowering.lowerings, aten.addmm, addmm_by)


def replace(lowerings: dict[Any, Any], operator: Any, by: Callable[[Any], Any]) -> None:
    """What `by` makes of an operator's lowering, for all overloads that have it."""
    written = lowerings[operator.default]
    made = by(written)
    for overload in (operator, *(getattr(operator, name) for name in operator.overloads())):
        if lowerings.get(overload) is written:
            lowerings[overload] = made


def mm_by(written: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(written)
    def mm(mat1: Any, mat2: Any, *more: Any, **named: Any) -> Any:
        found = None if more or named else kernel_of(mat1, mat2)
        return written(mat1, mat2, *more, **named) if found is None else found

    return mm


def addmm_by(written: Callable[..., Any]) -> Callable[..., Any]:
    from torch._inductor.lowering import lowerings
    from torch.ops import aten

    @functools.wraps(written)
    def addmm(inp: Any, mat1: Any, mat2: Any, *, alpha: Any = 1, beta: Any = 1, **named: Any) -> Any:
        unread = alpha == 0  # what the library does not look at then, NaN or not
        found = None if named or unread or inp.get_dtype() != mat1.get_dtype() else kernel_of(mat1, mat2)
        if found is None:
            return written(inp, mat1, mat2, alpha=alpha, beta=beta, **named)
        if alpha != 1:
            found = lowerings[aten.mul](found, alpha)
        if beta == 0:  # what is added is not looked at, NaN or not
            return found
        return lowerings[aten.add](found, inp if beta == 1 else lowerings[aten.mul](inp, beta))

    return addmm


def kernel_of(mat1: Any, mat2: Any) -> Any:
    """[M, K] x [K, N], or batches of them -> a node of Inductor's with a kernel; None where torch's
    library is called."""
    from torch._inductor.kernel.mm_common import mm_args
    from torch._inductor.virtualized import V

    sizes = sizes_of(mat1, mat2)
    if sizes is None:
        return None
    batch, m, n, k = sizes
    blocks, longer = blocks_of(batch, m, n, k, cores())
    if not library.is_slower(mat1.get_dtype(), longer):
        return None
    *_, layout, mat1, mat2 = mm_args(mat1, mat2)
    if any(V.graph.get_dtype(x.get_name()) != x.get_dtype() for x in (mat1, mat2)):
        return None  # bits of another type: templates load what the memory holds
    choices: list[Any] = []
    whole = {f"EVEN_{axis}": size % blocks[f"BLOCK_{axis}"] == 0
             for axis, size in (("M", m), ("N", n), ("K", k))}
    template = templates()[len(mat1.get_size()) == 3]
    refused = template.maybe_append_choice(choices, input_nodes=(mat1, mat2), layout=layout, num_stages=1,
                                           num_warps=1, ALLOW_TF32=False, ACC_TYPE="tl.float32", **blocks,
                                           **whole)
    return None if refused is not None or not choices else choices[0].output_node()


def sizes_of(mat1: Any, mat2: Any) -> tuple[int, int, int, int] | None:
    """Batches, rows, columns and terms; None for what no kernel is written for."""
    import torch
    from torch._inductor import config

    if config.cpu_backend != "triton" or config.max_autotune or config.max_autotune_gemm or \
            config.triton.native_matmul or config.deterministic or \
            torch.are_deterministic_algorithms_enabled():
        return None
    if any(x.get_device().type != "cpu" or x.get_dtype() != mat1.get_dtype() for x in (mat1, mat2)) or \
            mat1.get_dtype() not in (torch.float32, torch.float16, torch.bfloat16):
        return None
    sizes = [int(size) if getattr(size, "is_number", isinstance(size, int)) else 0
             for size in (*mat1.get_size(), *mat2.get_size())]
    batch, (m, k), (_, n) = sizes[0] if len(sizes) == 6 else 1, sizes[len(sizes) // 2 - 2:len(sizes) // 2], \
        sizes[-2:]
    return (batch, m, n, k) if batch and min(m, n, k) >= FEWEST and m * n * k >= SMALLEST else None


def blocks_of(batch: int, m: int, n: int, k: int, cores: int) -> tuple[dict[str, int], float]:
    """The best block sizes, and how much longer a product takes with them than one that fills blocks and
    cores: rows beyond its end are computed, too, and cores wait for the last program."""
    def longer(blocks: tuple[int, ...]) -> float:
        filled = [-(-size // block) * block / size for size, block in zip((m, n, k), blocks, strict=True)]
        programs = batch * -(-m // blocks[0]) * -(-n // blocks[1])
        waiting = -(-programs // cores) * cores / programs
        return prod(filled) * waiting * prod(table[block] for table, block in
                                             zip(LONGER.values(), blocks, strict=True))

    best = min(product(*LONGER.values()), key=longer)
    return dict(zip(LONGER, best, strict=True)), longer(best)


@functools.cache
def templates() -> tuple[Any, Any]:
    """Inductor's objects for a product and for batches of them."""
    from torch._inductor.kernel.bmm import bmm_grid
    from torch._inductor.kernel.mm_common import mm_grid
    from torch._inductor.select_algorithm import TritonTemplate

    source = (Path(__file__).parent / "product.py.jinja").read_text(encoding="utf-8")
    return (TritonTemplate(name="spirv_mm", grid=mm_grid, source=source.replace("BATCHED", "0")),
            TritonTemplate(name="spirv_bmm", grid=bmm_grid, source=source.replace("BATCHED", "1")))
