"""runtime/program.py and binary_cache.py: built once, kept on disk, rebuilt where a file is of no use."""

from __future__ import annotations

import gc
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import handmade
import pytest
from triton_spirv.arrays import zeros
from triton_spirv.runtime import binary_cache, devices, opencl, program


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return tmp_path / "spirv-binaries"


@pytest.fixture
def context() -> devices.Context:
    gc.collect()  # programs of earlier tests
    return devices.open_device(devices.choose("cpu"))


def fresh(name: str) -> bytes:
    """Words that no other test builds: the entry point has a name of its own."""
    return handmade.assemble(handmade.SCALED_ADD.replace("scaled_add", name))


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise AssertionError("compiled from SPIR-V although a binary was there")

    monkeypatch.setattr(opencl.Library, "program_with_il", refuse)


def test_built_once_while_in_use(context: devices.Context, cache: Path) -> None:
    words = fresh("once")
    built = program.build(context, words, "once")
    assert program.build(context, words, "once") is built
    assert len(list(cache.iterdir())) == 1


def test_second_time_from_disk(context: devices.Context, cache: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    words = fresh("second")
    program.build(context, words, "second")
    gc.collect()
    no_compiler(monkeypatch)
    assert program.build(context, words, "second").kernel


@pytest.mark.parametrize("damage", [b"", b"short", None, b"x"], ids=["empty", "short", "flipped", "longer"])
def test_damaged_file(context: devices.Context, cache: Path, damage: bytes | None) -> None:
    words = fresh("damaged")
    program.build(context, words, "damaged")
    gc.collect()
    (file,) = cache.iterdir()
    good = file.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:]
    file.write_bytes({None: flipped, b"x": good + b"x"}.get(damage, damage or b""))
    assert binary_cache.load(file.name) is None
    assert program.build(context, words, "damaged").kernel
    assert file.read_bytes() == good


def test_binary_that_the_driver_refuses(context: devices.Context, cache: Path) -> None:
    words = fresh("foreign")
    name = binary_cache.key(words, context.device, "")
    binary_cache.store(name, b"the binary of another driver")
    assert program.build(context, words, "foreign").kernel
    assert binary_cache.load(name) not in (None, b"the binary of another driver")


def test_folder_that_cannot_be_written(context: devices.Context, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert program.build(context, fresh("readonly"), "readonly").kernel


def test_key_covers_what_binaries_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    device = devices.choose("cpu")
    keys = {binary_cache.key(b"a", device, ""), binary_cache.key(b"b", device, ""),
            binary_cache.key(b"a", device, "-cl-opt-disable"),
            binary_cache.key(b"a", replace(device, driver_version="0"), ""),
            binary_cache.key(b"a", replace(device, name="other"), "")}
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "skx")
    keys.add(binary_cache.key(b"a", device, ""))
    assert len(keys) == 6


def test_build_error_has_the_log(context: devices.Context, cache: Path) -> None:
    words = handmade.assemble("OpCapability Matrix" + handmade.SCALED_ADD)
    with pytest.raises(program.BuildError, match=r"(?s)cannot build scaled_add: clBuildProgram.*capability"):
        program.build(context, words, "scaled_add")


def test_missing_entry_point(context: devices.Context, cache: Path) -> None:
    with pytest.raises(program.BuildError, match="CL_INVALID_KERNEL_NAME"):
        program.build(context, fresh("present"), "absent")


def test_programs_go_with_their_last_user(context: devices.Context, cache: Path) -> None:
    kernel = handmade.bind(handmade.scaled_add())
    x = zeros(4)
    kernel.launch(4, 1, 1, (x, x, x, 1.0))
    before = len(program._programs)
    del kernel
    gc.collect()
    assert len(program._programs) == before - 1


def test_binaries_serve_another_process(cache: Path) -> None:
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import handmade
from triton_spirv.arrays import zeros
from triton_spirv.runtime import opencl
if sys.argv[2] == "second":
    opencl.Library.program_with_il = None
x = zeros(4)
handmade.bind(handmade.scaled_add()).launch(4, 1, 1, (x, x, x, 1.0))
"""
    tests = str(Path(__file__).parent.parent)
    for turn in ("first", "second"):
        done = subprocess.run([sys.executable, "-c", script, tests, turn], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
