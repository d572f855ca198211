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

That of an ordinary launch that is repeated (repeated.py) is also given the grid, each parameter and the
options, and returns the kernel.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from triton import knobs
from triton._C.libtriton import native_specialize_impl
from triton.language.core import constexpr
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
from triton_spirv import checking
from triton_spirv.runtime import panels
from triton_spirv.runtime.capture import recorders
from triton_spirv.runtime.launch_code import ELSEWHERE, NUMBER
from triton_spirv.target.known import VARIABLE

from .binding import told_apart
from .bound_arguments import (
    CACHE,
    GRID,
    MEMORY,
    NUMBERS,
    OTHER,
    RANGE,
    SETTINGS,
    TUNED,
    WARMUP,
    WRITTEN,
    Parameter,
    Repeated,
    fixed_grid,
)

if TYPE_CHECKING:
    from triton_spirv.runtime.quick import Quick

#: environment variables that each launch obeys
OBEYED = "TRITON_SPIRV_DEVICE", VARIABLE, checking.VARIABLE


def written(function: Any, compiled: Any, grid: Any, parameters: Sequence[Parameter], backend: Any,
            ordinary: Callable[..., Any],
            changed: tuple[Callable[[Sequence[Any]], bool], str] | None = None,
            repeated: Repeated | None = None) -> Callable[..., Any]:
    """The bound launch of a compiled kernel. `ordinary(why, *arguments)` launches what does not fit;
    `changed` says of arguments whether they want other constants, and why that is. `repeated`: of an ordinary
    launch, which brings its grid, and gives back the kernel."""
    launcher = compiled.run
    sizes = None if repeated else fixed_grid(grid)
    passed = [one for one in parameters if not one.constant]
    quick: Quick | None = None
    if hasattr(launcher, "quick") and all(one.is_tensor or one.is_array or one.is_number for one in passed):
        quick = launcher.quick(compiled.function, sizes, {
            at: 16 if one.aligned else 1 for at, one in enumerate(passed) if not one.is_number},
            False, repeated is not None)
    names = {"ordinary": ordinary, "specialise": native_specialize_impl, "backend": backend,
             "fixed": fixed_grid}
    names |= {f"v{one.at}": one.value for one in parameters if one.is_asked_for}  # no others are kept
    names |= {f"type{one.at}": type(one.value) for one in parameters}
    given = repeated.order(parameters) if repeated else [one.text for one in parameters if one.given]
    text = _Text(given, "compiled" if repeated else "None")
    text.leave(_settings(function, names), SETTINGS)
    if repeated:
        _as_repeated(text, repeated, function, compiled, parameters, names)
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
            other = f"{one.text} is not v{one.at}" if isinstance(one.value, tuple) else \
                f"type({one.text}) is not type{one.at}"
            if one.is_tensor:  # one without memory has no address to ask for
                names[f"layout{one.at}"] = one.value.layout
                other += f" or {one.text}.layout is not layout{one.at}"
            text.leave(f"{other} or {_specialised(one, names)}", f"{one.name} {OTHER}")
    if repeated or callable(grid):
        _ask_grid(text, parameters, repeated, grid, names)
        text.leave("sizes is None", GRID)
        text.add("x, y, z = sizes")
    elif sizes is None:
        text.leave("True", GRID)
    else:
        names |= dict(zip("xyz", sizes, strict=True))
    if quick is None:
        _launch(text, compiled, parameters, names)
    else:
        values = ", ".join(one.passed for one in passed)
        members = quick.sharing.members_of(quick.pointers, True) if repeated and quick.sharing else None
        names |= {"quick": quick, "pack": quick.pack, "threads": quick.threads, "sharing": quick.sharing,
                  "members": members, "misfits": (struct.error, OverflowError)}
        if quick.keeps:
            _launch_keeping(text, quick, values, f"({''.join(f'{one.text}, ' for one in passed)})", names)
            _launch(text, compiled, parameters, names)
        else:
            _launch_quickly(text, quick, values, names, sizes)
    exec("\n".join(text.lines), names)
    bound: Callable[..., Any] = names["bound"]
    return bound


