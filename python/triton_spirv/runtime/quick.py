"""Launches in the calling thread of arguments that are known to fit: addresses and numbers, packed, and one
call (launch_code.py).

Who launches so has checked the arguments as the ordinary launch would. Which launches are short enough for
the calling thread is the kernel's own knowledge (launch.py): the first ones, and those that turn out to take
long, are ordinary launches.
"""

from __future__ import annotations

import ctypes
import re
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import assert_layout
from ..dataclass import dataclass
from ..tensors import lowest_address
from . import launch_code, panels, running_kernels, stacks, waiting
from .arguments import NumberTable
from .called_programs import address_of

#: letters of Python's struct -> what launch_code.py makes of the argument itself
KINDS = {"Q": launch_code.ADDRESS, "q": launch_code.LONG, "i": launch_code.INT}

if TYPE_CHECKING:
    from .launch import Kernel
    from .program import OwnedKernel
    from .team_code import Team


@dataclass(frozen=True)
class Pace:
    """What a kernel knows of how long it takes: most programs of a launch that is short enough for the
    calling thread, how it learns that one would be, or took so many nanoseconds there, and most programs of
    one that need not be interruptible (waiting.SHORT)."""

    short: Callable[[], int]
    was_short: Callable[[int], None]
    too_long: Callable[[int, int], None]
    patient: Callable[[], int]


class Quick:
    """A kernel's launches of this kind, from any thread.

    sizes: the grid; None: each launch brings its own
    pointers: as call_of takes them
    alignments: of each parameter that is a pointer, the bytes that its address is a multiple of
    pack: one value for each parameter, behind the global sizes where launches bring them -> bytes of a launch
    threads: `threads.call(bytes)` launches and waits; what it gives back, if not 0, is for `said`
    direct: the same in the main thread, of what `pack` would take; launch_code.ELSEWHERE in others, NUMBER
        where a number does not fit its type. None where this was made in another thread, or where some
        parameter is neither a pointer nor an integer of 32 or 64 bits
    most: so many programs are known to be short; more are launched by `launch`
    sharing, members: where a team may share launches, by `sharing.run` with these members, if each launch
        brings its sizes; else None
    slow: how many launches took long since the last one that did not; who launches clears it
    keeps: has the kernel memory for packed operands? Then `pack` takes the address of what `keep` gives
        behind the values, and `panels.given_back` is called after the launch
    asserts: may an assertion fail? Then `pack` takes `threads.hidden` behind the values, and who launches
        asks after it whether `threads.error[0]` is 0, else calls `failed_assertion`
    """

    def __init__(self, kernel: Kernel, sizes: tuple[int, int, int] | None,
                 alignments: Mapping[int, int]) -> None:
        self._kernel, self._alignments, self._lowest = kernel, tuple(alignments.items()), lowest_address()
        self.local_size = kernel.artifact.local_size
        own_sizes = "<QQQ" if sizes is None else "<"
        self.pack = struct.Struct(own_sizes + kernel.artifact.struct_format.lstrip("<=")).pack
        self.pointers = pointers = [(_place(kernel, parameter), alignment - 1)
                                    for parameter, alignment in alignments.items()]
        self.threads = Calls(kernel, sizes, pointers)
        self.direct = self._direct(sizes, pointers)
        self.sharing = kernel.sharing
        self.members = self.sharing.members_of(pointers) if self.sharing and sizes is None else None
        self.most, self.slow = 0, 0
        self.ask_pace()
        self.asserts = bool(kernel.artifact.hidden)
        self.keeps = kernel.artifact.hidden == ("panel_buffer",)

    def _direct(self, sizes: tuple[int, int, int] | None, pointers: Sequence[tuple[int, int]]
                ) -> launch_code.Call | None:
        kernel = self._kernel
        kinds = [KINDS.get(kind) for kind in re.findall("[a-wyzA-Z?]", kernel.artifact.struct_format)]
        if None in kinds or len(kinds) != len(kernel.artifact.parameters) \
                or threading.current_thread() is not threading.main_thread() or not self.threads.may_run:
            return None
        own_sizes = [] if sizes else [(8 * axis - 24, launch_code.ADDRESS) for axis in range(3)]
        arguments = [(_place(kernel, at), kind) for at, kind in enumerate(kinds) if kind is not None]
        return call_of(kernel, self.threads.owner, kernel.told, sizes, pointers,
                       [*own_sizes, *arguments])

    def launch(self, x: int, y: int, z: int, values: Sequence[int]) -> bool:
        """The ordinary launch, which measures how long it takes; False, and no launch, where a pointer is not
        as it must be."""
        if any(values[at] < self._lowest or values[at] % alignment for at, alignment in self._alignments):
            return False
        self._kernel.launch(x, y, z, values)
        self.ask_pace()
        return True

    def keep(self, arguments: Sequence[object], grid: Sequence[int]) -> panels.Panels | None:
        """As panels.taken() has it."""
        return panels.taken(self._kernel.context.device.compute_units, self._kernel.overlap, arguments, grid)

    def failed_assertion(self) -> None:
        """DeviceAssertion, of this thread's last launch."""
        self._kernel.raise_assertion(self.threads.error)

    def ask_pace(self) -> None:
        """After an ordinary launch of the kernel: what is known to be short now?"""
        self.most = self.sharing.most if self.sharing else self._kernel.pace.short()

    def numbers(self, values: Sequence[object]) -> list[object]:
        """Arguments as `pack` takes them; LaunchError for what cannot be passed by its address alone."""
        tables = self._kernel.parameters.tables
        return [tables[at][type(value)](value) if at in tables else value for at, value in enumerate(values)]

    def said(self, programs: int, code: int) -> bool:
        """Was it launched? It has failed, which is a LaunchError, or has taken long. Twice in a row: all
        cores shall run it from now on. Once may have been an interruption."""
        if code == launch_code.MISFIT:
            return False
        if code < 0:
            self._kernel.failed(code)
        if code > (self._kernel.slow if programs > 1 else waiting.SHORT):
            self.slow += 1
            if self.slow > 1:
                self._kernel.pace.too_long(programs, code)
                self.ask_pace()
        else:
            self.slow = 0
        return True


