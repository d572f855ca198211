"""Memory that compiled models keep for their next call: who has it, and when it is handed out again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")
memory = pytest.importorskip("triton_spirv_inductor.memory")

Script = Callable[..., "subprocess.CompletedProcess[str]"]

SIZE, STRIDE = (300, 200), (200, 1)
BYTES = 240000


def made(pool: object, dtype: object = None) -> object:
    return pool.empty_strided(SIZE, STRIDE, dtype or torch.float32)  # type: ignore[attr-defined]


def test_a_storage_that_nobody_has_is_handed_out_again() -> None:
    pool = memory.Pool(1 << 24)
    one = made(pool)
    address = one.data_ptr()
    assert made(pool).data_ptr() != address  # one has it
    del one
    places = {made(pool).data_ptr() for _ in range(3)}
    assert address in places and len(places) <= 2
    assert (pool.count, pool.bytes) == (2, 2 * BYTES)


@pytest.mark.parametrize("hold", [
    lambda x: x[3:5], lambda x: x.numpy(), lambda x: x.untyped_storage(), lambda x: x.detach(),
    lambda x: torch.utils.dlpack.to_dlpack(x), lambda x: memoryview(x.numpy()), lambda x: x.view(torch.int32),
    lambda x: (x.requires_grad_() * x).sum(), lambda x: torch._lazy_clone(x)],
    ids=["view", "numpy", "storage", "detached", "dlpack", "buffer", "type", "autograd", "lazy"])
def test_who_has_a_part_has_it(hold: Callable[[object], object]) -> None:
    pool = memory.Pool(1 << 24)
    x = made(pool)
    address = x.data_ptr()
    held = hold(x)
    del x
    others = [made(pool) for _ in range(4)]
    assert held is not None and address not in {other.data_ptr() for other in others}
    del held


def test_who_makes_a_tensor_of_it_while_users_are_counted_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread, in between: it had the storage before, and has a tensor of it now."""
    pool = memory.Pool(1 << 24)
    x = made(pool)
    address, count = x.data_ptr(), memory._users  # type: ignore[attr-defined]
    held, tensors = [x.untyped_storage()], []  # type: ignore[attr-defined]
    del x

    def counted(place: int) -> int:
        found: int = count(place)
        while held:
            tensors.append(torch.empty(0).set_(held.pop()))
        return found

    monkeypatch.setattr(memory, "_users", counted)
    assert made(pool).data_ptr() != address and len(tensors) == 1  # type: ignore[attr-defined]


def test_tensors_are_as_torch_makes_them() -> None:
    pool = memory.Pool(1 << 24)
    for size, stride, dtype in [((5, 7), (1, 5), torch.float64), ((4, 1, 3), (3, 100, 1), torch.bool),
                                ((), (), torch.int64), ((2, 0), (9, 1), torch.float16),
                                ((8, 8), (16, 1), torch.bfloat16)]:
        for _ in range(2):
            x, y = pool.empty_strided(size, stride, dtype), torch.empty_strided(size, stride, dtype=dtype)
            assert (x.shape, x.stride(), x.dtype, x.storage_offset()) == (y.shape, y.stride(), y.dtype, 0)
            assert x.untyped_storage().nbytes() == y.untyped_storage().nbytes()
            assert not x.requires_grad and not x._is_view()


@pytest.mark.parametrize("change", [
    lambda x: x.share_memory_(), lambda x: x.untyped_storage().resize_(0),
    lambda x: x.untyped_storage().resize_(2 * BYTES)], ids=["shared", "emptied", "resized"])
def test_a_storage_that_was_changed_is_not_handed_out(change: Callable[[object], object]) -> None:
    pool = memory.Pool(1 << 24)
    x = made(pool)
    change(x)
    del x
    y = made(pool)
    assert y.untyped_storage().nbytes() == BYTES and not y.is_shared()
    y.fill_(1)
    assert (pool.count, pool.bytes) == (1, BYTES)