def _ask_grid(text: _Text, parameters: Sequence[Parameter], repeated: Repeated | None, grid: Any,
              names: dict[str, Any]) -> None:
    """The sizes of a grid that may be a function. One that a repeated launch brings is called once, whoever
    launches then; what it writes to its dictionary Triton passes to the kernel."""
    meta = f"{{{', '.join(f'{one.name!r}: {one.text}' for one in parameters)}}}"
    if not repeated:
        names["grid"] = grid
        text.add(f"sizes = fixed(grid({meta}))")
        return
    text.add("if grid.__class__ is not tuple and callable(grid):")
    text.add(f"meta = {meta}", 2)
    text.add("found = grid(meta)", 2)
    text.leave(f"(*meta.values(),) != ({''.join(f'{one.text}, ' for one in parameters)})", WRITTEN, 2)
    text.add("grid = found", 2)
    text.add("sizes = fixed(grid)")


class _Text:
    """The lines of the function; `listed` are its arguments, with commas before, `result` what it returns."""

    def __init__(self, given: Sequence[str], result: str) -> None:
        self.lines = [f"def bound({', '.join([*given, '/'] if given else [])}):"]
        self.listed, self.result = "".join(f", {a}" for a in given), result

    def add(self, line: str, depth: int = 1) -> None:
        """A line of the body."""
        self.lines.append(f"{'    ' * depth}{line}")

    def leave(self, condition: str, why: str, depth: int = 1) -> None:
        """Under this condition, "" for none, the call is an ordinary launch."""
        if condition:
            self.add(f"if {condition}:", depth)
            self.add(f"return ordinary({why!r}{self.listed})", depth + 1)


def _as_repeated(text: _Text, repeated: Repeated, function: Any, compiled: Any,
                 parameters: Sequence[Parameter], names: dict[str, Any]) -> None:
    """What is asked of an ordinary launch besides."""
    text.leave("warmup", WARMUP)
    names["compiled"] = compiled
    text.leave(_uncached(function, compiled, names), CACHE)
    for name, value in repeated.options.items():
        text.leave(_other_constant(f"option_{name}", f"own_{name}", value, names), f"{name} {OTHER}")
    if repeated.tuned is not None:
        text.leave(repeated.tuned.changed(names), TUNED)
        for one in [one for one in parameters if one.given and one.name in repeated.tuned.tuner.keys]:
            text.leave(_other_constant(one.text, f"key_{one.at}", one.value, names), f"{one.name} {OTHER}")
        text.add("tuner.best_config = config")


def _settings(function: Any, names: dict[str, Any]) -> str:
    """Is anything that each launch obeys not as it is now?"""
    runtime = knobs.runtime
    # os.environ decodes at each question, which takes half a microsecond
    raw = hasattr(os.environ, "_data")
    environment: Any = getattr(os.environ, "_data", os.environ)
    keys: list[Any] = [os.environ.encodekey(name) if raw else name for name in OBEYED]
    names |= {"environment": environment, "knobs": knobs, "runtime": runtime, "chosen": checking.chosen.get}
    conditions = ["knobs.runtime is not runtime"]
    for at, key in enumerate(keys):
        names |= {f"key{at}": key, f"setting{at}": environment.get(key)}
        conditions.append(f"environment.get(key{at}) != setting{at}" if key in environment else
                          f"key{at} in environment")
    names["check"] = checking.chosen.get()
    conditions.append("chosen() != check" if names["check"] else "chosen() is not check")
    switches = {"debug": "not runtime.debug" if runtime.debug else "runtime.debug"}
    for hook in ("launch_enter_hook", "launch_exit_hook"):
        names[hook] = getattr(runtime, hook)
        switches[hook] = f"runtime.{hook} is not {hook}"
        if names[hook] is not None:
            conditions.append(f"{hook}.calls" if hasattr(names[hook], "calls") else "True")
    if hasattr(runtime, "add_stages_inspection_hook"):
        switches["add_stages_inspection_hook"] = "runtime.add_stages_inspection_hook is not None"
    conditions.append(_switched(runtime, switches, names))
    names |= {"drivers": driver, "driver_type": type(driver.active)}
    conditions.append("drivers._active.__class__ is not driver_type")
    names["recorders"] = recorders  # a graph's block keeps ordinary launches
    conditions.append("recorders")
    names |= {"jitted": function, "debug": function.debug}
    conditions.append("jitted.pre_run_hooks or jitted.debug is not debug")
    if hasattr(knobs.compilation, "instrumentation_mode"):  # an option of each launch, since Triton 3.7
        names |= {"compilation": knobs.compilation, "mode": knobs.compilation.instrumentation_mode}
        conditions.append("knobs.compilation is not compilation or compilation.instrumentation_mode != mode")
    if function.used_global_vals:
        used = function.used_global_vals
        names["globals_changed"] = lambda: any(
            scope.get(name, used) != value for (name, _), (value, scope) in used.items())
        conditions.append("globals_changed()")
    return " or ".join(conditions)


