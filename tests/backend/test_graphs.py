"""triton_spirv.graph: a replay makes the launches of a block again, in their order, or says why not."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
import triton_spirv
from triton import knobs
from triton_spirv.errors import LaunchError, UsageError
from triton_spirv.runtime import launch_code
from triton_spirv.runtime.launch import DeviceAssertion


@triton.jit
def axpy_kernel(x, out, n, a, b, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * a + b, mask=i < n)


@triton.jit
def asserting_kernel(out, limit):
    tl.device_assert(tl.load(out) < limit, "too large")
    tl.store(out, tl.load(out) + 1)


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + (n - 1 - i), mask=i < n), mask=i < n)


CONFIGURATIONS = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})]
tuned_kernel = triton.autotune(CONFIGURATIONS, ["n"])(axpy_kernel)


def axpy(x: torch.Tensor, out: torch.Tensor, a: float, b: float) -> None:
    axpy_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), a, b, BLOCK=128)


@pytest.fixture(params=("machine code", "without"))
def code(request, monkeypatch):
    if request.param == "without":
        monkeypatch.setattr(launch_code, "maker", lambda: None)
        axpy_kernel.device_caches.clear()
    yield
    if request.param == "without":
        axpy_kernel.device_caches.clear()


@pytest.mark.parametrize("n", (5, 128, 1000, 200_000))
def test_order(n, code) -> None:
    """x -> 2x + 1 -> 3(2x + 1) -> back into x: each launch needs the one before."""
    x, y, z = torch.arange(float(n)) % 7, torch.zeros(n), torch.zeros(n)
    expected = x.clone()
    with triton_spirv.graph() as graph:
        axpy(x, y, 2.0, 1.0)
        axpy(y, z, 3.0, 0.0)
        axpy(z, x, 0.125, 0.0)
    assert len(graph) == 3
    for times in range(1, 6):
        expected = (expected * 2 + 1) * 3 * 0.125
        torch.testing.assert_close(x, expected)
        if times % 2:
            graph.replay()
        else:
            thread = threading.Thread(target=graph.replay)
            thread.start()
            thread.join()


def test_arrays_of_numpy_and_bound_launches() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, dtype=np.float32)
    view, result = triton_spirv.asarray(x), triton_spirv.asarray(out)
    bound = triton_spirv.bind(axpy_kernel, (1,), view, result, 64, 2.0, 0.0, BLOCK=64)
    with triton_spirv.graph() as graph:
        bound(view, result, 64, 2.0, 0.0)
        bound(result, view, 64, 1.0, 1.0)
    assert len(graph) == 2 and "graph" in bound.why_ordinary
    np.testing.assert_array_equal(x, 2 * np.arange(64) + 1)
    graph.replay()
    np.testing.assert_array_equal(x, 4 * np.arange(64) + 3)
    bound(view, result, 64, 1.0, 0.0)
    np.testing.assert_array_equal(out, x)


def test_memory_is_kept() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    with triton_spirv.graph() as graph:
        between = torch.empty(128)
        axpy(x, between, 2.0, 0.0)
        axpy(between, out, 3.0, 0.0)
    alive = weakref.ref(between.untyped_storage())
    del between
    others = [torch.full((128,), 99.0) for _ in range(100)]  # would take its place
    x.fill_(5.0)
    graph.replay()
    assert (out == 30).all() and all((other == 99).all() for other in others)
    del alive, graph


def test_the_users_tensors_may_change() -> None:
    """The object, not its memory: the graph goes on with the memory that it was made with."""
    x, out = torch.ones(128), torch.zeros(128)
    before = out.detach()
    with triton_spirv.graph() as graph:
        axpy(x, out, 2.0, 0.0)
    out.set_(torch.zeros(128))
    x.mul_(4)
    graph.replay()
    assert (before == 8).all() and not out.any()


@pytest.mark.parametrize("size", (0, 4 * 100_000))
def test_memory_that_moves_is_refused_by_name(size) -> None:
    x, out = torch.ones(128), torch.zeros(128)
    with triton_spirv.graph() as graph:
        axpy(x, out, 2.0, 0.0)
    out.untyped_storage().resize_(size)
    with pytest.raises(LaunchError, match="axpy_kernel: the memory of an argument is no longer"):
        graph.replay()


def test_torch_in_the_block() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    for compute in (lambda: x + 1, lambda: out.zero_(), lambda: torch.zeros(3), lambda: x.clone(),
                    lambda: torch.add(x, x, out=out)):
        with pytest.raises(UsageError, match="a replay would leave it out"), triton_spirv.graph() as graph:
            axpy(x, out, 2.0, 0.0)
            compute()
        with pytest.raises(UsageError, match="an exception ended its block"):
            graph.replay()
    with triton_spirv.graph() as graph:
        seen = x.view(2, 64)[0].reshape(64)
        like = torch.empty_like(seen)
        axpy(seen, like, 2.0, 0.0)
        assert like[0].item() == 2
    like.zero_()
    graph.replay()
    assert (like == 2).all()
    assert (x + 1 == 2).all()  # allowed again


def test_code_between_launches_runs_once() -> None:
    x, out, calls = torch.ones(128), torch.zeros(128), []
    with triton_spirv.graph() as graph:
        axpy(x, out, 2.0, 0.0)
        calls.append(1)
        if out[0].item() == 2:
            axpy(out, out, 5.0, 0.0)
    x.fill_(3.0)
    graph.replay()
    assert calls == [1] and (out == 30).all()


def test_assertions() -> None:
    out, other = torch.zeros(1, dtype=torch.int32), torch.zeros(128)
    with triton_spirv.graph() as graph:
        asserting_kernel[(1,)](out, 3, debug=True)
        axpy(torch.empty(128).detach(), other, 0.0, 1.0)
    graph.replay()
    graph.replay()
    assert out.item() == 3
    other.zero_()
    with pytest.raises(DeviceAssertion, match="too large"):
        graph.replay()
    assert not other.any()  # what stands behind it is left out
    out.zero_()
    graph.replay()
    assert out.item() == 1


def test_exceptions_and_nesting() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    with pytest.raises(ValueError), triton_spirv.graph() as graph:
        raise ValueError
    with pytest.raises(UsageError, match="an exception"):
        graph.replay()
    with triton_spirv.graph() as inner:
        axpy(x, out, 2.0, 0.0)
        with pytest.raises(UsageError, match="has not ended"):
            inner.replay()
        with pytest.raises(UsageError, match="replay a graph inside"), triton_spirv.graph():
            pass
    with triton_spirv.graph() as outer:
        inner.replay()
        axpy(out, x, 1.0, 1.0)
    assert len(inner) == 1 and len(outer) == 2 and (x == 3).all()
    outer.replay()
    assert (x == 7).all()


def test_other_threads_are_not_seen() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    with triton_spirv.graph() as graph:
        thread = threading.Thread(target=lambda: axpy(x, out, 7.0, 0.0))
        thread.start()
        thread.join()
    assert not len(graph) and (out == 7).all()


def test_tuning_is_not_kept() -> None:
    x, out = torch.ones(96), torch.zeros(96)
    with triton_spirv.graph() as graph:
        tuned_kernel[lambda meta: (triton.cdiv(96, meta["BLOCK"]),)](x, out, 96, 2.0, 0.0)
    assert len(graph) == 1
    x.fill_(2.0)
    graph.replay()
    assert (out == 4).all()


def test_hooks_and_checks_are_refused_by_name() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    with triton_spirv.graph() as graph:
        axpy(x, out, 2.0, 0.0)

    def hook(metadata: object) -> None:
        pass

    knobs.runtime.launch_exit_hook.add(hook)
    try:
        with pytest.raises(UsageError, match="launch hook"):
            graph.replay()
    finally:
        knobs.runtime.launch_exit_hook.remove(hook)
    with triton_spirv.checked("bounds"), pytest.raises(UsageError, match="checked mode"):
        graph.replay()
    graph.replay()


@pytest.mark.cpu_device("checked mode needs the memory of the host")
def test_checked_mode() -> None:
    from triton_spirv.checking import CheckError

    x, n = torch.ones(128), 64
    with triton_spirv.checked("bounds"):
        with triton_spirv.graph() as graph:
            out = torch.empty(128)
            copy_kernel[(1,)](x, out, n, BLOCK=128)
        graph.replay()
        with pytest.raises(CheckError), triton_spirv.graph():
            copy_kernel[(1,)](x, out, 1 << 20, BLOCK=128)


@pytest.mark.parametrize("environment", [
    pytest.param({"TRITON_SPIRV_DEVICE": "vulkan"}, marks=pytest.mark.vulkan, id="vulkan"),
    pytest.param({"TRITON_SPIRV_TARGET": "simt"}, id="simt")])
def test_other_devices(environment, monkeypatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    axpy_kernel.device_caches.clear()
    try:
        x, y = torch.ones(256), torch.zeros(256)
        with triton_spirv.graph() as graph:
            axpy(x, y, 2.0, 1.0)
            axpy(y, x, 1.0, 1.0)
            axpy(x[:128], x[:128], 1.0, 1.0)  # one memory as two arguments
        graph.replay()
        assert (x[:128] == 13).all() and (x[128:] == 10).all()
        if "TRITON_SPIRV_DEVICE" in environment:
            there = triton_spirv.asarray(np.ones(256, np.float32), device="vulkan")
            result = triton_spirv.zeros(256, device="vulkan")
            with triton_spirv.graph() as graph:
                axpy_kernel[(2,)](there, result, 256, 2.0, 0.0, BLOCK=128)
                axpy_kernel[(2,)](result, there, 256, 1.0, 1.0, BLOCK=128)
            graph.replay()
            assert (there.numpy() == 7).all()
    finally:
        axpy_kernel.device_caches.clear()


@pytest.mark.vulkan
def test_arrays_on_a_vulkan_device_are_recorded_once(monkeypatch) -> None:
    """Launches of host memory between them are made each time; an assertion is raised by the next wait."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "vulkan")
    for kernel in (axpy_kernel, asserting_kernel):
        kernel.device_caches.clear()
    try:
        x, y = (triton_spirv.asarray(np.ones(256, np.float32), device="vulkan") for _ in range(2))
        steps, host = triton_spirv.zeros(1, "int32", device="vulkan"), np.ones(256, np.float32)
        with triton_spirv.graph() as graph:
            axpy_kernel[(2,)](x, y, 256, 2.0, 0.0, BLOCK=128)
            axpy_kernel[(2,)](y, x, 256, 1.0, 1.0, BLOCK=128)
            axpy_kernel[(2,)](triton_spirv.asarray(host), y, 256, 1.0, 0.0, BLOCK=128)
            axpy_kernel[(2,)](y, triton_spirv.asarray(host), 256, 1.0, 1.0, BLOCK=128)
            asserting_kernel[(1,)](steps, 3, debug=True)
        expected = 3.0
        for times in range(2, 4):
            graph.replay()
            expected = 2 * expected + 1
            assert (x.numpy() == expected).all() and (host == times + 1).all()
        assert [recording is not None for recording, _ in graph._replay._parts] == [True, False, True]
        with pytest.raises(DeviceAssertion, match="too large"):
            graph.replay()
            steps.numpy()
    finally:
        for kernel in (axpy_kernel, asserting_kernel):
            kernel.device_caches.clear()
