"""runtime/program.py on a GPU that compiles SPIR-V itself: which register file it is given, by what the
driver tells. The GPU is a scripted OpenCL library."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from scripted_gpu import LARGE, Gpu, context
from triton_spirv.errors import DeviceError, ResourceError
from triton_spirv.native.failures import BadRequest
from triton_spirv.runtime import binary_cache, devices, opencl, program

SCRATCH = ("total scratch space exceeds HW supported limit for kernel k: {} bytes "
           "(max permitted PTSS 262144 bytes)")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return tmp_path / "spirv-binaries"


def built(gpu: Gpu, options: str = "", **choice: Any) -> program.Program:
    gc.collect()
    return program.build(context(gpu), b"words", "k", options, program.Policy(**{"simd": 16, **choice}))


def test_no_spills() -> None:
    gpu = Gpu({"": (128, 0)})
    made = built(gpu)
    assert gpu.builds == [""] and (made.registers, made.n_spills, made.build_flags) == (128, 0, "")


def test_fewer_spills_with_more_registers() -> None:
    gpu = Gpu({"": (128, 22080), LARGE: (256, 12416)})
    made = built(gpu)
    assert gpu.builds == ["", LARGE] and made.build_flags == LARGE
    assert (made.registers, made.spill_bytes, made.n_spills) == (256, 12416, 194)
    assert [one["n_spills"] for one in made.attempts] == [345, 194]
    gc.collect()
    assert len(gpu.released) == 1  # the build that was not kept


@pytest.mark.parametrize("second", [(256, 22080), (256, 30000), "error: no such option"])
def test_first_build_is_not_lost(second: Any) -> None:
    gpu = Gpu({"": (128, 22080), LARGE: second})
    assert built(gpu).build_flags == "" and len(gpu.builds) == 2


def test_first_build_fails() -> None:
    gpu = Gpu({"": "error: internal", LARGE: (256, 0)})
    assert built(gpu).registers == 256


def test_both_fail() -> None:
    with pytest.raises(program.BuildError, match=r"(?s)scripted.*GRF default.*error: a.*GRF 256.*error: b"):
        built(Gpu({"": "error: a", LARGE: "error: b"}))


def test_scratch_exceeded() -> None:
    gpu = Gpu({"": SCRATCH.format(400000), LARGE: SCRATCH.format(326400)})
    with pytest.raises(ResourceError) as caught:
        built(gpu)
    error = caught.value
    assert (error.required, error.limit, error.name) == (326400, 262144, "per-thread scratch space")


def test_device_that_does_not_tell() -> None:
    """No second build without a reason; registers follow from the options, where those say."""
    assert built(Gpu({"": (None, None)})).registers == 0
    made = built(Gpu({LARGE: (None, None)}), grf_mode="256")
    assert (made.registers, made.n_spills, made.spill_bytes) == (256, 0, None)


def test_options_of_the_launch_come_along() -> None:
    flags = "-cl-mad-enable"
    gpu = Gpu({flags: (128, 22080), f"{flags} {LARGE}": (256, 0)})
    assert built(gpu, flags).build_flags == f"{flags} {LARGE}"


def test_many_warps() -> None:
    assert len(built(Gpu({"": (128, 22080)}), num_warps=64).attempts) == 1
    with pytest.raises(BadRequest, match="num_warps=64"):
        built(Gpu({}), grf_mode="256", num_warps=64)


def test_cpu_devices_build_once() -> None:
    gpu = Gpu({"": (128, 99999)})
    program.build(context(gpu, "cpu"), b"words", "k", "", program.Policy(simd=16))
    assert gpu.builds == [""]


def test_second_process_builds_nothing() -> None:
    """The binary that was kept comes from disk, with what is known of it; the choice is not made again."""
    first = Gpu({"": (128, 22080), LARGE: (256, 12416)})
    attempts = built(first).attempts
    second = Gpu(dict(first.outcomes))
    made = built(second)
    assert not second.builds and made.attempts == attempts
    assert (made.registers, made.n_spills, made.build_flags) == (256, 194, LARGE)


def test_choice_is_part_of_the_key(cache: Path) -> None:
    gpu = Gpu({"": (128, 0), LARGE: (256, 0)})
    built(gpu)
    assert built(gpu, grf_mode="256").build_flags == LARGE
    built(gpu, num_warps=8)
    assert len(gpu.builds) == 3 and len(list(cache.iterdir())) == 3


def test_binary_that_is_refused_is_built_once_with_a_message() -> None:
    built(Gpu({"": (128, 0)}))
    refusing = Gpu({"": (128, 0)}, refuses_binaries=True)
    with pytest.warns(RuntimeWarning, match="scripted.* cannot use the cached.* k.*again from SPIR-V"):
        assert built(refusing).registers == 128
    assert refusing.builds == [""]


@dataclass
class Cloud:
    """A cache that machines share."""

    files: dict[str, bytes] = field(default_factory=dict)

    def get(self, name: str) -> bytes | None:
        return self.files.get(name)

    def put(self, name: str, data: bytes) -> None:
        self.files[name] = data


def test_shared_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second machine compiles nothing; what is damaged on the way counts as absent."""
    cloud = Cloud()
    monkeypatch.setattr(binary_cache, "remote", cloud)
    built(Gpu({"": (128, 0)}))
    (name,) = cloud.files
    (cache / name).unlink()
    second = Gpu({"": (128, 0)})
    built(second)
    assert not second.builds and (cache / name).read_bytes() == cloud.files[name]
    (cache / name).unlink()
    cloud.files[name] = cloud.files[name][:-1] + b"?"
    third = Gpu({"": (128, 0)})
    built(third)
    assert third.builds == [""] and cloud.files[name] == (cache / name).read_bytes()


@pytest.mark.parametrize(("answers", "expected"), [
    ({opencl.DEVICE_IP_VERSION_INTEL: 12 << 22 | 60 << 14 | 7, opencl.DEVICE_ID_INTEL: 0xBD5}, "12.60.7"),
    ({opencl.DEVICE_ID_INTEL: 0x56A0}, "0x56a0"),
    ({opencl.DEVICE_IP_VERSION_INTEL: 20 << 22 | 1 << 14 | 4}, "20.1.4"),
])
def test_what_ocloc_calls_a_device(answers: dict[int, int], expected: str) -> None:
    class Library:
        def number(self, name: str, handle: int, what: int) -> int:
            if what not in answers:
                raise opencl.OpenCLError(name, -30)
            return answers[what]

    device = context(Library()).device  # type: ignore[arg-type]
    assert devices.native_name(device) == expected
    answers.clear()
    with pytest.raises(DeviceError, match="native_device"):
        devices.native_name(device)
