"""Errors as Triton expects them: its autotuner skips a configuration that runs out of resources, and nothing
else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from triton.runtime.errors import OutOfResources
from triton_spirv.errors import ResourceError
from triton_spirv.native import BuildFailed
from triton_spirv.runtime.program import BuildError


class BuildFailure(OutOfResources):
    """The device's compiler refused a module: the autotuner tries the next configuration, everyone else sees
    the build log."""

    def __init__(self, message: str) -> None:
        super().__init__(0, 0, "device compiler")
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[BuildFailure], tuple[str]]:
        return BuildFailure, (self.message,)


@contextmanager
def as_triton_errors() -> Iterator[None]:
    """Resource and build failures become Triton's OutOfResources; other errors pass."""
    try:
        yield
    except ResourceError as error:
        raise OutOfResources(error.required, error.limit, error.name) from error
    except (BuildError, BuildFailed) as error:
        raise BuildFailure(str(error)) from error
