"""A small kernel in a process of its own, before an OpenCL driver that nobody here knows gets one in this
process: where it ends the process, there is a sentence instead. What was found is kept beside the drivers'
binaries, for this device and this version of its driver.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DeviceError
from ..settings import flag

if TYPE_CHECKING:
    from .devices import Device

#: how platforms begin whose drivers the tests run on, or know the source of: no process is needed to try them
KNOWN = ("Intel(R) OpenCL", "Intel(R) OpenCL Graphics", "Intel(R) OpenCL HD Graphics")

VARIABLE = "TRITON_SPIRV_TRIAL"
#: what tries the device of an index, if it has a name; status `WRONG`: its results are wrong
COMMAND = (sys.executable, "-m", "triton_spirv.cli.trial")
WRONG = 4
SECONDS = 120


def require_sound(device: Device) -> None:
    """DeviceError where the driver of a device does not survive a kernel, or computes nonsense."""
    if device.platform.startswith(KNOWN) or not flag(VARIABLE, True):
        return
    file = _place(device)
    try:
        verdict = file.read_text(encoding="utf-8")
    except OSError:
        verdict, lasts = tried(device)
        if lasts:
            _keep(file, verdict)
    if verdict:
        raise DeviceError(f"{device.name}: {verdict} (driver: {device.platform} {device.driver_version}). "
                          "Choose another device with TRITON_SPIRV_DEVICE, "
                          f"or set {VARIABLE}=0 to launch kernels without this test")


def tried(device: Device) -> tuple[str, bool]:
    """What is wrong with the device, empty where nothing is known; is it worth keeping?"""
    try:
        done = subprocess.run([*COMMAND, str(device.index), device.name], capture_output=True, text=True,
                              timeout=SECONDS, env={**os.environ, VARIABLE: "0"})
    except subprocess.TimeoutExpired:
        return f"a small kernel in another process was not done after {SECONDS} s", False
    except OSError:  # no more processes: the launch says itself what is wrong
        return "", False
    if done.returncode == 0:
        return "", True
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == WRONG:
        return f"a small kernel in another process gave wrong results: {last}", True
    if done.returncode < 0:
        return f"its driver ended a process that tried a small kernel, by {_name(-done.returncode)}" + (
            f": {last}" if last else ""), True
    return "", False  # an error that a launch raises, too


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _place(device: Device) -> Path:
    from .binary_cache import compiler_of, folder

    return folder() / f"trial-{hashlib.sha256(compiler_of(device).encode()).hexdigest()[:32]}"


def _keep(place: Path, verdict: str) -> None:
    with contextlib.suppress(OSError):  # it is tried again
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = place.with_suffix(f".{os.getpid()}")
        scratch.write_text(verdict, encoding="utf-8")
        scratch.replace(place)