def quick_of(kernel: Kernel, sizes: tuple[int, int, int] | None, alignments: Mapping[int, int],
             asks_assertions: bool = False, keeps: bool = False) -> Quick | None:
    """As Quick takes them. None where a launch takes more than that, or asserts, and who launches does not
    ask for it, or has memory for packed operands, which it does not bring (`keeps`)."""
    known = asks_assertions or not kernel.artifact.hidden
    if not is_plain(kernel) or not (known or (keeps and kernel.artifact.hidden == ("panel_buffer",))):
        return None
    return Quick(kernel, sizes, alignments)


def is_plain(kernel: Kernel) -> bool:
    """Does a launch take addresses and numbers, and nothing more but an array for assertions: no memory of
    its own, output, checks, another device?"""
    artifact = kernel.artifact
    plain = (kernel.shared and artifact.passing == "struct" and artifact.parameters
             and set(artifact.hidden) <= {"assert_buffer", "panel_buffer"} and not artifact.sites
             and not artifact.overflow_bytes and not getattr(artifact, "prints", False)
             and not any(isinstance(table, NumberTable) for table in kernel.parameters.tables.values()))
    return bool(plain and launch_code.maker() is not None and kernel.context.device.runs_in_calling_thread)


class Calls(threading.local):
    """`call`: each thread's own, with a kernel object and a queue of its own. error, hidden: the thread's
    array for assertions, and what the kernel is told of it. may_run: may the thread run the kernel? Else
    none of its calls launches."""

    def __init__(self, kernel: Kernel, sizes: tuple[int, int, int] | None,
                 pointers: Sequence[tuple[int, int]]) -> None:
        self.owner = kernel.program.clone_kernel()
        self.error = (ctypes.c_uint32 * assert_layout.WORDS)()
        self.hidden = tuple(panels.NOTHING if name == "panel_buffer" else ctypes.addressof(self.error)
                            for name in kernel.artifact.hidden)
        self.may_run = may_run(kernel)
        call = call_of(kernel, self.owner, kernel.told, sizes, pointers)
        assert call is not None  # quick_of has asked
        self.call = call if self.may_run else misfit


def may_run(kernel: Kernel) -> bool:
    """Has this thread's stack room for the kernel's private arrays?"""
    return stacks.may_run(kernel.artifact.private_bytes)


def misfit(data: bytes) -> int:
    """A call that leaves each launch to the ordinary way."""
    return launch_code.MISFIT


def call_of(kernel: Kernel, owner: OwnedKernel, longest: int, sizes: tuple[int, int, int] | None = None,
            pointers: Sequence[tuple[int, int]] = (), arguments: Sequence[tuple[int, int]] = (),
            team: Team | None = None) -> launch_code.Call | None:
    """Launches of this thread with a kernel object of its own, which must live as long; None where there is
    no such code. longest, pointers, arguments, team: as a block has them."""
    make = launch_code.maker()
    if make is None:
        return None
    library = kernel.context.device.library
    set_argument, enqueue = (ctypes.cast(function, ctypes.c_void_p).value or 0
                             for function in (library.clSetKernelArg, library.clEnqueueNDRangeKernel))
    x, y, z = kernel.artifact.local_size
    return make(launch_code.Block(
        running_kernels.address(running_kernels.place()), kernel.text_address, set_argument, enqueue,
        owner.handle, struct.calcsize(kernel.artifact.struct_format), kernel.context.local_queue,
        ctypes.addressof(kernel.local), longest, lowest_address(),
        running_kernels.gate.buffer_info()[0],
        None if sizes is None else (sizes[0] * x, sizes[1] * y, sizes[2] * z), pointers,
        threading.get_ident(),  # what pthread_self() gives is what stands at fs:0
        arguments, team, address_of(kernel.context, kernel.program, kernel.artifact, team)))


def _place(kernel: Kernel, parameter: int) -> int:
    """Where a pointer or an integer is in the struct."""
    count = len(kernel.artifact.parameters) + len(kernel.artifact.hidden)
    values = [int(i == parameter) for i in range(count)]
    return struct.pack(kernel.artifact.struct_format, *values).index(1)
