"""From what a user passes to what a kernel takes: addresses, and numbers in the range of the parameter's
type.

The launch path looks up a handler by the argument's type; a table learns each type once. What cannot be
passed raises LaunchError with the reason and the way out; the launch adds the parameter's name.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Protocol

from ..errors import LaunchError
from ..tensors import Addressed, Placed, Tensor, check_elements, is_tensor, lowest_address, why_not_shared

#: What is passed -> what a kernel takes.
Handler = Callable[[Any], int]
Fitted = Callable[[object], int | float]


class HostArray(Protocol):
    """triton_spirv's, in host memory."""

    @property
    def address(self) -> int: ...
    @property
    def read_only(self) -> bool: ...


class OnDevice(Protocol):
    """triton_spirv's, in memory of a device."""

    @property
    def device(self) -> str: ...


class NeedsPreparation(LaunchError):
    """The argument is usable, but not by its address alone: the launch takes its longer path."""


class AddressTable(dict[type, Handler]):
    """Type of an argument -> the function that gives its address."""

    def __init__(self, writes: bool) -> None:
        super().__init__({int: _itself, type(None): _null})
        self._writes = writes

    def __missing__(self, kind: type) -> Handler:
        handler = self._choose(kind)
        self[kind] = handler
        return handler

    def _choose(self, kind: type) -> Handler:
        if hasattr(kind, "lives_on_device"):
            return _elsewhere
        if hasattr(kind, "mapped") and hasattr(kind, "extent"):
            return _mapped
        if hasattr(kind, "extent"):
            return _written_array if self._writes else _array
        if hasattr(kind, "is_neg") and hasattr(kind, "data_ptr"):
            return _tensor()
        if hasattr(kind, "is_cpu") and hasattr(kind, "data_ptr"):
            return _like_a_tensor
        if hasattr(kind, "data_ptr"):
            return self._wrapper
        return _refused

    def _wrapper(self, argument: Addressed) -> int:
        """triton.reinterpret gives a wrapper around a tensor; anything else with data_ptr() is taken at its
        word."""
        base = getattr(argument, "base", None)
        if is_tensor(base):
            check_elements(base)  # a front end that takes no complex numbers takes their parts
        return self[type(base)](base) if hasattr(base, "data_ptr") else argument.data_ptr()


class NumberTable(dict[type, Fitted]):
    """Type of an argument -> the function that gives what struct packs, for parameters that struct has no
    format for."""

    def __init__(self, kind: str, code: str) -> None:
        super().__init__()
        self._kind, self._code = kind, code

    def __missing__(self, kind: type) -> Fitted:
        self[kind] = lambda argument: fitted(argument, self._kind, self._code)
        return self[kind]


def _itself(argument: int) -> int:
    return argument


def _null(argument: None) -> int:
    return 0


def _array(argument: HostArray) -> int:
    return argument.address


def _written_array(argument: HostArray) -> int:
    if argument.read_only:
        raise LaunchError("the kernel writes to it, but the array is read-only; pass a copy (numpy.array(x)) "
                          "or set x.flags.writeable where the memory allows it")
    return argument.address


def _tensor() -> Handler:
    """For torch's tensors. Every launch asks for each of them, so one question stands for all that are rare:
    what is at an address where no memory is, or of a view with a meaning of its own, is looked at closely."""
    lowest = lowest_address()

    def address(argument: Tensor) -> int:
        if argument.is_neg() or not argument.is_cpu:
            check_elements(argument)
            return _like_a_tensor(argument)
        found: int = argument.data_ptr()
        if found < lowest:
            check_elements(argument)
        return found

    return address


def _like_a_tensor(argument: Placed) -> int:
    if not argument.is_cpu:
        raise LaunchError(why_not_shared(argument))
    return argument.data_ptr()


def _elsewhere(argument: OnDevice) -> int:
    raise LaunchError(f"the array is on {argument.device}, the kernel runs on an OpenCL device: pass "
                      "triton_spirv.asarray(x), or set TRITON_SPIRV_DEVICE")


def _mapped(argument: object) -> int:
    raise NeedsPreparation("the array is mapped while the kernel runs")


def _refused(argument: object) -> int:
    kind = type(argument)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    way_out = "pass triton_spirv.asarray(x)"
    if kind in (list, tuple, set, dict):
        way_out = "make it an array first: torch.tensor(x), or triton_spirv.asarray(numpy.array(x))"
    raise LaunchError(f"a {name} is not memory that a kernel can work on; {way_out}")


def underlying(argument: object) -> Any:
    """The array or tensor that triton.reinterpret gave a wrapper around; others themselves."""
    kind = type(argument)
    if hasattr(kind, "lives_on_device") or hasattr(kind, "extent") or hasattr(kind, "is_cpu"):
        return argument
    base = getattr(argument, "base", None)
    return underlying(base) if base is not None else argument


# ---- numbers

#: parameter type -> bits of an integer
INTEGERS = {"i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
#: parameter type -> how struct packs it
FORMATS = {"ptr": "Q", "i1": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
           "f16": "e", "bf16": "H", "f32": "f", "f64": "d"}


def fitted(value: object, kind: str, code: str) -> int | float:
    """`value` as struct packs it with `code` into a parameter of type `kind`: integers wrap to the width,
    floats round."""
    if kind in INTEGERS:
        bits = INTEGERS[kind]
        wrapped = _integer(value) & ((1 << bits) - 1)
        return wrapped - (1 << bits) if code.islower() and wrapped >> (bits - 1) else wrapped
    if kind == "bf16":
        return bfloat16_bits(_number(value))
    number = _number(value)
    try:
        struct.pack(f"<{code}", number)
    except OverflowError:
        return math.copysign(math.inf, number)
    return number


def bfloat16_bits(value: float) -> int:
    """The bits of the nearest bfloat16, ties to even."""
    try:
        bits = int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0xFF80 if value < 0 else 0x7F80
    if math.isnan(value):
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _integer(value: object) -> int:
    if not hasattr(value, "__index__"):
        kind = type(value).__name__
        raise LaunchError(f"{value!r} is a {kind}, the kernel was compiled for an integer")
    return int(value.__index__())


def _number(value: object) -> float:
    if not hasattr(value, "__float__"):  # float() would read text too
        kind = type(value).__name__
        raise LaunchError(f"{value!r} is a {kind}, the kernel was compiled for a number")
    return float(value.__float__())
