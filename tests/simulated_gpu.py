"""Simulated Intel GPUs: an OpenCL library (tests/gpu_simulator, in C) in front of the CPU driver.

It is built once for its sources and found in the folder of temporary files. `installed()` puts its devices
behind those of the machine, as a driver that a loader finds; gpu_simulator/devices.c has their names, and
`TRITON_SPIRV_DEVICE` chooses them by a part of it. It says what was wrong, and what launches cost.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "gpu_simulator"
#: the matrix unit and 2D block messages in OpenCL C
EMULATION = Path(__file__).parent / "emulation" / "matrix.cl"

#: mode of the tests -> the part of a device's name that chooses it
DEVICES = {"gpu-pvc": "max 1100", "gpu-bmg": "b580", "gpu-dg2": "a770", "gpu-arl": "140t",
           "gpu-mtl": "arc(tm) graphics"}
MODES = {name: {"TRITON_SPIRV_DEVICE": device} for name, device in DEVICES.items()}

#: modes of devices that do not report cl_khr_fp64
WITHOUT_DOUBLES = ("gpu-dg2",)

NEEDED = "missing for the simulated GPU: apt-get install gcc ocl-icd-opencl-dev"
COMMON = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")


def available() -> bool:
    """Can it be built here?"""
    return bool(shutil.which("cc")) and Path("/usr/include/CL/cl_icd.h").exists()


@functools.cache
def folder() -> Path:
    """The folder with the library, its process and a vendor file for loaders; built where it is not there."""
    from triton_spirv.runtime import loader

    driver = loader.cpu_library()
    files = [*sorted(SOURCES.iterdir()), EMULATION]
    text = b"".join(file.read_bytes() for file in files) + f"{driver} {EMULATION}".encode()
    name = f"simulated-gpu-{os.getuid()}-{hashlib.sha256(text).hexdigest()[:16]}"
    made = Path(tempfile.gettempdir()) / name
    if not made.exists():
        with tempfile.TemporaryDirectory(prefix=name) as scratch:
            _build(Path(scratch), str(driver))
            (Path(scratch) / "vendors").mkdir()
            (Path(scratch) / "vendors" / "simulated.icd").write_text(f"{made}/libsimulated_gpu.so\n")
            with contextlib.suppress(OSError):  # another process was faster
                shutil.copytree(scratch, f"{made}.{os.getpid()}")
                os.rename(f"{made}.{os.getpid()}", made)
            shutil.rmtree(f"{made}.{os.getpid()}", ignore_errors=True)
    return made


def _build(to: Path, driver: str) -> None:
    library = [str(file) for file in sorted(SOURCES.glob("*.c")) if file.name != "process.c"]
    subprocess.run(["cc", *COMMON, "-fvisibility=hidden", "-fPIC", "-shared",
                    f'-DDRIVER="{driver}"',
                    f'-DEMULATION="{EMULATION}"', *library, "-o", str(to / "libsimulated_gpu.so"), "-pthread",
                    "-ldl"], check=True)
    subprocess.run(["cc", *COMMON, str(SOURCES / "process.c"), "-o", str(to / "process"), "-pthread",
                    "-ldl"], check=True)


@functools.cache
def library() -> Any:
    """The runtime's binding of the library."""
    from triton_spirv.runtime import opencl

    made = opencl.Library(str(folder() / "libsimulated_gpu.so"))
    made._handle.simulator_count.restype = ctypes.c_uint64
    made._handle.simulator_violations.restype = ctypes.c_size_t
    return made


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Its devices are the machine's while this lasts, beside the CPU driver's."""
    from triton_spirv.runtime import devices, loader
    from triton_spirv_backend import targets

    def forget() -> None:
        for function in (devices._all_devices, targets._device_name, targets._name, targets._interface):
            function.cache_clear()

    before = loader.open_loader
    loader.open_loader = library  # type: ignore[assignment]
    forget()
    try:
        yield
    finally:
        loader.open_loader = before
        forget()


#: how lines begin in which a process says what was wrong, where `for_children()` asks for it
SPOKEN = "simulated GPU: "


def for_children() -> dict[str, str]:
    """What the environment of a process says for a loader to find the library."""
    return {"OCL_ICD_VENDORS": str(folder() / "vendors"), "SIMULATED_GPU_SPEAKS": "1"}


def refuses(mode: str, error: Exception) -> bool:
    """Is this what such a device refuses for good: 64-bit floats where it has none, addresses of the host's
    memory that a kernel finds in memory?"""
    words = "does not share the host's memory; pass the arrays themselves"
    return mode in MODES and (words in str(error) or lacks_doubles(mode, error))


def lacks_doubles(mode: str, error: BaseException) -> bool:
    """Is this the refusal of 64-bit floats on a device that has none, in our words or its driver's?"""
    words = "has no 64-bit floats", "double precision is not supported"
    return mode in WITHOUT_DOUBLES and any(each in str(error) for each in words)


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """`installed()`; AssertionError where the block did something wrong, or left events behind."""
    import pytest

    if not available():
        pytest.skip(NEEDED)
    violations()
    with installed():
        yield
    wrong = violations()
    assert not wrong, "\n".join(wrong)
    assert not count("live_events"), "events that nobody has released"


def violations() -> list[str]:
    """What was wrong since the last call."""
    text = ctypes.create_string_buffer(1 << 16)
    count = library()._handle.simulator_violations(text, ctypes.c_size_t(len(text)))
    return text.raw[:count].decode().splitlines()


def count(name: str) -> int:
    """One of the counters of gpu_simulator/simulator.h since the process began; or of what is alive:
    "live_allocations", "live_bytes", "live_events"."""
    number = int(library()._handle.simulator_count(name.encode()))
    assert number != (1 << 64) - 1, f"no counter {name}"
    return number


@contextlib.contextmanager
def costs() -> Iterator[dict[str, int]]:
    """What the block costs: filled in at its end."""
    names = ("copies_to_device", "copies_from_device", "copies_on_device", "bytes_to_device",
             "bytes_from_device", "allocations_made", "allocations_freed", "launches", "waits", "builds")
    before = {name: count(name) for name in names}
    found: dict[str, int] = {}
    yield found
    found.update({name: count(name) - before[name] for name in names})
