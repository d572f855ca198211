"""runtime/trial.py: drivers that nobody knows are tried in another process, once."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest
from triton_spirv.cli import doctor
from triton_spirv.cli import trial as child
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import binary_cache, devices, trial
from triton_spirv.runtime.devices import Device


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Device:
    """The CPU device as one of a driver that nobody knows; with nothing in the cache."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(trial.VARIABLE, raising=False)
    return dataclasses.replace(devices.choose("cpu"), platform="Homemade OpenCL", driver_version="0.1")


def kept() -> list[str]:
    return [path.read_text() for path in binary_cache.folder().glob("trial-*")]


def instead(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What runs in the other process."""
    monkeypatch.setattr(trial, "COMMAND", (sys.executable, "-c", f"import os, sys\n{text}"))


def test_a_driver_that_works(unknown: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tried once: what was found is kept."""
    trial.require_sound(unknown)
    assert kept() == [""]
    instead(monkeypatch, "os.abort()")
    trial.require_sound(unknown)
    newer = dataclasses.replace(unknown, driver_version="0.2")
    with pytest.raises(DeviceError, match="SIGABRT"):
        trial.require_sound(newer)
    assert sorted(map(bool, kept())) == [False, True]


def test_a_driver_that_ends_the_process(unknown: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "print('a panic in it', file=sys.stderr, flush=True)\nos.kill(os.getpid(), 11)")
    fresh = dataclasses.replace(unknown, handle=-1)
    for _ in range(2):
        with pytest.raises(DeviceError, match=r"SIGSEGV: a panic in it \(driver: Homemade OpenCL 0.1\)"):
            devices.open_device(fresh)
        instead(monkeypatch, "raise SystemExit('it is not asked again')")
    monkeypatch.setenv(trial.VARIABLE, "0")
    trial.require_sound(fresh)


def test_wrong_results(unknown: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, f"print('wrong sum: element 3', file=sys.stderr)\nsys.exit({trial.WRONG})")
    with pytest.raises(DeviceError, match="gave wrong results: wrong sum: element 3"):
        trial.require_sound(unknown)


@pytest.mark.parametrize("text", ["sys.exit(1)", "raise ValueError"])
def test_other_errors_are_the_launchs(unknown: Device, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    instead(monkeypatch, text)
    trial.require_sound(unknown)
    assert not kept()


def test_a_driver_that_hangs(unknown: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perhaps the machine was busy: that is not kept."""
    instead(monkeypatch, "import time\ntime.sleep(60)")
    monkeypatch.setattr(trial, "SECONDS", 1)
    with pytest.raises(DeviceError, match="was not done after 1 s"):
        trial.require_sound(unknown)
    assert not kept()


def test_known_drivers_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "os.abort()")
    for platform in trial.KNOWN:
        trial.require_sound(dataclasses.replace(devices.choose("cpu"), platform=platform))


def test_the_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    known = devices.choose("cpu")
    assert child.main(str(known.index), known.name) == 0
    assert child.main(str(known.index), "another name") == 1

    def wrong(device: Device) -> float:
        raise ArithmeticError("wrong sum")

    monkeypatch.setattr(doctor, "try_kernel", wrong)
    assert child.main(str(known.index), known.name) == trial.WRONG
    assert "wrong sum" in capsys.readouterr().err


def test_the_doctor_says_it() -> None:
    """Of drivers that are known to end processes: refused by name, and nothing is tried."""
    mesa = dataclasses.replace(devices.choose("cpu"), platform="rusticl", kind="gpu", handle=1)
    finding = doctor.tried(mesa)
    assert finding.state == "optional" and "the compiler of rusticl" in finding.detail
    assert "TRITON_SPIRV_DEVICE=vulkan reaches the same hardware" in finding.detail
