"""Host memory as kernel arguments: copied to the device, and back what the kernel may write.

What a launch may reach of an allocation travels (runtime/reach.py), the whole where that is not known, for
kernels may follow any offset. Where what travels for several arguments overlaps, its union travels once, so
views of one storage stay views of one memory on the device. Addresses keep their place modulo 256 bytes.
Addresses that are stored *in* memory (arrays of pointers) keep naming host memory, which the device does not
have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import LaunchError
from ...tensors import check_elements, has_address, is_tensor
from ..extents import extent, merged
from ..memory import Part
from .memory import ALIGNMENT

if TYPE_CHECKING:
    from .context import Context
    from .memory import Allocation


class Staging:
    """The host memory of one launch. First `add` every argument, then `copy_in`, ask for addresses, launch,
    `copy_out`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._spans: list[tuple[int, int, bool]] = []  # begin, end, written
        self._regions: list[tuple[int, int, bool, Allocation]] = []  # begin, end, written, the copy

    def add(self, argument: object, written: bool, part: Part | None = None) -> tuple[int, int]:
        """The argument's address in host memory, and where the part of its memory begins that may be reached:
        what `address` asks for. LaunchError where it is not in host memory, does not say
        how large it is, or is read-only and written."""
        if not getattr(argument, "is_cpu", True):
            place = getattr(argument, "device", "another device")
            raise LaunchError(f"the tensor is on {place}, which {self._context.device.choice} does "
                              "not share; pass tensor.cpu() or an array of triton_spirv.asarray(x, "
                              "device='vulkan')")
        if written and getattr(argument, "read_only", False):
            raise LaunchError("the kernel writes to it, but the array is read-only; pass a copy "
                              "(numpy.array(x)) or set x.flags.writeable where the memory allows it")
        if is_tensor(argument):
            check_elements(argument)
        whole = extent(argument)
        if whole is None or not has_address(argument):
            raise LaunchError(f"the {type(argument).__name__} does not say where its memory begins and ends "
                              "(untyped_storage()); pass triton_spirv.asarray(x) or torch.from_dlpack(x)")
        address = argument.data_ptr()
        begin, size = part(address, whole, ALIGNMENT) if part is not None else whole
        if size:
            self._spans.append((begin, begin + size, written))
        return address, begin

    def copy_in(self) -> None:
        """Give every span a place on the device, overlapping ones together, and copy."""
        for begin, end, written in merged(self._spans):
            shift = begin % ALIGNMENT
            copy = self._context.pools.device.allocate(end - begin + shift)
            self._context.stream.write(copy, shift, begin, end - begin)
            self._regions.append((begin, end, written, copy))

    def address(self, place: tuple[int, int]) -> int:
        """The device address that stands for an address in host memory, as `add` gave it."""
        pointer, first = place
        for begin, end, _, copy in reversed(self._regions):
            if begin <= first <= end:  # where one argument ends the next one may begin
                return copy.address + begin % ALIGNMENT + pointer - begin
        return 0  # of an empty array: nothing may be read there

    def copy_out(self) -> None:
        """What the kernel may have written returns to host memory."""
        for begin, end, written, copy in self._regions:
            if written:
                self._context.stream.read(copy, begin % ALIGNMENT, begin, end - begin)