def test_a_storage_that_was_emptied_and_is_shorter_now_is_not_handed_out() -> None:
    """Of half the bytes, which the C library may give at the same address: here it always does."""
    pool = memory.Pool(1 << 24)
    x = made(pool)
    x.untyped_storage().resize_(0)  # type: ignore[attr-defined]
    x.untyped_storage().resize_(BYTES // 2)  # type: ignore[attr-defined]
    kept, = next(iter(pool.lists.values()))
    kept.address = x.data_ptr()  # type: ignore[attr-defined]
    del x
    assert made(pool).untyped_storage().nbytes() == BYTES  # type: ignore[attr-defined]
    assert (pool.count, pool.bytes) == (1, BYTES)


def test_no_more_is_kept_than_may_be() -> None:
    pool = memory.Pool(3 * BYTES)
    held = [made(pool) for _ in range(5)]
    assert (pool.count, pool.bytes) == (3, 3 * BYTES)
    del held
    assert made(memory.Pool(0)).shape == SIZE
    pool.clear()
    assert (pool.count, pool.bytes) == (0, 0)


def test_what_is_long_unused_makes_room() -> None:
    pool = memory.Pool(2 * BYTES)
    made(pool)
    for _ in range(200):
        made(pool, torch.int32)
        made(pool, torch.float64)  # twice the bytes
    assert {dtype for (_, dtype), known in pool.lists.items() if known} == {torch.int32}
    for _ in range(200):
        made(pool, torch.float64)
    assert {dtype for (_, dtype), known in pool.lists.items() if known} == {torch.float64}


def test_models_use_their_memory_again(script: Script) -> None:
    """Also in training, with dynamic shapes, and while older results are held; small arrays are not kept."""
    done = script('''
import torch
from triton_spirv_inductor import memory
torch.manual_seed(0)
f = torch.compile(lambda x: x.sin() + 1, backend="triton-spirv", dynamic=True)
x = torch.randn(2900, 2900)
results = [f(x) for _ in range(4)]
assert len({result.data_ptr() for result in results}) == 4
for result in results:
    torch.testing.assert_close(result, x.sin() + 1)
del results, result
before = memory.pool.count
assert before == 4
for _ in range(10):
    f(x)
    f(x[:3])
assert memory.pool.count == before
layer = torch.nn.Sequential(torch.nn.Linear(40, 400), torch.nn.GELU(), torch.nn.LayerNorm(400))
step = torch.compile(lambda x: layer(x).square().mean(), backend="triton-spirv")
x = torch.randn(21000, 40)
for _ in range(3):
    layer.zero_grad()
    step(x).backward()
    mine = [parameter.grad.clone() for parameter in layer.parameters()]
    layer.zero_grad()
    layer(x).square().mean().backward()
    for one, parameter in zip(mine, layer.parameters()):
        torch.testing.assert_close(one, parameter.grad, rtol=1e-3, atol=1e-5)
assert memory.pool.count > before
''')
    assert done.returncode == 0, done.stderr


def test_arrays_of_one_size_share_its_storages() -> None:
    pool = memory.Pool(1 << 24)
    shapes = [((300, 200), (200, 1)), ((200, 300), (300, 1)), ((60000,), (1,))]
    places = {pool.empty_strided(*shape, torch.float32).data_ptr() for _ in range(2) for shape in shapes}
    assert len(places) == 1 == pool.count


def test_sizes_that_are_not_kept_leave_nothing_behind() -> None:
    pool = memory.Pool(0)
    for size in range(1, 3 * memory.SHAPES):
        pool.empty_strided((size,), (1,), torch.float32)
    assert not pool.lists and len(pool._shapes) <= memory.SHAPES


def test_a_child_has_a_lock_of_its_own_and_counts_what_it_has() -> None:
    pool = memory.Pool(1 << 24)
    made(pool)
    with pool._lock:  # another thread's, at a fork, which had taken a storage out of its list
        pool.count, pool.bytes = 2, 2 * BYTES
        pool.in_a_child()
        assert (pool.count, pool.bytes) == (1, BYTES)
        assert not pool._lock.locked() and made(pool, torch.int32).dtype == torch.int32
