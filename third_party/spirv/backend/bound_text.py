"""The function that a bound launch is: its text, for one kernel and the arguments that it was bound with.

Each call asks of each argument what the kernel was compiled for, as Triton does: its type, its dtype, whether
addresses and integers are multiples of 16. For vector add it is, but for names:

    def bound(x, y, out, n):
        if <the device, checked mode, a hook or a switch is not as in bind>:
            return ordinary(...)
        if type(n) is not int or n != 1000 and specialise(n) not in accepted:
            return ordinary(...)
        if not guard(x, y, out):
            if type(x) is not Tensor or x.dtype is not float32 or not x.is_cpu or x.is_neg():
                return ordinary(...)
            ...
        if launch(x.data_ptr(), y.data_ptr(), out.data_ptr(), n) says that an address does not fit:
            return ordinary(...)
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from triton import knobs
from triton._C.libtriton import native_specialize_impl
from triton.runtime.driver import driver
from triton_spirv import checking
from triton_spirv.dataclass import dataclass
from triton_spirv.runtime.capture import recorders
from triton_spirv.runtime.grid import GRID_LIMIT
from triton_spirv.runtime.launch_code import ELSEWHERE, NUMBER
from triton_spirv.target.known import VARIABLE

from .binding import told_apart

if TYPE_CHECKING:
    from triton_spirv.runtime.quick import Quick

SETTINGS = ("a hook, checked mode, the device, Triton's driver or its debug switch is not as in bind, or a "
            "graph is being made")
OTHER = "is not as in bind: its type, dtype, device or value"
MEMORY = "a tensor or array has no memory, or the kernel is compiled for multiples of 16 as its address"
GRID = "the grid is empty, or not one of integers"
RANGE = "a number does not fit its parameter"

#: environment variables that each launch obeys
OBEYED = "TRITON_SPIRV_DEVICE", VARIABLE, checking.VARIABLE

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


def written(function: Any, compiled: Any, grid: Any, parameters: Sequence[Parameter], backend: Any,
            ordinary: Callable[..., None],
            changed: tuple[Callable[[Sequence[Any]], bool], str] | None) -> Callable[..., None]:
    """The bound launch of a compiled kernel. `ordinary(why, *arguments)` launches what does not fit;
    `changed` says of arguments whether they want other constants, and why that is."""
    launcher = compiled.run
    sizes = _fixed(grid)
    passed = [one for one in parameters if not one.constant]
    quick: Quick | None = None
    if hasattr(launcher, "quick") and all(one.is_tensor or one.is_array or one.is_number for one in passed):
        quick = launcher.quick(compiled.function, sizes, {
            at: 16 if one.aligned else 1 for at, one in enumerate(passed) if not one.is_number})
    names = {"ordinary": ordinary, "specialise": native_specialize_impl, "backend": backend}
    names |= {f"v{one.at}": one.value for one in parameters if one.is_asked_for}  # no others are kept
    names |= {f"type{one.at}": type(one.value) for one in parameters}
    given = [one.text for one in parameters if one.given]
    text = _Text(f"def bound({', '.join([*given, '/'] if given else [])}):", "".join(f", {a}" for a in given))
    text.leave(_settings(function, names), SETTINGS)
    if changed is not None:
        names["changed"] = changed[0]
        text.leave(f"changed(({''.join(f'{a}, ' for a in given)}))", changed[1])
    for one in parameters:
        if one.constant or one.is_number:
            text.leave(_other_number(one, names), f"{one.name} {OTHER}")
    pointers = [one for one in passed if not one.is_number]
    if quick is not None:
        _compare_memory(text, pointers, names)
    else:
        for one in pointers:
            fixed = f"{one.text} is not v{one.at}" if isinstance(one.value, tuple) else \
                f"type({one.text}) is not type{one.at}"
            text.leave(f"{fixed} or {_specialised(one, names)}", f"{one.name} {OTHER}")
    if callable(grid):
        names |= {"grid": grid, "fixed": _fixed}
        text.add(f"sizes = fixed(grid({{{', '.join(f'{one.name!r}: {one.text}' for one in parameters)}}}))")
        text.leave("sizes is None", GRID)
        text.add("x, y, z = sizes")
    elif sizes is None:
        text.leave("True", GRID)
    else:
        names |= dict(zip("xyz", sizes, strict=True))
    if quick is None:
        names |= {"launch": launcher, "function": compiled.function, "packed": compiled.packed_metadata}
        everything = "".join(f", {one.text}" for one in parameters)
        text.add(f"launch(x, y, z, 0, function, packed, None, None, None{everything})")
    else:
        values = [one.passed for one in passed]
        _launch_quickly(text, quick, ", ".join(values), names, sizes)
    exec("\n".join(text.lines), names)
    bound: Callable[..., None] = names["bound"]
    return bound


class _Text:
    """The lines of the function; `listed` are its arguments, with commas before."""

    def __init__(self, head: str, listed: str) -> None:
        self.lines, self.listed = [head], listed

    def add(self, line: str, depth: int = 1) -> None:
        """A line of the body."""
        self.lines.append(f"{'    ' * depth}{line}")

    def leave(self, condition: str, why: str, depth: int = 1) -> None:
        """Under this condition, "" for none, the call is an ordinary launch."""
        if condition:
            self.add(f"if {condition}:", depth)
            self.add(f"return ordinary({why!r}{self.listed})", depth + 1)


def _settings(function: Any, names: dict[str, Any]) -> str:
    """Is anything that each launch obeys not as it is now?"""
    runtime = knobs.runtime
    # os.environ decodes at each question, which takes half a microsecond
    raw = hasattr(os.environ, "_data")
    environment: Any = getattr(os.environ, "_data", os.environ)
    keys: list[Any] = [os.environ.encodekey(name) if raw else name for name in OBEYED]
    names |= {"environment": environment, "runtime": runtime, "chosen": checking.chosen.get}
    conditions = []
    for at, key in enumerate(keys):
        names |= {f"key{at}": key, f"setting{at}": environment.get(key)}
        conditions.append(f"environment.get(key{at}) != setting{at}" if key in environment else
                          f"key{at} in environment")
    names["check"] = checking.chosen.get()
    conditions.append("chosen() != check" if names["check"] else "chosen() is not check")
    switches = {"debug": "not runtime.debug" if runtime.debug else "runtime.debug"}
    for hook in ("launch_enter_hook", "launch_exit_hook"):
        now = getattr(runtime, hook)
        calls = () if now is None else getattr(now, "calls", None)
        names |= {hook: now, f"{hook}_calls": True if calls is None else calls}
        switches[hook] = f"runtime.{hook} is not {hook}"
        conditions.append(f"{hook}_calls")
    if hasattr(runtime, "add_stages_inspection_hook"):
        switches["add_stages_inspection_hook"] = "runtime.add_stages_inspection_hook is not None"
    conditions.append(_switched(runtime, switches, names))
    names |= {"drivers": driver, "driver_type": type(driver.active)}
    conditions.append("drivers._active.__class__ is not driver_type")
    names["recorders"] = recorders  # a graph's block keeps ordinary launches
    conditions.append("recorders")
    names["pre_run_hooks"] = function.pre_run_hooks
    conditions.append("pre_run_hooks")
    if function.used_global_vals:
        used = function.used_global_vals
        names["globals_changed"] = lambda: any(
            scope.get(name, used) != value for (name, _), (value, scope) in used.items())
        conditions.append("globals_changed()")
    return " or ".join(conditions)


def _switched(runtime: Any, switches: dict[str, str], names: dict[str, Any]) -> str:
    """Is one of Triton's switches not as it is now? While nobody has set any they are attributes of a class,
    and it is enough that nobody has: asking for each takes half as long as comparing three tensors."""
    conditions = " or ".join(switches.values())
    own = getattr(runtime, "__dict__", None)
    if type(own) is not dict or own or any(hasattr(getattr_static(type(runtime), name, property()), "__get__")
                                           for name in switches):  # one that is read anew, or nobody's
        return conditions
    names["own_switches"] = own
    return f"own_switches and ({conditions})"


def _specialised(one: Parameter, names: dict[str, Any]) -> str:
    """Would Triton compile another kernel for the argument, one that this one is not right for?"""
    names[f"accepted{one.at}"] = one.accepted
    answer = f"specialise(backend, {one.text}, {', '.join(map(str, one.how))})"
    if isinstance(one.value, tuple):
        names["told_apart"] = told_apart
        answer = f"told_apart({answer})"
    return f"{answer}{'[1]' * one.annotated} not in accepted{one.at}"


def _other_number(one: Parameter, names: dict[str, Any]) -> str:
    """Is a constant another one, or is the kernel not compiled for a number? "" for what the call keeps."""
    another = f"type({one.text}) is not type{one.at} or {one.text} != v{one.at}"
    if not one.given:
        return ""
    if not one.constant:
        unspecialised = one.annotated and one.own[1] is None
        if unspecialised or type(one.value) in (float, bool):  # any value of the type will do
            return f"type({one.text}) is not type{one.at}"
        return f"{another} and {_specialised(one, names)}"
    plain = type(one.value) in (*NUMBERS, str)
    if plain and one.value == 0 and type(one.value) is float:  # 0.0 equals -0.0
        another += f" or str({one.text}) != str(v{one.at})"
    return f"{one.text} is not v{one.at}{f' and ({another})' if plain else ''}"


def _compare_memory(text: _Text, pointers: Sequence[Parameter], names: dict[str, Any]) -> None:
    """Is each argument that is memory as in bind, but for its address?"""
    for one in pointers:
        names[f"dtype{one.at}"] = one.value.dtype
    tensors = [one for one in pointers if one.is_tensor]
    guard = _guard([one.value for one in tensors])
    if guard is not None:
        names["guard"] = guard
        text.add(f"if not guard({', '.join(one.text for one in tensors)}):")
    for one in tensors:
        a = one.text
        text.leave(f"type({a}) is not type{one.at} or {a}.dtype is not dtype{one.at} or not {a}.is_cpu or "
                   f"{a}.is_neg()", f"{one.name} {OTHER}", 1 if guard is None else 2)
    for one in pointers:
        a = one.text
        if one.is_array:
            text.leave(f"type({a}) is not type{one.at} or {a}.dtype is not dtype{one.at} or {a}.read_only",
                       f"{one.name} {OTHER}")


def _guard(tensors: Sequence[Any]) -> Callable[..., bool] | None:
    """A function that says of tensors whether they are of these ones' types, dtypes, devices and views, in
    one call: torch's own, for the guards of torch.compile. Where it says no, they may still be. None where
    this torch has none."""
    if len(tensors) < 2:
        return None
    try:
        from torch._C._dynamo.guards import TensorGuards

        free: Any = [[None] * tensor.dim() for tensor in tensors]
        check: Callable[..., bool] = TensorGuards(*tensors, dynamic_dims_sizes=free,
                                                  dynamic_dims_strides=free).check
        plain = not any(tensor.is_neg() or not tensor.is_cpu for tensor in tensors)
        return check if plain and check(*tensors) is True else None
    except Exception:  # whatever another version of torch has to say about it
        return None


def _launch_quickly(text: _Text, quick: Quick, values: str, names: dict[str, Any],
                    sizes: tuple[int, int, int] | None) -> None:
    """The launch itself. values: the text of the addresses and numbers."""
    names |= {"quick": quick, "pack": quick.pack, "threads": quick.threads,
              "misfits": (struct.error, OverflowError)}
    programs, before = "x * y * z", ""
    if sizes is not None:
        programs = "programs"
        names["programs"] = sizes[0] * sizes[1] * sizes[2]
    else:
        before = "".join(f"{name} * {local}, " for name, local in zip("xyz", quick.local_size, strict=True))
    text.add(f"if {programs} > quick.most:")
    text.leave(f"not quick.launch(x, y, z, ({values},))", MEMORY, 2)
    text.add("return None", 2)
    if quick.direct is None:
        _launch_packed(text, before + values, 1)
        text.add("if code:")
    else:
        names |= {"direct": quick.direct, "number": NUMBER, "elsewhere": ELSEWHERE}
        text.add(f"code = direct({before}{values})")
        text.add("if code:")
        text.leave("code == number", RANGE, 2)
        text.add("if code == elsewhere:", 2)
        _launch_packed(text, before + values, 3)
        text.add("if not code:", 3)
        text.add("return None", 4)
    text.leave(f"not quick.said({programs}, code)", MEMORY, 2)
    text.add("elif quick.slow:")
    text.add("quick.slow = 0", 2)


def _launch_packed(text: _Text, values: str, depth: int) -> None:
    """The launch in any thread, of the bytes of addresses and numbers."""
    text.add("try:", depth)
    text.add(f"data = pack({values})", depth + 1)
    text.add("except misfits:", depth)
    text.add(f"return ordinary({RANGE!r}{text.listed})", depth + 1)
    text.add("code = threads.call(data)", depth)


def _fixed(grid: Any) -> tuple[int, int, int] | None:
    """A grid as three sizes; None where it launches nothing, cannot be, or is a function."""
    if not isinstance(grid, tuple | list) or not grid:
        return None
    x, y, z = sizes = (*grid, 1, 1)[:3]
    if not all(type(size) is int and size > 0 for size in sizes):
        return None
    return (x, y, z) if x * y * z <= GRID_LIMIT else None
