"""Arrays on a Vulkan device, the memory that they lie in, and events."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from triton_spirv import asarray, empty, zeros
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime.vulkan import memory
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.timing import Event

torch = pytest.importorskip("torch")

WHERE = "vulkan"


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32",
                                   "float64"])
def test_there_and_back(dtype: str) -> None:
    values = (np.arange(77) % 5).astype(dtype)
    array = asarray(values, device=WHERE)
    assert str(array.dtype) == dtype and array.shape == (77,) and array.data_ptr() % 256 == 0
    assert array.numpy().dtype == values.dtype and (array.numpy() == values).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16, torch.int32])
def test_torch_tensors(dtype: Any) -> None:
    tensor = torch.randn(3, 5).to(dtype)
    array = asarray(tensor, device=WHERE)
    assert str(array.dtype) == str(dtype).removeprefix("torch.")
    assert (torch.from_numpy(array.numpy()).view(dtype).view(torch.uint8) == tensor.view(torch.uint8)).all()


def test_bits_as_another_type() -> None:
    array = asarray(np.array([0x3F80, 0x4000], np.uint16), "bfloat16", device=WHERE)
    assert str(array.dtype) == "bfloat16" and array.numpy().tolist() == [0x3F80, 0x4000]


def test_already_there(context: Context) -> None:
    array = zeros(4, device=WHERE)
    assert asarray(array, device=array) is array and asarray(array, device=context.device.choice) is array
    assert (asarray(array).numpy() == 0).all() and asarray(array).device == "cpu"


@pytest.mark.parametrize("index", [
    slice(2, 5), (slice(None), 3), (slice(None, None, -1), slice(1, None, 2)), 1, (Ellipsis, slice(0, 2)),
    (None, 2), (slice(3, 3), 0),
])
def test_views(index: Any) -> None:
    """As numpy indexes, on the same memory."""
    values = numbers(6, 7)
    array = asarray(values, device=WHERE)
    part = array[index]
    assert part.shape == values[index].shape and (part.numpy() == values[index]).all()
    if part.numel():
        part.fill_(-1)
        expected = values.copy()
        expected[index] = -1
        assert (array.numpy() == expected).all()


def test_views_that_would_copy() -> None:
    array = asarray(numbers(4, 4), device=WHERE)
    for index in ([0, 2], np.array([True, False, True, False])):
        with pytest.raises(LaunchError, match="would copy"):
            array[index]


def test_reshape_and_transpose() -> None:
    values = numbers(4, 6)
    array = asarray(values, device=WHERE)
    assert (array.reshape(3, -1).numpy() == values.reshape(3, -1)).all()
    assert (array.T.numpy() == values.T).all() and array.T.stride(0) == 1
    with pytest.raises(LaunchError, match="cannot have the shape"):
        array.reshape(5, 5)
    with pytest.raises(LaunchError, match="one behind the other"):
        array.T.reshape(-1)


def test_copies() -> None:
    array, other = empty((3, 4), device=WHERE), asarray(numbers(3, 4), device=WHERE)
    assert (array.copy_from(other).numpy() == numbers(3, 4)).all()
    array[:, 1::2].copy_from(np.zeros((3, 2), np.float32))
    assert array.numpy()[0].tolist() == [0, 0, 2, 0]
    with pytest.raises(LaunchError, match="same shape"):
        array.copy_from(np.zeros((4, 3), np.float32))


def test_fill() -> None:
    assert (empty(1001, "float16", WHERE).fill_(1.5).numpy() == 1.5).all()
    assert (empty(1001, "float64", WHERE).fill_(-2).numpy() == -2).all()
    assert (empty(64, "uint8", WHERE).fill_(7).numpy() == 7).all()
    with pytest.raises(LaunchError, match="bits"):
        empty(4, "bfloat16", WHERE).fill_(1)


def test_others_get_a_copy(context: Context) -> None:
    """Of any device, where it is asked for, and on the host; without asking where CUDA has not the memory
    (test_dlpack.py: where it has)."""
    array = asarray(numbers(5), device=WHERE)
    copies = [torch.from_dlpack(array, copy=True), torch.from_dlpack(array, device="cpu")]
    if context.cuda is None:
        copies.append(torch.from_dlpack(array))
        with pytest.raises(BufferError, match="copy"):
            array.__dlpack__(copy=False)
    for copy in copies:
        copy += 1
        assert (array.numpy() == numbers(5)).all() and (copy.cpu().numpy() == numbers(5) + 1).all()
    for values in (np.asarray(array), array.numpy()):
        values += 1
        assert (array.numpy() == numbers(5)).all()
    with pytest.raises(BufferError, match="copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)


def test_empty_arrays() -> None:
    assert zeros((0, 3), device=WHERE).numpy().shape == (0, 3)
    assert asarray(np.zeros(0), device=WHERE).nbytes == 0


def test_unknown_place() -> None:
    with pytest.raises(DeviceError, match=r"'cuda'.*vulkan"):
        empty(4, device="cuda")


# ---- memory


class Block(memory.Block):
    """The bookkeeping of a block, without a device."""

    def __init__(self, size: int) -> None:
        self.size, self.free = size, [(0, size)]


def test_parts_are_joined_again() -> None:
    block = Block(1000)
    places = [block.take(100) for _ in range(10)]
    assert places == list(range(0, 1000, 100)) and block.take(1) is None
    for place in (300, 500, 400, 0, 900):
        block.give(place, 100)
    assert block.free == [(0, 100), (300, 300), (900, 100)]
    assert block.take(100) in (0, 900) and block.take(250) == 300


def test_random_parts_never_overlap() -> None:
    generator, block, held = np.random.default_rng(1), Block(1 << 16), dict[int, int]()
    for _ in range(3000):
        if held and generator.random() < 0.5:
            place = list(held)[generator.integers(len(held))]
            block.give(place, held.pop(place))
        else:
            size = int(generator.integers(1, 2000))
            found = block.take(size)
            if found is not None:
                assert all(found + size <= place or place + other <= found for place, other in held.items())
                held[found] = size
        assert sum(size for _, size in block.free) + sum(held.values()) == block.size
    for place, size in held.items():
        block.give(place, size)
    assert block.unused


def test_memory_is_used_again(context: Context) -> None:
    addresses = set()
    gc.collect()
    for _ in range(10):
        array = empty(12345, device=WHERE)
        addresses.add(array.address)
        del array
        gc.collect()
    assert len(addresses) == 1


def test_large_arrays_go_back_to_the_driver(context: Context) -> None:
    pool = context.pools.device
    array = empty(memory.BLOCK_BYTES // 4 + 64, device=WHERE)
    large = [block for block in pool.blocks if block.size > memory.BLOCK_BYTES]
    del array
    empty(4, device=WHERE)
    assert large and not [block for block in large if block in pool.blocks]


def test_too_large(context: Context) -> None:
    with pytest.raises(DeviceError, match="more than one allocation may have"):
        empty(context.device.max_allocation + 1, "int8", WHERE)


# ---- events


def test_events(context: Context) -> None:
    start, end = Event(context, True), Event(context, True)
    with pytest.raises(RuntimeError, match="not been recorded"):
        start.elapsed_time(end)
    array = empty(1 << 22, device=WHERE)
    start.record()
    array.fill_(1)
    end.record()
    end.synchronize()
    assert end.query() and 0 < start.elapsed_time(end) < 60_000
    start.record()  # an event may be recorded again
    assert end.elapsed_time(start) > 0
