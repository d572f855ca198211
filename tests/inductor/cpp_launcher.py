"""What tests of the C++ launcher share: a launcher that counts launches by the driver, and kernels for it."""

from __future__ import annotations

import ctypes
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
from triton_spirv.runtime import devices
from triton_spirv_inductor import cpp_wrapper

FOLDER = Path(__file__).parent


def address(argument: Any) -> int | None:
    if isinstance(argument, torch.Tensor):
        return int(argument.data_ptr())
    return None if argument is None else ctypes.addressof(argument)


class Launcher:
    """launcher.cpp, in a process that counts its launches by the driver."""

    def __init__(self, folder: Path, driver: bytes, launcher: bytes, number: int) -> None:
        self.folder, self.numbers = folder, itertools.count()
        # a library of its own each: what is known of the driver is known once in each
        paths = folder / f"driver{number}.so", folder / f"launcher{number}.so"
        paths[0].write_bytes(driver)
        paths[1].write_bytes(launcher.replace(b"driver?.so", f"driver{number}.so".encode()))
        self.driver, self._launcher = (ctypes.CDLL(str(path)) for path in paths)

    def functions(self, kind: int) -> None:
        ctypes.c_int.in_dll(self.driver, "functions").value = kind

    @property
    def launches(self) -> int:
        return ctypes.c_int.in_dll(self.driver, "launches").value

    def load(self, library: bytes, name: str) -> int:
        path = self.folder / f"kernel{next(self.numbers)}-{id(self)}.so"
        path.write_bytes(library)
        return ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(str(path)), name))

    def launch(self, kernel: int, grid: tuple[int, int, int], arguments: list[Any]) -> str:
        """Of ctypes' values and tensors; "", or what is wrong."""
        given = (ctypes.c_void_p * len(arguments))(*map(address, arguments))
        text = ctypes.create_string_buffer(1000)
        found = self.driver.caught(self._launcher.run_from_nativert, *grid, given, ctypes.c_void_p(kernel),
                                   text, ctypes.c_size_t(len(text)))
        assert bool(found) == bool(text.value)
        return text.value.decode()


@pytest.fixture(scope="module")
def new_launcher(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Launcher]:
    """Launchers that have launched nothing so far."""
    folder = tmp_path_factory.mktemp("launcher")
    path = devices.choose("cpu").library.path
    driver = cpp_wrapper.library((FOLDER / "driver_shim.cpp").read_text(), f"-DDRIVER={json.dumps(path)}",
                                 "-Wl,--no-as-needed", path, f"-Wl,-rpath,{Path(path).parent}")
    launcher = cpp_wrapper.library(cpp_wrapper.launcher_text(),
                                   f"-DTRITON_SPIRV_DRIVER={json.dumps(str(folder / 'driver?.so'))}")
    assert launcher.count(b"driver?.so") == 1
    numbers = itertools.count()
    return lambda: Launcher(folder, driver, launcher, next(numbers) % 10)


@pytest.fixture(scope="module")
def launcher(new_launcher: Callable[[], Launcher]) -> Launcher:
    return new_launcher()


def text_of(kernel: triton.JITFunction, arguments: tuple[Any, ...], changes: dict[str, Any] | None = None,
            **named: Any) -> tuple[str, str]:
    """The C++ of a kernel's library, and the kernel's name."""
    compiled = kernel.warmup(*arguments, grid=(1,), **named)
    compiled = compiled.result() if hasattr(compiled, "result") else compiled
    artifact = {**compiled.metadata.artifact, **(changes or {})}
    name = compiled.metadata.name
    return cpp_wrapper.kernel_text(name, artifact, compiled.asm["spv"], compiled.src.signature), name


@pytest.fixture(scope="module")
def libraries() -> dict[str, bytes]:
    return {}


@pytest.fixture
def loaded(launcher: Launcher, libraries: dict[str, bytes]) -> Callable[..., int]:
    """load(kernel, arguments, ...): a kernel of which the launcher knows nothing so far."""

    def load(kernel: triton.JITFunction, *arguments: Any, changes: dict[str, Any] | None = None,
             on: Launcher | None = None, edit: Callable[[str], str] = str, **named: Any) -> int:
        text, name = text_of(kernel, arguments, changes, **named)
        text = edit(text)
        if text not in libraries:
            libraries[text] = cpp_wrapper.library(text)
        return (on or launcher).load(libraries[text], name)

    return load
