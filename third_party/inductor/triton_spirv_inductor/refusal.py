"""What has to be so before Inductor can write kernels for this package; UsageError says what is not."""

from __future__ import annotations

import functools
import importlib.metadata
import os

from triton_spirv import switch
from triton_spirv.errors import UsageError

#: the name that Inductor asks Triton for, and the package that the entry point of this distribution names
NAME, PACKAGE = "cpu", "triton_spirv_inductor"


def refuse_what_cannot_work() -> None:
    """UsageError for another CPU backend, a switch that is off, or a device that holds no CPU tensors."""
    refuse_other_backends()
    if not switch.is_on() and not switch.is_automatic():
        raise UsageError(f"{switch.VARIABLE}={os.environ[switch.VARIABLE]} switches triton-spirv off: unset "
                         "it, or leave torch.compile to Inductor's C++ backend")
    from triton_spirv_backend.targets import VARIABLE, current_target

    target = current_target()
    if target.backend != NAME:
        raise UsageError(f"torch.compile hands CPU tensors to kernels of the target {NAME!r}, but "
                         f"TRITON_SPIRV_DEVICE or {VARIABLE} chooses {target.backend} {target.arch}: unset "
                         "both")


@functools.cache
def refuse_other_backends() -> None:
    """UsageError where another distribution offers Triton a backend named `cpu`: one can have the name."""
    from triton.backends import backends

    others = [point for point in importlib.metadata.entry_points(group="triton.backends", name=NAME)
              if point.value != PACKAGE]
    if others:
        named = ", ".join(f"{point.dist.name if point.dist else 'an unknown distribution'} ({point.value})"
                          for point in others)
        raise UsageError(f"another Triton backend named 'cpu' is installed, by {named}: Triton can have only "
                         "one of that name; uninstall that one or triton-spirv-inductor")
    found = backends.get(NAME)
    if found is None:
        raise UsageError("TRITON_BACKENDS_IN_TREE keeps Triton from finding backends that are installed "
                         "beside it, such as triton-spirv: unset TRITON_BACKENDS_IN_TREE")
    if found.compiler.__module__.partition(".")[0] != PACKAGE:
        raise UsageError(f"this Triton has a backend named 'cpu' of its own ({found.compiler.__module__}), "
                         "the name that torch.compile asks for: install the wheel of Triton from PyPI")
