"""The parameters of a kernel, and what a launch passes for each: on the longer path, and after a refusal."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..errors import LaunchError
from ..tensors import has_address
from . import memory
from .arguments import FORMATS, AddressTable, NumberTable, underlying
from .arguments import fitted as fitted_number
from .devices import Context
from .extents import extent
from .reach import Reach, reach_of

if TYPE_CHECKING:
    from ..artifact import Artifact


class Parameters:
    """Those of an artifact on a device."""

    def __init__(self, context: Context, artifact: Artifact) -> None:
        self.context, self.artifact = context, artifact
        kinds = [parameter.type for parameter in artifact.parameters]
        #: how struct packs each one
        self.codes = "".join(FORMATS[kind] for kind in kinds)
        self.tables: dict[int, AddressTable | NumberTable] = {
            index: AddressTable(written) if kind == "ptr" else NumberTable(kind, FORMATS[kind])
            for index, (kind, written) in enumerate(zip(kinds, artifact.written, strict=True))
            if kind in ("ptr", "bf16")}

    def reach(self, arguments: Sequence[object], grid: tuple[int, int, int]) -> Reach:
        """How far the launch may reach."""
        return reach_of(self.artifact, [
            None if code not in "bBhiq"
            else self._named(i, functools.partial(fitted_number, x, kind.type, code))
            for i, (x, code, kind) in enumerate(zip(arguments, self.codes, self.artifact.parameters,
                                                    strict=True))], grid)

    def prepared(self, index: int, argument: object, stack: ExitStack, staging: memory.Staging | None,
                 reach: Reach | None = None) -> int | float:
        """The value of one parameter, a number or a host address; staging learns what is behind it."""
        try:
            return self._prepared(index, argument, stack, staging, reach)
        except LaunchError as error:
            raise LaunchError(f"{self._where(index)}: {error}") from None

    def _prepared(self, index: int, argument: object, stack: ExitStack, staging: memory.Staging | None,
                  reach: Reach | None) -> int | float:
        """The same; an error does not name the argument."""
        parameter = self.artifact.parameters[index]
        if parameter.type != "ptr":
            return fitted_number(argument, parameter.type, self.codes[index])
        if staging and self.is_there(argument):
            return underlying(argument).address
        if hasattr(argument, "mapped"):
            from ..arrays import span_of  # with numpy, which has been imported for this argument

            mapped = stack.enter_context(argument.mapped())
            address = mapped.ctypes.data
            whole: tuple[int, int] | None = span_of(mapped)
            if address % 16 and not (has_address(argument) and argument.data_ptr() % 16):
                raise LaunchError(f"compiled for alignment 16, mapped to {address:#x}")
        else:
            address = self.tables[index][type(argument)](argument)
            whole = extent(argument)
        if staging and address:
            assert reach is not None
            staging.add(index, address, whole, self.artifact.written[index],
                        functools.partial(reach.part, index))
        return address

    def pointers(self, arguments: Sequence[object]) -> list[Any]:
        """The arguments that are memory."""
        return [underlying(argument) for argument, parameter in
                zip(arguments, self.artifact.parameters, strict=True)
                if parameter.type == "ptr" and argument is not None]

    def is_there(self, argument: object) -> bool:
        """Is it an array in the memory of this device?"""
        place = getattr(underlying(argument), "context", None)
        return place is not None and getattr(place, "context", None) is self.context

    # ---- what can be wrong

    def fitted(self, arguments: Sequence[object]) -> list[Any]:
        """The values after struct refused them: brought into range, or LaunchError naming the argument that
        cannot be."""
        self.check_count(arguments)
        with ExitStack() as nothing:
            return [self.prepared(*pair, nothing, None) for pair in enumerate(arguments)]

    def check_count(self, arguments: Sequence[object]) -> None:
        """LaunchError where there are too many or too few."""
        if len(arguments) != len(self.codes):
            wanted = len(self.codes)
            raise LaunchError(f"{self.artifact.entry} takes {wanted} arguments, got {len(arguments)}")

    def _named(self, index: int, value: Callable[[], Any]) -> Any:
        try:
            return value()
        except LaunchError as error:
            raise LaunchError(f"{self._where(index)}: {error}") from None

    def _where(self, index: int) -> str:
        return f"{self.artifact.entry}, argument {index} ({self.artifact.parameters[index].name})"