def _uncached(function: Any, compiled: Any, names: dict[str, Any]) -> str:
    """Is the kernel no longer what Triton finds for these arguments? Whoever changes a kernel's source
    empties its caches."""
    device = driver.active.get_current_device()
    entry = function.device_caches[device]
    key = next((key for key, kernel in list(entry[0].items()) if kernel is compiled), None)
    names |= {"current": device, "entry": entry, "cached": entry[0], "key": key}
    return "jitted.device_caches.get(current) is not entry or cached.get(key) is not compiled"


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
    if not one.given:
        return ""
    if not one.constant:
        another = f"type({one.text}) is not type{one.at} or {one.text} != v{one.at}"
        unspecialised = one.annotated and one.own[1] is None
        if unspecialised or type(one.value) in (float, bool):  # any value of the type will do
            return f"type({one.text}) is not type{one.at}"
        return f"{another} and {_specialised(one, names)}"
    return _other_constant(one.text, f"v{one.at}", one.value, names)


def _other_constant(now: str, known: str, value: Any, names: dict[str, Any]) -> str:
    """Is what the text names `now` another constant than the value, which it names `known`?"""
    names |= {known: value, f"type_{known}": type(value)}
    if isinstance(value, JITFunction):  # its source may change
        names[f"hash_{known}"] = value.cache_key
        return f"{now} is not {known} or {now}.hash != hash_{known}"
    if isinstance(value, constexpr):
        names[f"value_{known}"] = value.value
        return f"{now} is not {known} or {now}.value is not value_{known}"
    if type(value) not in (*NUMBERS, str):
        return f"{now} is not {known}"
    another = f"type({now}) is not type_{known} or {now} != {known}"
    if value == 0 and type(value) is float:  # 0.0 equals -0.0
        another += f" or str({now}) != str({known})"
    return f"{now} is not {known} and ({another})"


def _compare_memory(text: _Text, pointers: Sequence[Parameter], names: dict[str, Any]) -> None:
    """Is each argument that is memory as in bind, but for its address?"""
    for one in pointers:
        names[f"dtype{one.at}"] = one.value.dtype
    tensors = [one for one in pointers if one.is_tensor]
    guard = _guard([one.value for one in tensors])
    if guard is not None:
        names["guard"] = guard
        # of a nested tensor the guard would end the process
        nested = [f"type({one.text}) is not type{one.at} or {one.text}.is_nested or " for one in tensors]
        text.add(f"if {''.join(nested)}not guard({', '.join(one.text for one in tensors)}):")
    for one in tensors:
        a = one.text
        names[f"layout{one.at}"] = one.value.layout
        text.leave(f"type({a}) is not type{one.at} or {a}.dtype is not dtype{one.at} or not {a}.is_cpu or "
                   f"{a}.is_neg() or {a}.layout is not layout{one.at}",
                   f"{one.name} {OTHER}", 1 if guard is None else 2)
    for one in pointers:
        a = one.text
        if one.is_array:
            text.leave(f"type({a}) is not type{one.at} or {a}.dtype is not dtype{one.at} or {a}.read_only",
                       f"{one.name} {OTHER}")


