"""Sizes that only the call knows, as numbers of 32 bits where indices are such numbers.

Inductor passes them as numbers of 64 bits, also to kernels whose indices have 32, since a product of sizes
may be a value (the count that a mean divides by) and larger than any index. Indices that are computed with
them have 64 bits then: vectors of half as many, and quotients one by one. Here an index takes the lower half
of a size, where guards of the graph say that it is all of it; a value takes the whole of it, as before.

And Inductor asks whether a number of elements is a multiple of a size, where it looks for axes of a kernel.
Its answer is no for products of sums, which it keeps multiplied out: an array of `s * (t + 7)` rows that are
padded would be one long axis, each of whose places is divided.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

#: sizes in a number of elements that is divided, at most: division of more of them takes long
MOST_SIZES = 8

#: is a value written that is no index? Sizes in it may be larger than any index
_value = ContextVar("value", default=False)


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the text of each index of a Triton kernel."""
    import torch
    from torch._inductor import config
    from torch._inductor.codegen.common import Kernel
    from torch._inductor.codegen.triton import TritonKernel, TritonKernelOverrides
    from torch._inductor.sizevars import SizeVarAllocator
    from torch._inductor.virtualized import V

    renamed, written = Kernel.rename_indexing, TritonKernelOverrides.index_expr.__func__

    def rename_indexing(self: Any, index: Any) -> Any:
        """As torch's, where each size is the name of an argument."""
        found = renamed(self, index)
        if isinstance(index, (list, tuple)) or config.cpu_backend != "triton" or _value.get() \
                or type(self) is not TritonKernel or self.index_dtype != "tl.int32" \
                or V.graph.get_current_device_or_throw().type != "cpu":
            return found
        return narrowed(self, V.graph.sizevars.simplify(index), found)

    def index_expr(cls: Any, expr: Any, dtype: Any) -> Any:
        token = _value.set(dtype not in (torch.int32, torch.int64))
        try:
            return written(cls, expr, dtype)
        finally:
            _value.reset(token)

    known = SizeVarAllocator.statically_known_multiple_of

    def statically_known_multiple_of(self: Any, numerator: Any, denominator: Any) -> bool:
        """As torch's, and of sums."""
        return bool(known(self, numerator, denominator)) or (
            config.cpu_backend == "triton" and is_multiple(numerator, denominator))

    TritonKernel.rename_indexing = rename_indexing
    TritonKernelOverrides.index_expr = classmethod(index_expr)
    SizeVarAllocator.statically_known_multiple_of = statically_known_multiple_of


def is_multiple(number: Any, size: Any) -> bool:
    """Is a sum of products of sizes a multiple of another one, whatever the sizes are?"""
    import sympy

    if not isinstance(number, sympy.Expr) or not isinstance(size, sympy.Expr) \
            or not size.free_symbols or not number.is_Add or len(number.free_symbols) > MOST_SIZES:
        return False
    try:
        terms, divisor = sympy.parallel_poly_from_expr((number, size))[0]
    except sympy.PolynomialError:
        return False
    whole = terms.domain.is_ZZ and all(factor.is_integer for factor in terms.gens)
    return bool(whole and terms.div(divisor, auto=False)[1].is_zero)


def narrowed(kernel: Any, index: Any, renamed: Any) -> Any:
    """An index of sizes by their arguments' names, of 32 bits if whatever is computed of sizes alone has no
    more."""
    from torch._inductor.utils import sympy_index_symbol, sympy_subs

    names = {argument: size for size, argument in kernel.args.sizevars.items()}
    used = [symbol for symbol in renamed.free_symbols if symbol.name in names]
    sizes = {names[symbol.name] for symbol in used}
    if not used or not all(symbol.is_integer for symbol in sizes) \
            or not all(_fits(kernel, part) for part in of_sizes(index, sizes)):
        return renamed
    return sympy_subs(renamed, {symbol: sympy_index_symbol(f"{symbol.name}.to(tl.int32)") for symbol in used})


def of_sizes(index: Any, sizes: set[Any]) -> Iterator[Any]:
    """The parts of an index that are computed of sizes alone, each as large as can be."""
    if index.free_symbols <= sizes:
        if index.free_symbols:
            yield index
            yield from (symbol for symbol in index.free_symbols if symbol != index)
        return
    alone = [part for part in index.args if part.free_symbols and part.free_symbols <= sizes]
    if len(alone) > 1 and (index.is_Mul or index.is_Add):
        yield index.func(*alone)
    for part in index.args:
        yield from of_sizes(part, sizes)


def _fits(kernel: Any, size: Any) -> bool:
    """Is it a number of 32 bits at each call of the graph? A guard says so where it does not follow from the
    number of the kernel's elements, which is one."""
    import torch
    from torch._inductor.utils import expr_fits_within_32bit, sympy_subs
    from torch._inductor.virtualized import V

    size = sympy_subs(size, V.graph.sizevars.inv_precomputed_replacements)
    elements = kernel.features.numel * kernel.features.reduction_numel
    if size.is_positive and (elements / size).is_integer and (elements / size).is_positive:
        return True
    if not expr_fits_within_32bit(size) or not expr_fits_within_32bit(-size):
        return False
    for side in size, -size:
        V.graph.sizevars.check_leq(side, torch.iinfo(torch.int32).max)
    return True
