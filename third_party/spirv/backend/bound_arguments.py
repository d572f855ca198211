"""What the function that a bound launch is (bound_text.py) knows of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from triton.language.core import dtype
from triton.runtime.jit import JITFunction
from triton_spirv.dataclass import dataclass
from triton_spirv.runtime.grid import GRID_LIMIT

from .binding import told_apart

#: what is said of a launch that does not fit, and of an argument
SETTINGS = ("a hook, checked mode, the device, Triton's driver or its debug switch is not as in bind, or a "
            "graph is being made")
CACHE = "the kernel is no longer in Triton's cache"
WARMUP = "the kernel is to be compiled, not launched"
MEMORY = "a tensor or array has no memory, or the kernel is compiled for multiples of 16 as its address"
GRID = "the grid is empty, or not one of integers"
TUNED = "the kernel's configuration depends on the arguments, and these have another"
WRITTEN = "the grid's function writes to what it is given"
RANGE = "a number does not fit its parameter"
OTHER = "is not as in bind: its type, dtype, device or value"

#: where one bound launch of a kernel does not fit for it, none does
FOR_ALL = SETTINGS, WARMUP, GRID, WRITTEN

#: what every launch is given besides
OF_A_LAUNCH = "grid", "warmup"

#: what a configuration says besides constants
OF_A_CONFIG = "pre_hook", "num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override"

#: arguments that are numbers
NUMBERS = int, float, bool


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel, and its argument in bind: given again with each call, or kept.

    constant: it is no argument of the compiled kernel
    how: what `native_specialize_impl` is told of it beside its value
    own: what Triton has made of its answer: the type, which an annotation may say, and what it knows of the
        value; None where it does not look at that
    annotated: does an annotation say the type?
    """

    at: int
    name: str
    value: Any
    given: bool
    constant: bool
    how: tuple[bool, bool, bool]
    own: Any
    annotated: bool

    @classmethod
    def of(cls, at: int, kind: Any, value: Any, given: bool, own: Any) -> Parameter:
        """at: its place among the kernel's; kind: Triton's KernelParam."""
        how = kind.is_const, not kind.do_not_specialize, not kind.do_not_specialize_on_alignment
        constant = kind.is_constexpr or own[0] == "constexpr"
        return cls(at, kind.name, value, given, constant, how, own, bool(kind.annotation_type))

    @property
    def text(self) -> str:
        """The argument in the text: the call's, or the one that is kept."""
        return f"a{self.at}" if self.given else f"v{self.at}"

    @property
    def passed(self) -> str:
        """What the kernel gets of it: an address or a number."""
        return self.text if self.is_number else f"{self.text}.{'data_ptr()' if self.is_tensor else 'address'}"

    @property
    def is_tensor(self) -> bool:
        """Is it torch's own kind of tensor?"""
        kind = type(self.value)
        return kind.__module__ in ("torch", "torch.nn.parameter") and hasattr(kind, "is_neg")

    @property
    def is_array(self) -> bool:
        """Is it an array of this package in host memory?"""
        kind = type(self.value)
        return f"{kind.__module__}.{kind.__name__}" == "triton_spirv.arrays.Array"

    @property
    def is_number(self) -> bool:
        """Is it passed as a number?"""
        return type(self.value) in NUMBERS

    @property
    def aligned(self) -> bool:
        """Is the kernel compiled for multiples of 16?"""
        return bool(self.own[1] == "D")

    @property
    def accepted(self) -> frozenset[Any]:
        """The answers for arguments that the kernel is right for, without the type where an annotation says
        it: a kernel that knows nothing of multiples takes those, too."""
        known = {self.own[1], "D"} if self.own[1] == "" else {self.own[1]}
        return frozenset(known if self.annotated else {told_apart((self.own[0], each)) for each in known})

    @property
    def is_asked_for(self) -> bool:
        """Does a call compare the argument with the one in bind, or use that?"""
        return not self.given or self.constant or self.is_number or isinstance(self.value, tuple)


@dataclass(frozen=True)
class Repeated:
    """An ordinary launch, to be written as a bound one.

    names: what it was given, in this order: `grid` and `warmup`, parameters, options of the launch
    options: those, with their values
    tuned: who has chosen constants and options that it was not given
    """

    names: Sequence[str]
    options: Mapping[str, Any]
    tuned: Tuned | None = None

    def order(self, parameters: Sequence[Parameter]) -> list[str]:
        """What the function takes, as the text names it."""
        texts = {one.name: one.text for one in parameters} | {name: name for name in OF_A_LAUNCH}
        return [texts.get(name) or f"option_{name}" for name in self.names]


@dataclass(frozen=True)
class Tuned:
    """An autotuner, and the configuration that it has for a launch, by its key. run: the method of its kernel
    that it calls."""

    tuner: Any
    config: Any
    key: tuple[Any, ...]
    run: Any

    def changed(self, names: dict[str, Any]) -> str:
        """Has the autotuner another configuration or kernel now, or would it call somebody else's `run`?"""
        options = [name for name in OF_A_CONFIG if hasattr(self.config, name)]
        names |= {"tuner": self.tuner, "config": self.config, "tuned": self.key,
                  "keys": list(self.tuner.keys),
                  "kind": type(self.tuner.fn), "run": self.run, "constants": dict(self.config.kwargs),
                  "chosen_options": tuple(getattr(self.config, name) for name in options)}
        found = "len(tuner.configs) != 1 or tuner.configs[0]" if len(self.tuner.configs) == 1 else \
            "len(tuner.configs) < 2 or tuner.cache.get(tuned)"
        now = "".join(f"config.{name}, " for name in options)
        return (f"{found} is not config or config.kwargs != constants or ({now}) != chosen_options or "
                "tuner.keys != keys or tuner.fn is not jitted or kind.run is not run or "
                "'run' in jitted.__dict__")


def is_lasting(value: Any) -> bool:
    """Is the value, as a constant, the same for good? Others may change where nobody sees it."""
    kinds = (*NUMBERS, str, dtype, JITFunction)
    return value is None or type(value) in kinds or isinstance(value, Enum | type)


def takes_any_number(function: Any) -> bool:
    """Has the kernel a parameter that takes any number of arguments?"""
    return any(one.kind is one.VAR_POSITIONAL for one in function.signature.parameters.values())


def fixed_grid(grid: Any) -> tuple[int, int, int] | None:
    """A grid as three sizes; None where it launches nothing, cannot be, or is a function."""
    if not isinstance(grid, tuple | list) or not grid:
        return None
    x, y, z = (*grid, 1, 1)[:3]
    if not (x.__class__ is y.__class__ is z.__class__ is int and x > 0 and y > 0 and z > 0):
        return None
    return (x, y, z) if x * y * z <= GRID_LIMIT else None