def _guard(tensors: Sequence[Any]) -> Callable[..., bool] | None:
    """A function that says of tensors whether they are of these ones' types, dtypes, devices and views, in
    one call: one of torch's compiler, if this torch has it. Where it says no, they may still be."""
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


def _launch(text: _Text, compiled: Any, parameters: Sequence[Parameter], names: dict[str, Any]) -> None:
    """The launch itself, as Triton makes it."""
    names |= {"launch": compiled.run, "function": compiled.function, "packed": compiled.packed_metadata}
    everything = ", ".join(["0, function, packed, None, None, None", *(one.text for one in parameters)])
    text.add(f"launch(x, y, z, {everything})")
    text.add(f"return {text.result}")


def _launch_keeping(text: _Text, quick: Quick, values: str, arguments: str, names: dict[str, Any]) -> None:
    """The launch of a kernel that keeps packed operands, where threads share it. values, arguments: the text
    of the addresses and numbers, of the arguments."""
    if names["members"] is None:
        return
    names |= {"given_back": panels.given_back, "nothing": panels.NOTHING, "along_x": panels.along_x}
    text.add("if quick.most < x * y * z <= sharing.shared:")
    text.add(f"held = quick.keep({arguments}, sizes)", 2)
    text.add("along, down, behind = sizes if held is None else along_x(sizes)", 2)
    returned, sizes = "held is None or given_back(held)", _sizes(quick, ("along", "down", "behind"))
    _pack(text, f"{sizes}{values}, nothing if held is None else held.address", 2, returned)
    text.add("took = sharing.run(x * y * z, members, data)", 2)
    text.add(returned, 2)
    text.add("if took:", 2)
    text.add(f"return {text.result}", 3)


def _sizes(quick: Quick, programs: Sequence[str] = "xyz") -> str:
    """The text of a launch's sizes, in front of its values."""
    return "".join(f"{name} * {local}, " for name, local in zip(programs, quick.local_size, strict=True))


def _launch_quickly(text: _Text, quick: Quick, values: str, names: dict[str, Any],
                    sizes: tuple[int, int, int] | None) -> None:
    """The launch itself. values: the text of the addresses and numbers."""
    programs, before = "x * y * z", _sizes(quick)
    if sizes is not None:
        programs, before = "programs", ""
        names["programs"] = sizes[0] * sizes[1] * sizes[2]
    text.add(f"if {programs} > quick.most:")
    if names["members"] is not None:
        text.add(f"if {programs} <= sharing.shared:", 2)
        _pack(text, before + values, 3)
        text.add(f"if sharing.run({programs}, members, data):", 3)
        text.add(f"return {text.result}", 4)
    text.leave(f"not quick.launch(x, y, z, ({values},))", MEMORY, 2)
    text.add(f"return {text.result}", 2)
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
        text.add(f"return {text.result}", 4)
    text.leave(f"not quick.said({programs}, code)", MEMORY, 2)
    text.add("elif quick.slow:")
    text.add("quick.slow = 0", 2)
    text.add(f"return {text.result}")


def _launch_packed(text: _Text, values: str, depth: int) -> None:
    """The launch in any thread, of the bytes of addresses and numbers."""
    _pack(text, values, depth)
    text.add("code = threads.call(data)", depth)


def _pack(text: _Text, values: str, depth: int, otherwise: str = "pass") -> None:
    """otherwise: what is done where they do not fit."""
    text.add("try:", depth)
    text.add(f"data = pack({values})", depth + 1)
    text.add("except misfits:", depth)
    text.add(otherwise, depth + 1)
    text.add(f"return ordinary({RANGE!r}{text.listed})", depth + 1)
