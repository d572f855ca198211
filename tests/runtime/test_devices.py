"""runtime/devices.py, loader.py, processor.py: what there is, and which of it is meant."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import re
import sys
import threading
from pathlib import Path

import pytest
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import devices, loader, opencl, processor
from triton_spirv.standalone import loader as bundle_loader
from triton_spirv.target import cpu_target


def test_cpu_driver_is_found_without_configuration() -> None:
    device = devices.choose("cpu")
    assert device.kind == "cpu" and device.shares_memory and device.compute_units >= 1
    assert "SPIR-V_1.2" in device.il_versions
    assert os.path.isfile(str(loader.cpu_library()))


def test_choices() -> None:
    first = devices.devices()[0]
    assert devices.choose("") == devices.choose("cpu") == devices.choose("CPU") == first
    assert devices.choose("0") == first
    assert devices.choose(first.name[:4].lower()) == first
    assert devices.choose(first.platform) == first


@pytest.mark.cpu_device("two simulated GPUs are alike")
def test_no_device_twice() -> None:
    everything = devices.devices()
    assert [device.index for device in everything] == list(range(len(everything)))
    names = [(device.name, device.platform, device.driver_version) for device in everything]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("choice", ["accelerator", "99", "no such device"])
def test_wrong_choice_lists_what_there_is(choice: str) -> None:
    with pytest.raises(DeviceError) as caught:
        devices.choose(choice)
    assert choice in str(caught.value)
    assert str(devices.choose("cpu")) in str(caught.value)


def test_no_driver_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_all_devices", lambda: ())
    monkeypatch.setattr(loader, "cpu_library", lambda: None)
    with pytest.raises(DeviceError, match="pip install intel-opencl-rt intel-cmplr-lib-rt"):
        devices.choose("")


def test_threads_that_name_vendors_put_back_what_was_there(monkeypatch: pytest.MonkeyPatch,
                                                           tmp_path: Path) -> None:
    """The second of two found the first one's folder, and put that back when it was long removed."""
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def first() -> None:
        with loader.vendors():
            first_in.set()
            second_in.wait(0.3)
        first_out.set()

    def second() -> None:
        first_in.wait()
        with loader.vendors():
            second_in.set()
            first_out.wait(5)

    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.environ["OCL_ICD_VENDORS"] == str(tmp_path)


def test_incomplete_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's second package is missing, which the driver itself does not say."""
    (tmp_path / loader.DRIVER).write_bytes(b"not a library")
    monkeypatch.setattr(loader, "cpu_library", lambda: str(tmp_path / loader.DRIVER))
    loader.open_cpu.cache_clear()
    try:
        with pytest.raises(DeviceError, match="pip install intel-cmplr-lib-rt"):
            loader.open_cpu()
    finally:
        loader.open_cpu.cache_clear()


def test_driver_in_another_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the usual folders do not have it, the package's own list of files does."""
    monkeypatch.setattr(loader, "_library_folders", lambda: iter([tmp_path]))
    loader.cpu_library.cache_clear()
    try:
        assert os.path.isfile(str(loader.cpu_library()))
    finally:
        loader.cpu_library.cache_clear()


def test_vendor_folder_keeps_the_systems_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.icd").write_text("/usr/lib/libother.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    with loader.vendors():
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        contents = {file.name: file.read_text().strip() for file in folder.iterdir()}
        assert contents == {"other.icd": "/usr/lib/libother.so",
                            "triton-spirv-cpu.icd": loader.cpu_library()}
    assert os.environ["OCL_ICD_VENDORS"] == str(tmp_path) and not folder.exists()


def test_errors_name_function_and_code() -> None:
    library = devices.choose("cpu").library
    with pytest.raises(opencl.OpenCLError, match=r"clCreateProgramWithIL: CL_INVALID_VALUE \(-30\)"):
        library.program_with_il(devices.open_device(devices.choose("cpu")).handle, b"nonsense")


