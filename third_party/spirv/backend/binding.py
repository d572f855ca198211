"""How Triton's front end reads arguments, and where that is not enough.

Arguments that it cannot take: its message names their type, this one the way out. Of elements without a type
in Triton it gives a KeyError.

Constants: it looks a kernel up by what constants equal, and 2, 2.0 and, of 1, True are equal, as 0.0 and -0.0
are. A launch with one got the kernel that was compiled for the other, in every Triton from 3.6 to 3.9. So it
is with constants inside of tuples, and with tuples whose fields have other names.

Triton asks no backend about either, so the function by which it reads a kernel's arguments is wrapped, for
kernels of this backend only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from triton.language.core import constexpr, dtype
from triton.runtime import jit
from triton.runtime.jit import JITFunction
from triton_spirv.errors import LaunchError

#: what Triton's message starts with
REFUSAL = "failed to specialize argument"


def explain_refused_arguments() -> None:
    """From now on; once is enough."""
    make = jit.create_function_from_signature
    if hasattr(make, "explains"):
        return

    @functools.wraps(make)
    def create_function_from_signature(signature: Any, parameters: Any, backend: Any) -> Callable[..., Any]:
        from .compiler import SPIRVBackend

        read = make(signature, parameters, backend)
        if not isinstance(backend, SPIRVBackend):
            return read
        constants = {parameter.name for parameter in parameters if parameter.is_constexpr}
        return explaining(read, list(signature.parameters), constants)

    create_function_from_signature.explains = True  # type: ignore[attr-defined]
    jit.create_function_from_signature = create_function_from_signature


def explaining(read: Callable[..., Any], names: list[str], constants: set[str]) -> Callable[..., Any]:
    """`read`, whose TypeError about an argument's type says which argument it is and what to pass;
    LaunchError for an array of elements without a type. Constants that equal others of another kind are told
    apart."""
    def read_arguments(*arguments: Any, **options: Any) -> Any:
        try:
            found = read(*arguments, **options)
            known = found[1]
            for at, (kind, value) in enumerate(known):
                if (kind == CONSTANT or kind.__class__ is not str) and value.__class__ not in ALIKE:
                    known[at] = kind, told_apart(value)
            return found
        except RuntimeError as error:
            if "doesn't have storage" not in str(error):
                raise
            require_memory({**dict(zip(names, arguments, strict=False)), **options})
            raise
        except KeyError:
            require_dtypes({**dict(zip(names, arguments, strict=False)), **options})
            raise
        except TypeError as error:
            if not str(error).startswith(REFUSAL):
                raise
            given = {**dict(zip(names, arguments, strict=False)), **options}
            passed = {name: given[name] for name in names if name in given and name not in constants}
            raise TypeError(f"{error}{advice(passed)}") from None
    return read_arguments


#: Triton's type of an argument that is a constant
CONSTANT = "constexpr"
#: what equals nothing but its like
ALIKE = frozenset({int, str, type(None), dtype, JITFunction})


class Constant:
    """A constant, equal to itself only; it is written as its value is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


#: type of a value, as it is written -> the one that stands for it
_constants: dict[tuple[type, str], Constant] = {}
TRUE, FALSE = Constant("True"), Constant("False")


def told_apart(value: Any) -> Any:
    """What equals no constant of another kind: an integer equals no float but a whole one. Of a tuple with
    names, no tuple with others."""
    if value is True or value is False:
        return TRUE if value else FALSE
    if value.__class__ is float and not value.is_integer():
        return value
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)  # behind the values, whose places Triton asks for
        return *map(told_apart, value), *([interned(tuple, ", ".join(names))] if names else [])
    if isinstance(value, constexpr):
        inner = told_apart(value.value)
        return value if inner is value.value else inner
    if isinstance(value, float | int):  # a number of a class of its own, too
        return interned(type(value), repr(value))
    return value


def interned(kind: type, text: str) -> Constant:
    """The constant of this type that is written so."""
    return _constants.get((kind, text)) or _constants.setdefault((kind, text), Constant(text))


def require_dtypes(given: dict[str, Any]) -> None:
    """LaunchError for the first array whose elements have no type in Triton."""
    from triton_spirv.arrays import find_dtype

    for name, value in given.items():
        for part in value if isinstance(value, tuple) else (value,):
            if hasattr(part, "data_ptr") and hasattr(part, "dtype"):
                try:
                    find_dtype(part.dtype)
                except LaunchError as error:
                    raise LaunchError(f"argument {name}: {error}") from None


def require_memory(given: dict[str, Any]) -> None:
    """LaunchError for the first tensor of torch's that is not one block of memory: a sparse one, or one in a
    library's own layout."""
    for name, value in given.items():
        for part in value if isinstance(value, tuple) else (value,):
            layout = str(getattr(part, "layout", "torch.strided"))
            if layout != "torch.strided":
                parts = "" if layout == "torch._mkldnn" else "its parts, such as x.values(), or "
                raise LaunchError(f"argument {name}: a tensor of layout {layout} is not one block of memory; "
                                  f"pass {parts}x.to_dense()")


def advice(given: dict[str, Any]) -> str:
    """What to do about the first argument that cannot be passed."""
    for name, value in given.items():
        for part in value if isinstance(value, tuple) else (value,):
            way_out = remedy(part)
            if way_out:
                where = name if part is value else f"{name}, a {type(part).__name__} in it"
                return f" (argument {where}); {way_out}"
    return ""


def remedy(value: Any) -> str:
    """The way out for a value, "" for one that Triton takes."""
    kind = type(value)
    if isinstance(value, (list, set, dict, range)):
        return "make it an array first, torch.tensor(x) or triton_spirv.asarray(numpy.array(x)), or a tuple"
    if kind.__module__ == "numpy" and getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return "pass a number: x.item()"
    if hasattr(value, "data_ptr"):
        return ""
    if any(hasattr(value, name) for name in ("__array_interface__", "__dlpack__")) or kind is memoryview:
        return "pass triton_spirv.asarray(x), which shares its memory"
    if kind.__module__.startswith("pyopencl"):
        return "pass triton_spirv.asarray(x), which is mapped while the kernel runs"
    if isinstance(value, (str, bytes)):
        return "text is for parameters that are tl.constexpr"
    return ""
