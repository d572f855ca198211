"""Concatenations that are computed where they are used.

Inductor writes the parts of a concatenation into one array when it compiles for a CPU, whatever reads that,
since its C++ backend was slower otherwise. In a Triton kernel a part is a masked load. So where all who use a
concatenation compute element by element, and its parts are few and cheap, they compute with the parts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

#: parts of a concatenation, all of which are looked at for each element, and operations of each of them
MOST_PARTS, MOST_OPERATIONS = 4, 8


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each concatenation."""
    import torch
    from torch._inductor import config, lowering

    aten = torch.ops.aten
    written = lowering.lowerings[aten.cat.default]

    @functools.wraps(written)
    def cat(inputs: Sequence[Any], dim: int = 0) -> Any:
        if config.cpu_backend != "triton" or not is_computed_where_used(inputs):
            return written(inputs, dim)
        with config.patch(force_pointwise_cat=True):
            return written(inputs, dim)

    for overload in (aten.cat, aten.cat.default):
        if lowering.lowerings.get(overload) is written:
            lowering.lowerings[overload] = cat


def is_computed_where_used(inputs: Sequence[Any]) -> bool:
    """Few cheap parts on the CPU, and no user that needs the whole as an array."""
    from torch._inductor.lowering import is_pointwise_use
    from torch._inductor.virtualized import V

    if not 1 < len(inputs) <= MOST_PARTS or any(x.get_device().type != "cpu" for x in inputs):
        return False
    users = list(V.current_node.users)
    return bool(users) and all(map(is_pointwise_use, users)) and all(
        operations(x) <= MOST_OPERATIONS for x in inputs)


def operations(part: Any) -> int:
    """Operations for each element of what Inductor has not decided to write to memory; 0 for an array."""
    from torch._inductor import ir

    while isinstance(part, (ir.TensorBox, ir.StorageBox, ir.BaseView)):
        part = part.data
    return int(part.inner_fn_opcount().num_ops) if isinstance(part, ir.Pointwise) else 0
