"""Masks that the Triton code of Inductor leaves out, in torch 2.13: some kernels give wrong values.

Three of them, most without a word:

- A masked load of what the same kernel has computed. No load is written, the value stands for it, for all
  elements, and what stands for the others is nowhere (pytorch issue 189895): a padded sum, the average pool
  of a product.
- A masked load of one truth value for all elements. It has no mask, and the selection behind it takes True
  where False should stand for the others: `F.pad` of a tensor of one bool.
- An atomic sum into one element, of the elements of a reduction. Those beyond its end are added, too:
  `index_put(accumulate=True)` beside a sum. And a value of the whole row is added once, not for each of its
  elements; so it is in a kernel of two axes that reduces nothing, where a mask makes it an error.

The mask is applied here once more. A torch that does it right computes the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the masked values and the stores of Triton kernels."""
    from torch._inductor.codegen.triton import TritonKernel, TritonKernelOverrides

    TritonKernelOverrides.masked = staticmethod(_masked_by(TritonKernelOverrides.masked))
    TritonKernel.store = _stored_by(TritonKernel.store)


def _masked_by(written: Callable[..., Any]) -> Callable[..., Any]:
    import torch
    from torch._inductor import config
    from torch._inductor.virtualized import V, _ops

    @functools.wraps(written)
    def masked(mask: Any, body: Callable[[], Any], other: Any) -> Any:
        served = is_served(body, V.kernel.cse.store_cache)
        value = written(mask, body, other)
        wrong = served or (value.dtype == torch.bool and not other)
        if config.cpu_backend != "triton" or not wrong:
            return value
        return _ops.where(mask, value, _ops.constant(other, value.dtype))

    return masked


def is_served(body: Any, computed: Any) -> bool:
    """Is it nothing but loads, some of what the kernel has computed?"""
    loads = [value for node in body.graph.find_nodes(op="output") for value in node.args]
    return (all(getattr(value, "target", None) == "load" for value in loads)
            and any(value.args[1] in computed for value in loads))


def _stored_by(written: Callable[..., Any]) -> Callable[..., Any]:
    from torch._inductor import config

    @functools.wraps(written)
    def store(kernel: Any, name: str, index: Any, value: Any, mode: Any = None) -> Any:
        if mode == "atomic_add" and config.cpu_backend == "triton" \
                and not kernel.prepare_indexing(index).free_symbols:
            value = elements_only(kernel, value)
        return written(kernel, name, index, value, mode)

    return store


def elements_only(kernel: Any, value: Any) -> Any:
    """The value for each element of the kernel, 0 beyond the ends of what it reduces. One value for a whole
    row counts for each of its elements: what is done once for a row is written outside of the reduction."""
    value = kernel.cse.generate(kernel.compute, f"tl.broadcast_to({value}, {kernel.dense_size_str()})",
                                dtype=value.dtype, shape=tuple(kernel.dense_size_list()))
    for tree in kernel.range_trees:
        if tree.is_reduction and kernel.inside_reduction and not kernel._has_constant_mask(tree):
            value = kernel.cse.generate(kernel.compute, f"tl.where({tree.mask_name()}, {value}, 0)",
                                        dtype=value.dtype, shape=value.shape)
    return value
