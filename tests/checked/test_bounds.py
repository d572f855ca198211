"""check=bounds: what reaches beyond an argument is found, named, and neither read nor written."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked import launches
from triton_spirv import CheckError
from triton_spirv.runtime.mask_text import mask_of

pytestmark = pytest.mark.usefixtures("device")
MODES = ["vector", "simt", pytest.param("vulkan", marks=pytest.mark.vulkan)]
found = partial(launches.found, "bounds")


@pytest.fixture(params=MODES, autouse=True)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "simt":
        monkeypatch.setenv("TRITON_SPIRV_TARGET", "simt")
    if request.param == "vulkan":
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))
    return str(request.param)


def framed(size: int, dtype: str = "float32", fill: float = 7) -> tuple[np.ndarray, np.ndarray]:
    """Memory, and an array in the middle of it that knows nothing of the rest, which must stay as it is."""
    whole = np.full(size + 4096, fill, dtype)
    return whole, np.frombuffer(memoryview(whole)[2048:2048 + size], dtype)


@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=-1), mask=i < n)


@pytest.mark.parametrize("size, beyond", [(1000, 1), (1000, 24), (5, 2), (2048, 1), (1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_one_too_far(device: str, size: int, beyond: int, dtype: str) -> None:
    x = np.arange(size).astype(dtype)
    o = np.zeros(size + beyond, dtype)
    load, = found(lambda: copy[(triton.cdiv(size + beyond, 512),)](
        triton_spirv.asarray(x.copy()), triton_spirv.asarray(o), size + beyond, BLOCK=512))
    assert load.check == "bounds" and load.argument == "x" and load.count == beyond
    at, = load.index
    far = at - size
    assert load.message.startswith(f"load at x[{at}], {far + 1} element{'s' * (far > 0)} beyond its end")
    # of lanes that run at once any may be the first to report
    assert far == 0 if device != "vulkan" else far in range(beyond)
    assert load.program == (at // 512, 0, 0)
    assert load.source.startswith("tl.store(o + i, tl.load(x + i") and load.file == __file__
    np.testing.assert_array_equal(o[:size], x)
    assert (o[size:] == -1).all()


def test_nothing_is_written_beyond() -> None:
    x, (whole, o) = np.arange(1000, dtype=np.float32), framed(990)
    store, = found(lambda: copy[(4,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 1000, BLOCK=256))
    assert store.count == 10 and store.message.startswith("store at o[990], 1 element beyond its end")
    np.testing.assert_array_equal(o, x[:990])
    assert (whole[:2048] == 7).all() and (whole[2048 + 990:] == 7).all()


def test_what_is_right_is_silent() -> None:
    x = np.arange(1000, dtype=np.float32)
    o = np.zeros_like(x)
    with triton_spirv.checked():
        copy[(4,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 1000, BLOCK=256)
        copy[(0,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 1000, BLOCK=256)
    np.testing.assert_array_equal(o, x)


@triton.jit
def masks(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n - 1
    inside = (i < n) & (
        i >= 0)
    tl.store(o + i, tl.load(x + i, mask=inside, other=0).to(tl.float32))
    tl.store(o + i, tl.load(x + i, i < n + 1), i < n)
    tl.atomic_add(o + i, 1, mask=i <= n)
    tl.store(o + n, 1)
    tl.atomic_xchg(x + n, 1)


def test_the_mask_is_shown() -> None:
    x, o = np.zeros(10, np.float32), np.zeros(10, np.float32)
    findings = found(lambda: masks[(1,)](*map(triton_spirv.asarray, (x, o)), 12, BLOCK=16))
    assigned = "inside = (i < n) & (i >= 0)"
    shown = [(finding.message.split()[0], finding.mask) for finding in findings]
    assert shown == [("load", assigned), ("store", ""), ("load", "i < n + 1"), ("store", "i < n"),
                     ("atomic", "i <= n"), ("store", ""), ("atomic", "")]
    text = str(findings[0])
    assert text.endswith(f"; 2 elements in all\n    mask: {assigned}") and "mask: " not in str(findings[1])
    assert f"program (0, 0, 0), address {findings[0].address:#x}; 2" in text
    assert findings[0].to_json()["mask"] == assigned


def test_masks_of_other_sources(tmp_path: Path) -> None:
    """Block pointers, which older Triton has, and what is no call, or no Python."""
    place = tmp_path / "kernel.py"
    place.write_text("def kernel(p, q):\n    v = tl.load(p, boundary_check=(0, 1)).to(q)\n"
                     "    tl.store(p, *q)\n")
    assert mask_of(str(place), 2, 9, "load") == "boundary_check=(0, 1)"
    assert not mask_of(str(place), 3, 5, "store") and not mask_of(str(place), 2, 8, "load")
    place.with_name("kernel.ttir").write_text("tt.load %p, %m")
    assert not mask_of(str(place.with_name("kernel.ttir")), 1, 1, "load") and not mask_of("", 0, 0, "load")


@triton.jit
def rows(x, o, stride, height, width, H: tl.constexpr, W: tl.constexpr):
    r, c = tl.arange(0, H)[:, None], tl.arange(0, W)[None, :]
    v = tl.load(x + r * stride + c, mask=c < width, other=0)  # rows are not looked at
    tl.store(o + tl.arange(0, H), tl.sum(v, 1), mask=tl.arange(0, H) < height)


def test_rows_that_are_not_there() -> None:
    x = np.ones((13, 20), np.float32)
    o = np.zeros(13, np.float32)
    load, = found(lambda: rows[(1,)](*map(triton_spirv.asarray, (x, o)), 20, 13, 20, H=16, W=32))
    assert load.index[0] in (13, 14, 15) and load.count == 3 * 20
    np.testing.assert_array_equal(o, 20)


@triton.jit
def gathered(x, at, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + tl.load(at + i)))


@pytest.mark.parametrize("wrong", [-1, 64, -1000, 2 ** 20])
def test_gather(wrong: int) -> None:
    x, at = np.arange(64, dtype=np.float32), np.arange(64)[::-1].astype(np.int32)
    at[17] = wrong
    o = np.zeros(64, np.float32)
    load, = found(lambda: gathered[(1,)](*map(triton_spirv.asarray, (x, at, o)), BLOCK=64))
    assert load.count == 1 and load.index == (wrong,)
    side = f"{-wrong} element{'s' * (wrong < -1)} before" if wrong < 0 else f"{wrong - 63} element"
    assert side in load.message
    np.testing.assert_array_equal(np.delete(o, 17), np.delete(x[::-1], 17))
    assert o[17] == 0


@triton.jit
def looped(x, o, n, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for _ in range(0, n, BLOCK):
        s += tl.load(p)
        p += BLOCK
    tl.store(o + tl.arange(0, BLOCK), s)


def test_pointers_that_travel() -> None:
    x, o = np.ones(1000, np.float32), np.zeros(64, np.float32)
    load, = found(lambda: looped[(1,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 1000, BLOCK=64))
    assert load.count == 24 and load.index == (1000,)
    assert o.sum() == 1000


@triton.jit
def counted(o, at, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(o + tl.load(at + i, mask=i < n, other=0), 1, mask=i < n)


def test_atomics() -> None:
    at = (np.arange(100) % 10).astype(np.int32)
    at[3], at[4] = 10, -1
    o = np.zeros(10, np.int32)
    atomic, = found(lambda: counted[(1,)](triton_spirv.asarray(o), triton_spirv.asarray(at), 100, BLOCK=128))
    assert atomic.count == 2 and atomic.check == "bounds" and "atomic" in atomic.message
    assert o.sum() == 98


@triton.jit
def exchanged(o, at):
    tl.atomic_cas(o + at, 0, 1)
    tl.atomic_xchg(o + at + 1, 5)


def test_scalars_and_compare_and_exchange() -> None:
    o = np.zeros(4, np.int32)
    first, second = found(lambda: exchanged[(2,)](triton_spirv.asarray(o), 4))
    assert first.index == (4,) and second.index == (5,) and first.count == second.count == 2
    assert not o.any()
    third, = found(lambda: exchanged[(1,)](triton_spirv.asarray(o), 3))
    assert third.index == (4,)
    assert o.tolist() == [0, 0, 0, 1]


@triton.jit
def through_table(table, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(o + tl.program_id(0) * BLOCK + i, tl.load(p + i))


@triton.jit
def of_a_number(address, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(address.to(tl.int64).to(tl.pointer_type(tl.float32)) + i))


def there(device: str, values: np.ndarray) -> Any:
    """An array in memory whose addresses the device follows."""
    return triton_spirv.asarray(values, device="vulkan" if device == "vulkan" else None)


def test_addresses_in_memory(device: str) -> None:
    """The access happens; whose the address is can be said."""
    arrays = [there(device, np.full(64, k, np.float32)) for k in (1, 2)]
    table = np.array([array.data_ptr() for array in arrays], np.int64)
    o = np.zeros(128, np.float32)

    def launch() -> None:
        through_table[(2,)](*map(triton_spirv.asarray, (table, o)), BLOCK=64)

    load, = found(launch)
    assert "found in memory, which no argument has" in load.message and not load.argument
    np.testing.assert_array_equal(o, np.repeat([1, 2], 64))
    with triton_spirv.checked("bounds", arrays=arrays):
        launch()
    with triton_spirv.checked("bounds", arrays=arrays[:1]), pytest.raises(CheckError):
        through_table[(1,)](*map(triton_spirv.asarray, (table[1:], o)), BLOCK=64)
    with triton_spirv.checked("bounds"), pytest.raises(CheckError, match="found in memory"):
        of_a_number[(1,)](int(table[1]), triton_spirv.asarray(o), BLOCK=64)
    assert (o[:64] == 2).all()


@triton.jit
def either(x, y, o, which, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x
    if which:
        p = y
    tl.store(o + i, tl.load(p + i))


def test_one_of_two_arguments() -> None:
    x, y, o = np.ones(64, np.float32), np.full(60, 2, np.float32), np.zeros(64, np.float32)
    with triton_spirv.checked():
        either[(1,)](*map(triton_spirv.asarray, (x, y, o)), 0, BLOCK=64)
    assert (o == 1).all()
    load, = found(lambda: either[(1,)](*map(triton_spirv.asarray, (x, y, o)), 1, BLOCK=64))
    assert load.argument == "y" and load.index == (60,) and load.count == 4


def test_the_option_of_a_launch() -> None:
    x, o = np.ones(10, np.float32), np.zeros(16, np.float32)
    with pytest.raises(CheckError, match="beyond its end"):
        copy[(1,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 16, BLOCK=16, check="bounds")
    with pytest.raises(triton_spirv.errors.UsageError, match="there is no check bonds"):
        copy[(1,)](triton_spirv.asarray(x), triton_spirv.asarray(o), 10, BLOCK=16, check="bonds")


@triton.jit
def by_addresses(table, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.load(table + i).to(tl.pointer_type(tl.float32))
    tl.store(o + i, tl.load(p))


@pytest.mark.parametrize("named", [0, 1, 2])
def test_many_addresses_in_memory(device: str, named: int) -> None:
    """Each address is looked at, however many there are before it."""
    arrays = [there(device, np.full(60, k, np.float32)) for k in range(2)]
    table = np.array([arrays[k >= 60].data_ptr() + 4 * (k % 60) for k in range(120)] + [
        arrays[0].data_ptr()] * 8, np.int64)
    o = np.zeros(128, np.float32)
    with triton_spirv.checked("bounds", arrays=arrays[:named]):
        try:
            by_addresses[(1,)](triton_spirv.asarray(table), triton_spirv.asarray(o), BLOCK=128)
            count = 0
        except CheckError as error:
            finding, = error.findings
            count = finding.count
    assert count == (128, 60, 0)[named]
    np.testing.assert_array_equal(o, np.repeat([0, 1, 0], [60, 60, 8]))


@triton.jit
def polled(flags, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_poll(flags + i, 7)
    tl.store(o + i, 1)


def test_polls() -> None:
    """What lies beyond is not waited for."""
    if not hasattr(tl, "atomic_poll"):
        pytest.skip("newer than this Triton")
    flags, o = np.full(12, 7, np.int32), np.zeros(16, np.int32)
    poll, = found(lambda: polled[(1,)](triton_spirv.asarray(flags), triton_spirv.asarray(o), 12, BLOCK=16))
    assert poll.count == 4 and poll.index == (12,) and "atomic poll at flags[12]" in poll.message
    assert o.all()


@triton.jit
def rows_of(x, o, columns, x_row, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * x_row + i, mask=i < columns, other=-1)
    tl.store(o + tl.program_id(0) * BLOCK + i, v)


def test_views() -> None:
    """Padding of rows, and what lies beside a slice, is memory of the array and no part of the view."""
    whole = np.arange(4 * 32, dtype=np.float32).reshape(4, 32)
    import torch

    tensor = torch.from_numpy(whole)
    part, o = tensor[1:3, :20], torch.zeros(3, 32)

    def views(x: Any, columns: int, programs: int = 2) -> list[Any]:
        with triton_spirv.checked("bounds=view"):
            try:
                rows_of[(programs,)](x, o, columns, 32, BLOCK=32)
            except CheckError as error:
                return list(error.findings)
        return []

    assert not views(part, 20)
    finding, = views(part, 23)
    assert finding.check == "view" and finding.index == (0, 20) and finding.count == 6
    assert "load at x[0, 20], in its memory, but outside of the view (x is of shape (2, " in finding.message
    assert o[1, 22] == whole[2, 22]
    below, = views(part, 20, programs=3)
    assert below.index == (2, 0) and below.count == 20
    assert not views(tensor, 32, programs=3) and not views(tensor.T.contiguous().T, 4, programs=1)
    assert not views(tensor[:1].expand(4, 32), 32, programs=1)
    with triton_spirv.checked("bounds"):
        rows_of[(2,)](part, o, 23, 32, BLOCK=32)


@triton.jit
def shifted_store(o, by):
    tl.store((o.to(tl.int64) + by).to(tl.pointer_type(tl.int32)), 7)


@pytest.mark.parametrize("by, where", [(-4, "1 element before"), (-1, "1 element before"), (0, ""), (1, ""),
                                       (36, ""), (37, "1 element beyond"), (39, "1 element beyond"),
                                       (40, "1 element beyond"), (41, "2 elements beyond")])
def test_elements_that_lie_partly_outside(by: int, where: str) -> None:
    o = triton_spirv.asarray(np.zeros(10, np.int32))
    with triton_spirv.checked("bounds"), pytest.raises(CheckError, match=where) if where else nullcontext():
        shifted_store[(1,)](o, by)
    assert o.numpy().any() == (not where)
