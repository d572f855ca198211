"""Many launches as one call: `triton_spirv.graph`.

    with triton_spirv.graph() as g:
        scale[grid](x, y, 2.0)
        add[grid](x, y, out)
    g.replay()

The launches of the block are made, and kept. `replay` makes them again, with the same arguments, in the same
order.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from . import checking
from .errors import UsageError
from .plugin import front_end
from .runtime import capture


class Graph:
    """Launches of one block. `len(graph)` is how many there are."""

    def __init__(self) -> None:
        self._recorder = capture.Recorder()
        self._replay: capture.Replay | None = None
        self._unusable = "its block has not ended"
        self._checks = checking.current()
        self._require_no_hooks = front_end("observers").require_no_hooks  # finding it takes milliseconds

    def __len__(self) -> int:
        return len(self._recorder.steps)

    def replay(self) -> None:
        """Make all launches again, in their order. It returns when their results can be read, as the launches
        themselves do. In the block of another graph, they become launches of that one, too.

        An exception, of a failed `tl.device_assert` for example, leaves out the launches behind it.
        UsageError where the graph's block has not ended well, or a launch hook or checked mode wants to see
        each launch; LaunchError where the memory of an argument has moved.
        """
        if self._unusable:
            raise UsageError(f"the graph cannot be replayed: {self._unusable}")
        if checking.current() != self._checks:
            raise UsageError("checked mode is not as it was when the graph was made: make the graph in it, "
                             "or launch the kernels themselves")
        self._require_no_hooks("a graph's replay")
        for memory in self._recorder.memory.values():
            memory.require()
        outer = capture.recorder()
        if outer is not None:
            outer.steps.extend(self._recorder.steps)
            outer.memory.update(self._recorder.memory)
        if self._replay is None:
            self._replay = capture.Replay(self._recorder.steps)
        self._replay()


@contextmanager
def graph() -> Iterator[Graph]:
    """Launches of this thread inside are made, and kept in the Graph that this gives.

    Only launches are kept. What the block does between them happens once: torch's operations that compute or
    write are refused by name, since a replay would leave them out; other code of Python is not seen. Launches
    of tuning are not kept, the launch that follows it is. The graph keeps the memory of all arguments. A
    block in another block is refused: UsageError.
    """
    if capture.recorder() is not None:
        raise UsageError("a graph's block cannot be in another one's; replay a graph inside of it instead")
    made, place = Graph(), threading.get_ident()
    capture.recorders[place] = made._recorder
    try:
        with _refusing_torch():
            yield made
    except BaseException:
        made._unusable = "an exception ended its block"
        raise
    else:
        made._unusable = ""
    finally:
        capture.recorders.pop(place, None)


def _refusing_torch() -> AbstractContextManager[object]:
    """While a block keeps its launches, torch's operations that it would leave out are refused."""
    if "torch" not in sys.modules:
        return nullcontext()
    from torch.utils._python_dispatch import TorchDispatchMode

    class Refusing(TorchDispatchMode):

        def __torch_dispatch__(self, function: Any, types: object, args: Any = (),
                               kwargs: Any = None) -> object:
            if capture.recorder() is not None and _computes(function):
                raise UsageError(f"{function} in the block of a graph: a replay would leave it out; do it "
                                 "before the block, or write a kernel for it")
            return function(*args, **(kwargs or {}))

    return Refusing()


def _computes(function: Any) -> bool:
    """Does an operation of torch write to a tensor, or make one that has contents?"""
    schema = function._schema
    if schema.name.partition("::")[2].removeprefix("new_").startswith("empty"):
        return False
    writes = any(one.alias_info is not None and one.alias_info.is_write for one in schema.arguments)
    return writes or any("Tensor" in str(one.type) and one.alias_info is None for one in schema.returns)
