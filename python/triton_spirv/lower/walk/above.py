"""`Above`: what evaluating tensors takes from rooms that import this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ...dataclass import dataclass
from ...layout import Layout
from ...spirv.module import Value as Register
from ..values.tensor import Deferred, Fragment, Pointers, Shared, Tensor

if TYPE_CHECKING:
    from ..context import Context

Asked = tuple[Tensor, Layout]
Body = Callable[[], Sequence[Register]]


@dataclass(frozen=True)
class Above:
    """context            what rules are given
    without_repeats    the layout without bits in which the elements of a run differ (addresses)
    is_provable        may a test of scalars show that a mask holds? (addresses)
    asks_for_all       does an access ask for the offsets of all elements? (addresses)
    addresses          of a tensor of pointers (addresses)
    guarded            a turn in two versions: where a test proves the masks below its inputs (addresses)
    converted          registers under a layout of other lanes or warps (tensors)
    from_shared        what an array in shared memory holds (lanes)
    fetch_kept         what loads read next, of which an array holds what became of them (memory)
    """

    context: Context
    without_repeats: Callable[[Deferred, Layout], Layout]
    is_provable: Callable[[Tensor | None, Layout], bool]
    asks_for_all: Callable[[Pointers, Layout], bool]
    addresses: Callable[[Pointers, Layout], Fragment]
    guarded: Callable[[Iterable[Asked], Sequence[Asked], Body], list[Register]]
    converted: Callable[[Fragment, Layout], Fragment]
    from_shared: Callable[[Shared, Layout], Fragment]
    fetch_kept: Callable[[Deferred, Layout], None]
