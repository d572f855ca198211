"""How the dimensions of a view follow from those of what it is a view of."""

from __future__ import annotations

from ..ir.model import Operation, shape_of

#: Per dimension of a view, the dimension of its operand that it is; None: its elements are equal along it, or
#: it has one.
Dims = list[int | None]


def source_dims(view: Operation) -> Dims | None:
    """None of an operation that is no view, and of one whose elements are in another order."""
    if view.has("keeps_dims"):
        sizes = zip(shape_of(view.operands[0].type), shape_of(view.results[0].type), strict=True)
        return [d if size == whole else None for d, (size, whole) in enumerate(sizes)]
    if view.has("reshapes"):
        return _of_reshape(shape_of(view.operands[0].type), shape_of(view.results[0].type))
    if view.has("splats"):
        return [None] * len(shape_of(view.results[0].type))
    return list(view.attributes["order"]) if view.has("transposes") else None


def _of_reshape(source: tuple[int, ...], result: tuple[int, ...]) -> Dims | None:
    """Where a reshape only adds or drops dimensions of one element."""
    kept = [d for d, size in enumerate(source) if size > 1]
    dims: Dims = []
    for size in result:
        if size == 1:
            dims.append(None)
        elif kept and source[kept[0]] == size:
            dims.append(kept.pop(0))
        else:
            return None
    return dims if not kept else None