def test_old_library() -> None:
    library = opencl.Library(str(ctypes.CDLL(None)._name) if sys.platform != "linux" else "libc.so.6")
    with pytest.raises(DeviceError, match=r"has no function clFinish.*OpenCL 2\.1"):
        library.clFinish(0)


def test_processor() -> None:
    host = processor.processor()
    assert host.machine == os.uname().machine
    assert host.architecture.startswith(host.machine)
    assert host.key == processor.processor().key and host.machine in host.key


@pytest.mark.parametrize(("flags", "name"), [
    ({"sse4_2", "ssse3", "popcnt"}, "x86_64-v2"),
    ({"sse4_2", "ssse3", "popcnt", "avx2", "fma", "bmi2", "f16c"}, "x86_64-v3"),
    ({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, "x86_64-v4"),
    (set(), "x86_64"),
])
def test_architecture_levels(flags: set[str], name: str) -> None:
    assert processor.Processor("x86_64", "some", frozenset(flags)).architecture == name


@pytest.mark.parametrize(("setting", "architecture", "products"), [
    (None, "x86_64-v4", {"i8", "bf16"}), ("nobody-knows-it", "x86_64-v4", {"i8", "bf16"}),
    ("sapphirerapids", "x86_64-v4", {"i8", "bf16"}), ("icelake-server", "x86_64-v4", {"i8"}),
    ("skx", "x86_64-v4", set()), ("core-avx2", "x86_64-v3", {"i16"}), ("corei7-avx", "x86_64-v2", set()),
    ("corei7", "x86_64-v2", set())])
def test_a_driver_that_compiles_for_an_older_processor(
        setting: str | None, architecture: str, products: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is told not to use is no fact of the processor: its compiler would end the process."""
    levels = [feature for _, features in processor._LEVELS for feature in features]
    flags = frozenset((*levels, "avx", "avx512_vnni", "avx512_bf16"))
    monkeypatch.setattr(processor, "_found", lambda: processor.Processor("x86_64", "some", flags))
    processor._limited.cache_clear()
    if setting is None:
        monkeypatch.delenv(processor.DRIVER_TARGET, raising=False)
    else:
        monkeypatch.setenv(processor.DRIVER_TARGET, setting)
    found = processor.processor()
    processor._limited.cache_clear()
    target = cpu_target(found.architecture, found.features)
    assert (found.architecture, target.products) == (architecture, products)


@pytest.mark.parametrize("granted", (True, False))
def test_a_process_has_tile_registers_if_linux_gives_them(granted: bool, monkeypatch: pytest.MonkeyPatch,
                                                          tmp_path: Path) -> None:
    """Without them the processor is one that lacks them."""
    asked: list[tuple[int, ...]] = []

    class C:
        def syscall(self, *numbers: int) -> int:
            asked.append(numbers)
            return 0 if granted else -1
    (tmp_path / "cpuinfo").write_text("model name : some\nflags : avx2 amx_tile amx_bf16 avx512_bf16\n\n")
    monkeypatch.setattr(processor, "CPU_FACTS", tmp_path / "cpuinfo")
    monkeypatch.setattr(processor.ctypes, "CDLL", lambda name: C())
    monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
    found = processor._found.__wrapped__()
    assert found.flags == {"avx2", "avx512_bf16", *(("amx_tile", "amx_bf16") if granted else ())}
    assert asked == [(158, 0x1023, 18)]  # arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA


NEWEST = " ".join(sorted(processor.NEWEST_HAS))


@pytest.mark.parametrize(("facts", "flags", "setting", "mapped", "left", "told"), [
    ("GenuineIntel 6 167", NEWEST, None, "", True, "sapphirerapids"),  # Rocket Lake's number
    ("GenuineIntel 6 1", NEWEST, None, "", True, "sapphirerapids"),  # nobody's
    ("GenuineIntel 6 85", NEWEST, None, "", True, "sapphirerapids"),
    ("GenuineIntel 6 167", NEWEST, "skx", "", True, "skx"),  # what the user says counts
    ("GenuineIntel 6 167", NEWEST, None, "/lib/libintelocl.so.2026", False, None),  # too late
    ("GenuineIntel 6 167", "avx512f avx512_bf16", None, "", False, None),  # less than the name stands for
    ("GenuineIntel 6 167", "avx512f avx512_vnni", None, "", True, None),
    ("GenuineIntel 6 85", "avx512f avx512_bf16", None, "", True, None),  # Cooper Lake
    ("GenuineIntel 6 143", NEWEST, None, "", True, None),
    ("GenuineIntel 6 207", NEWEST, None, "", True, None),
    ("GenuineIntel 6 173", NEWEST, None, "", True, None),
    ("AuthenticAMD 25 17", NEWEST, None, "", True, None)])
def test_a_driver_that_takes_the_processor_for_an_older_one(
        facts: str, flags: str, setting: str | None, mapped: str, left: bool, told: str | None,
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It goes by the model's number, which virtual machines change, and ends the process at what that one
    lacks: it is told before it is loaded, or the newest features are not used."""
    vendor, family, model = facts.split()
    (tmp_path / "cpuinfo").write_text(f"vendor_id : {vendor}\ncpu family : {family}\nmodel : {model}\n"
                                      "model name : some\n" f"flags : {flags}\n\n")
    (tmp_path / "maps").write_text(mapped)
    monkeypatch.setattr(processor, "CPU_FACTS", tmp_path / "cpuinfo")
    monkeypatch.setattr(processor, "MAPPED", tmp_path / "maps")
    monkeypatch.setattr(processor, "_has_tiles", lambda: True)
    environ = {} if setting is None else {processor.DRIVER_TARGET: setting}
    monkeypatch.setattr(processor.os, "environ", environ)
    monkeypatch.setattr(bundle_loader, "FACTS", tmp_path / "cpuinfo")
    # a bundle's loader finds the same
    assert bundle_loader.is_misled() == (told == processor.NEWEST or not left)
    found = processor._found.__wrapped__()
    newest = set(flags.split()) & {"amx_tile", "amx_int8", "amx_bf16", "avx512_bf16"}
    assert found.flags == set(flags.split()) - (set() if left else newest)
    assert processor.os.environ.get(processor.DRIVER_TARGET) == told


def test_who_else_knows_what_the_driver_takes_a_processor_for() -> None:
    """Bundles' loader and the launcher in C++ have the rule of their own."""
    folder = Path(__file__).parents[2] / "third_party" / "inductor" / "triton_spirv_inductor"
    header = (folder / "processor.h").read_text(encoding="utf-8")
    assert set(re.findall(r"model == (\d+)", header)) == processor.WITH_TILES | {processor.ASKED}
    assert set(bundle_loader.WITH_TILES) == processor.WITH_TILES
    assert bundle_loader.NEWEST_HAS == processor.NEWEST_HAS
    assert (bundle_loader.SETTING, bundle_loader.NEWEST) == (processor.DRIVER_TARGET, processor.NEWEST)


def test_devices_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused by name when they are opened, with the way out."""
    known = devices.choose("cpu")
    assert not devices.refused(known)
    old = dataclasses.replace(known, platform="Portable Computing Language", il_versions="", handle=1)
    with pytest.raises(DeviceError, match=r"takes no SPIR-V \(PoCL does from version 5 on\); 'pip"):
        devices.open_device(old)
    mesa = dataclasses.replace(known, platform="rusticl", handle=1)
    assert not devices.refused(mesa)  # its software device runs kernels without Intel's extensions
    mesa = dataclasses.replace(mesa, kind="gpu")
    with pytest.raises(DeviceError, match=r"Intel's extensions of SPIR-V, .*; TRITON_SPIRV_DEVICE=vulkan"):
        devices.open_device(mesa)
