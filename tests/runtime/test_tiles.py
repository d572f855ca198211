"""Cards of several tiles: what is listed by the environment variables of Intel's driver, and launches on
tiles."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import simulated_gpu
import triton_spirv
from triton_spirv.cli import devices as page
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime import devices, opencl

CARD = "Max 1550"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[devices.Device]]]:
    """Gives the machine's devices, its CPU left out, for values of the two variables. The cards: a Max 1100,
    two B580, three others, and a Max 1550, the only one of two tiles."""
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)

    def listed(hierarchy: str = "", mask: str = "") -> list[devices.Device]:
        for name, value in (("ZE_FLAT_DEVICE_HIERARCHY", hierarchy), ("ZE_AFFINITY_MASK", mask)):
            monkeypatch.setenv(name, value)
        devices._all_devices.cache_clear()
        return [device for device in devices.devices() if device.kind == "gpu"]

    with simulated_gpu.checked():
        yield listed


def of_two_tiles(found: list[devices.Device]) -> list[devices.Device]:
    return [device for device in found if CARD in device.name]


@pytest.mark.parametrize("hierarchy", ["", "FLAT", "COMBINED", "nonsense"])
def test_tiles_are_devices(machine: Any, hierarchy: str) -> None:
    found = machine(hierarchy)
    tiles = of_two_tiles(found)
    assert len(found) == 8 and len(tiles) == 2 and not any(device.card for device in found)
    assert [devices.name_of(tile) for tile in tiles] == ["gpu:6", "gpu:7"]
    assert tiles[0].identity != tiles[1].identity and [tile.compute_units for tile in tiles] == [512, 512]
    assert [devices.choose(name) for name in ("gpu:6", "gpu:7", "max 1550")] == [*tiles, tiles[0]]


def test_a_card_is_one_device(machine: Any) -> None:
    """Its tiles stand behind all others, so that nobody else's number changes."""
    found = machine("COMPOSITE")
    card, *tiles = of_two_tiles(found)
    assert len(found) == 9 and found[6:] == [card, *tiles] and card.compute_units == 1024
    assert [(tile.card, tile.tile, tile.compute_units) for tile in tiles] == [(card, 0, 512), (card, 1, 512)]
    assert [devices.name_of(device) for device in (card, *tiles)] == ["gpu:6", "gpu:6.0", "gpu:6.1"]
    assert [device.index for device in devices.devices()] == list(range(10))
    for device in devices.devices():
        assert devices.choose(devices.name_of(device)) == devices.choose(str(device.index)) == device
    assert devices.choose("max 1550") == card
    assert str(tiles[1]).endswith(f", tile 1 of device {card.index})")
    for name in ("gpu:6.2", "gpu:5.0", "gpu:0.0", "gpu:7.0"):
        with pytest.raises(DeviceError, match=f"'{name}' names no device"):
            devices.choose(name)


@pytest.mark.parametrize(("hierarchy", "mask", "names", "units"), [
    ("", "default", 8, [512, 512]),
    ("FLAT", "7", 1, [512]),
    ("FLAT", "6,7", 2, [512, 512]),
    ("FLAT", "0,7,99", 2, [512]),
    ("FLAT", "1,6.1", 1, []),  # what has a dot is passed over
    ("COMBINED", "7", 1, [512]),
    ("COMPOSITE", "6", 3, [1024, 512, 512]),
    ("COMPOSITE", "6.1", 1, [512]),  # a card with one tile left
    ("COMPOSITE", "6.0,6.1,2", 4, [1024, 512, 512]),
    ("COMPOSITE", "0,7", 1, []),
])
def test_masks(machine: Any, hierarchy: str, mask: str, names: int, units: list[int]) -> None:
    found = machine(hierarchy, mask)
    assert len(found) == names and [device.compute_units for device in of_two_tiles(found)] == units


def test_a_mask_that_hides_all(machine: Any) -> None:
    assert machine("FLAT", "0.1") == [] and devices.choose("cpu").kind == "cpu"
    with pytest.raises(DeviceError, match=r"ZE_AFFINITY_MASK=0\.1 hides other devices .* is FLAT"):
        devices.choose("gpu")


def test_tiles_without_an_identity_of_their_own(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers that know no UUID say where the card is on the bus, which its tiles have in common."""
    monkeypatch.setattr(opencl, "DEVICE_UUID", 0)
    assert len(machine("FLAT")) == 8 and len(machine("COMPOSITE")) == 9


def test_a_card_that_does_not_divide(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used whole."""
    assert len(machine("COMPOSITE")) == 9
    monkeypatch.setattr(opencl, "DEVICE_PARTITION_BY_AFFINITY_DOMAIN", 0x1086)
    assert len(machine("COMPOSITE")) == 7


@pytest.mark.parametrize(("hierarchy", "names"), [("FLAT", ("gpu:6", "gpu:7")),
                                                  ("COMPOSITE", ("gpu:6.0", "gpu:6.1", "gpu:6"))])
def test_launches_choose_a_tile(machine: Any, monkeypatch: pytest.MonkeyPatch, hierarchy: str,
                                names: tuple[str, ...]) -> None:
    """With arrays of the host, and with arrays of that tile; those of another one are refused."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    from simulated_kernels import doubled

    machine(hierarchy)
    doubled.device_caches.clear()  # "gpu:6" was another device
    for turn in range(2):
        for name in names:
            monkeypatch.setenv("TRITON_SPIRV_DEVICE", name)
            host, y = torch.arange(100.0), triton_spirv.zeros(100, device=name)
            x = triton_spirv.asarray(np.arange(100, dtype=np.float32) + turn, device=name)
            doubled[(1,)](host, host, 100, BLOCK=128)
            doubled[(1,)](x, y, 100, BLOCK=128)
            assert y.device == name and (host == 2 * torch.arange(100.0)).all()
            np.testing.assert_array_equal(y.numpy(), 2.0 * (np.arange(100) + turn))
    with pytest.raises(LaunchError, match=rf"the array is on {name}, .* runs on "):
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", names[0])
        doubled[(1,)](x, x, 100, BLOCK=128)


def test_the_page_of_devices_shows_tiles(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = [page.describe(device, False) for device in machine("COMPOSITE")]
    card, first, second = [fact for fact in found if CARD in fact["name"]]
    assert (card["choice"], card["tile_of"]) == ("gpu:6", None)
    assert (second["choice"], second["tile_of"]) == ("gpu:6.1", card["index"])
    assert card["global_bytes"] == 2 * first["global_bytes"]


# ---- the simulator, which says what the driver would

def test_what_the_driver_refuses(machine: Any) -> None:
    one, card = devices.choose("b580"), of_two_tiles(machine("COMPOSITE"))[0]
    numa, equally, next_one = ((ctypes.c_ssize_t * 3)(*way) for way in ((0x1088, 1, 0), (0x1086, 2, 0),
                                                                        (0x1088, 32, 0)))
    count, to = ctypes.c_uint32(0), (ctypes.c_void_p * 2)()
    create = card.library.clCreateSubDevices

    def created(device: devices.Device, way: Any, room: int) -> str:
        code = create(device.handle, ctypes.addressof(way), room, ctypes.addressof(to),
                      ctypes.addressof(count))
        return {0: "fine", -30: "value", -18: "failed"}[code]

    assert created(card, numa, 2) == created(card, next_one, 2) == "fine" and count.value == 2
    assert created(card, equally, 2) == created(card, numa, 1) == "value"
    assert created(one, numa, 2) == "failed"
    assert created(dataclasses.replace(card, handle=int(to[0] or 0)), numa, 2) == "failed"
