"""triton_spirv.bind: bound launches do what ordinary ones do, whatever their arguments are."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import prepared
import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
import triton_spirv
from triton import knobs
from triton_spirv.checking import CheckError
from triton_spirv.errors import LaunchError, UsageError
from triton_spirv.runtime import launch_code, waiting
from triton_spirv.runtime.launch import DeviceAssertion
from triton_spirv.runtime.quick import Quick

factor = tl.constexpr(3)


@triton.jit
def scale_kernel(x, out, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, (tl.load(x + i, mask=i < n) * alpha).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def planes_kernel(out, width, step):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.atomic_add(out + (y * width + x) * step, z + 1)


@triton.jit
def integers_kernel(out, a, b, c):
    tl.store(out, a.to(tl.int64))
    tl.store(out + 1, b.to(tl.int64))
    tl.store(out + 2, c.to(tl.int64))


@triton.jit
def global_kernel(out):
    tl.store(out, factor)


@triton.jit
def asserting_kernel(out, n):
    tl.device_assert(n < 10, "n is too large")
    tl.store(out, n)


@triton.jit
def many_kernel(pair, maybe, flag, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(pair[0] + i) + pair[1]
    if maybe is not None:
        value += tl.load(maybe + i)
    tl.store(out + i, tl.where(flag, value, -value))


def doubles(arguments) -> int:
    return 2 if arguments["n"] > 100 else 1


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], ["n"])
@triton.heuristics({"TIMES": doubles})
@triton.jit
def tuned_kernel(x, out, n, TIMES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * TIMES, mask=i < n)


@pytest.fixture
def ordinary(monkeypatch):
    """The launches that Triton makes; empty while bound launches need none."""
    seen: list[object] = []
    run = triton.runtime.jit.JITFunction.run
    monkeypatch.setattr(triton.runtime.jit.JITFunction, "run",
                        lambda self, *a, **k: (k["warmup"] or seen.append(self), run(self, *a, **k))[1])
    return seen


def grid_of(n: int, block: int = 128) -> tuple[int]:
    return (triton.cdiv(n, block),)


def bound_scale(n: int = 1024, dtype: torch.dtype = torch.float32, alpha: object = 2.0):
    x, out = torch.ones(n, dtype=dtype), torch.empty(n, dtype=dtype)
    return triton_spirv.bind(scale_kernel, grid_of(n), x, out, n, alpha, BLOCK=128)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32,
                                   torch.int8), ids=str)
@pytest.mark.parametrize("n", (16, 1000, 4096, 100_000))
def test_numbers(n, dtype, ordinary) -> None:
    bound = bound_scale(n, dtype, 3)
    assert not ordinary
    for alpha in (3, 5, -7):
        for _ in range(4):
            x, out = torch.randint(-9, 9, (n,)).to(dtype), torch.zeros(n, dtype=dtype)
            assert bound(x, out, n, alpha) is None
            assert torch.equal(out, x * alpha)
    assert not ordinary and bound.why_ordinary == ""


def test_arrays_of_numpy(ordinary) -> None:
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, dtype=np.float32)
    view, result = triton_spirv.asarray(x), triton_spirv.asarray(out)
    bound = triton_spirv.bind(scale_kernel, (2,), view, result, 256, 0.5, BLOCK=128)
    for _ in range(3):
        bound(view, result, 256, 0.5)
        np.testing.assert_array_equal(out, x / 2)
        x += 1
    assert not ordinary
    out.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        bound(view, triton_spirv.asarray(out), 256, 0.5)


def test_grids(ordinary) -> None:
    out = torch.zeros(12, dtype=torch.int32)
    triton_spirv.bind(planes_kernel, (4, 3, 2), out, 4, 1)(out, 4, 1)
    assert (out == 3).all()
    bound = triton_spirv.bind(scale_kernel, lambda meta: grid_of(meta["n"], meta["BLOCK"]), torch.ones(512),
                              torch.empty(512), 512, 2.0, BLOCK=128)
    for n in (512, 48, 400):
        x, result = torch.rand(512), torch.zeros(512)
        bound(x, result, n, 2.0)
        assert torch.equal(result[:n], 2 * x[:n]) and not result[n:].any()
    assert not ordinary
    result.zero_()
    triton_spirv.bind(scale_kernel, (0,), x, result, 512, 2.0, BLOCK=128)(x, result, 512, 2.0)
    assert not result.any()
    with pytest.raises(LaunchError, match="a grid holds integers"):
        triton_spirv.bind(scale_kernel, (4.0,), x, result, 512, 2.0, BLOCK=128)(x, result, 512, 2.0)


def unaligned(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.zeros(1, dtype=x.dtype), x])[1:]


@pytest.mark.parametrize(("change", "numbers", "name"), [
    pytest.param(unaligned, (1024, 2.0), "multiples of 16",
                 marks=pytest.mark.cpu_device("what is said; copies of a GPU keep no alignment")),
    (torch.Tensor.double, (1024, 2.0), "x"), (torch.Tensor.half, (1024, 2.0), "x"),
    (torch.nn.Parameter, (1024, 2.0), "x"),
    (lambda x: x, (1000, 2.0), "n"), (lambda x: x, (1, 2.0), "n"), (lambda x: x, (True, 2.0), "n"),
    (lambda x: x, (1 << 40, 2.0), "n"), (lambda x: x, (1024, 2), "alpha"), (lambda x: x, (1024, 1), "alpha")])
def test_what_does_not_fit_is_an_ordinary_launch(change, numbers, name, ordinary) -> None:
    bound = bound_scale()
    x = change(torch.rand(1024))
    out, expected = torch.zeros(1024), torch.zeros(1024)
    with torch.no_grad():
        bound(x, out, *numbers)
        assert ordinary == [scale_kernel] and name in bound.why_ordinary
        scale_kernel[grid_of(1024)](x, expected, *numbers, BLOCK=128)
    assert torch.equal(out, expected) and out.any()


def test_numbers_beyond_their_type() -> None:
    bound, x, out = bound_scale(), torch.rand(1024) + 1, torch.zeros(1024)
    for _ in range(3):
        bound(x, out.zero_(), 1024, -1e39)
        assert (out == -torch.inf).all()


def test_a_kernel_that_knows_nothing_of_multiples_takes_them(ordinary) -> None:
    x, out = unaligned(torch.rand(99)), torch.zeros(99)
    bound = triton_spirv.bind(scale_kernel, (1,), x, out, 99, 2.0, BLOCK=128)
    for n, source in ((99, x), (96, x), (99, torch.rand(99)), (64, unaligned(x))):
        bound(source, out.zero_(), n, 2.0)
        assert torch.equal(out[:n], 2 * source[:n]) and not out[n:].any()
    assert not ordinary


def test_tensors_without_their_elements_are_refused_by_name() -> None:
    bound, x, out = bound_scale(), torch.rand(1024), torch.zeros(1024)
    with pytest.raises(LaunchError, match="negated"):
        bound(torch._neg_view(x), out, 1024, 2.0)
    with pytest.raises(LaunchError, match="storage"):
        emptied = torch.rand(1025)[1:]
        emptied.untyped_storage().resize_(0)
        bound(emptied, out, 1024, 2.0)
    with pytest.raises((LaunchError, RuntimeError, ValueError)):
        bound(x.to("meta"), out, 1024, 2.0)
    with pytest.raises(TypeError, match="positional"):
        bound(x, out, 1024)
    bound(x, out, 1024, 2.0)
    assert torch.equal(out, 2 * x)


def test_a_storage_that_is_emptied_later() -> None:
    """The same tensor object, whose address changes between two calls."""
    bound, x, out = bound_scale(), torch.rand(1024), torch.zeros(1024)
    bound(x, out, 1024, 2.0)
    other = torch.rand(1024)
    x.set_(other)
    bound(x, out, 1024, 2.0)
    assert torch.equal(out, 2 * other)
    x.untyped_storage().resize_(0)
    with pytest.raises(LaunchError, match="storage"):
        bound(x, out, 1024, 2.0)


def test_constants(ordinary) -> None:
    """By position they may change; what was given by keyword stays."""
    x, out = torch.rand(256), torch.zeros(256)
    bound = triton_spirv.bind(scale_kernel, (2,), x, out, 256, 1, 128)
    bound(x, out, 256, 1, 128)
    assert not ordinary and torch.equal(out, x)
    bound(x, out.zero_(), 256, 3, 128)  # 1 was a constant
    assert len(ordinary) == 1 and torch.equal(out, 3 * x)
    bound(x, out.zero_(), 256, 1, 64)
    assert len(ordinary) == 2 and torch.equal(out[:128], x[:128]) and not out[128:].any()
    kept = triton_spirv.bind(scale_kernel, (2,), x, out=out, n=256, alpha=2.0, BLOCK=128)
    kept(x + 1)
    assert len(ordinary) == 2 and torch.equal(out, 2 * (x + 1))
    out.untyped_storage().resize_(0)
    with pytest.raises(LaunchError, match="storage"):
        kept(x)


def test_other_arguments(ordinary) -> None:
    x, y, out = torch.rand(32), torch.rand(32), torch.zeros(32)
    pair = (x, 7)
    bound = triton_spirv.bind(many_kernel, (1,), pair, None, True, out, N=32)
    bound(pair, None, True, out)
    assert torch.equal(out, x + 7)
    bound(pair, None, False, out)
    assert torch.equal(out, -(x + 7)) and not ordinary
    bound(pair, y, True, out)
    assert torch.equal(out, x + 7 + y) and len(ordinary) == 1
    bound((x, 5), None, True, out)
    assert torch.equal(out, x + 5) and len(ordinary) == 2


def test_hooks_see_each_launch(ordinary) -> None:
    bound, x, out = bound_scale(), torch.rand(1024), torch.zeros(1024)
    names = []

    def hook(metadata) -> None:
        names.append(metadata.get()["name"])

    knobs.runtime.launch_enter_hook.add(hook)
    try:
        bound(x, out, 1024, 2.0)
    finally:
        knobs.runtime.launch_enter_hook.remove(hook)
    assert names == ["scale_kernel"] and len(ordinary) == 1
    scale_kernel.add_pre_run_hook(lambda *a, **k: names.append("before"))
    try:
        bound(x, out, 1024, 2.0)
    finally:
        scale_kernel.pre_run_hooks.clear()
    assert names[1:] == ["before"] and len(ordinary) == 2
    bound(x, out, 1024, 2.0)
    assert len(ordinary) == 2 and torch.equal(out, 2 * x)


@pytest.mark.cpu_device("checked mode needs the memory of the host")
@pytest.mark.parametrize("how", ("with", "environment"))
def test_checked_mode(how, monkeypatch, ordinary) -> None:
    bound, x, out = bound_scale(), torch.rand(1024), torch.zeros(1024)
    bound(x, out, 1024, 2.0)
    assert not ordinary
    with pytest.raises(CheckError, match="bounds"):
        if how == "with":
            with triton_spirv.checked("bounds"):
                bound(torch.rand(512), out, 1024, 2.0)
        else:
            monkeypatch.setenv("TRITON_SPIRV_CHECK", "bounds")
            bound(torch.rand(512), out, 1024, 2.0)
    monkeypatch.delenv("TRITON_SPIRV_CHECK", raising=False)
    with triton_spirv.checked("bounds"):
        checked = bound_scale()
        with pytest.raises(CheckError, match="bounds"):
            checked(torch.rand(512), out, 1024, 2.0)


def test_globals_may_not_change(monkeypatch) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    bound = triton_spirv.bind(global_kernel, (1,), out)
    bound(out)
    assert out.item() == 3
    monkeypatch.setitem(global_kernel.__globals__, "factor", tl.constexpr(4))
    with pytest.raises(RuntimeError, match="Global variable factor has changed"):
        bound(out)


def test_assertions_are_raised(ordinary) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    bound = triton_spirv.bind(asserting_kernel, (1,), out, 7, debug=True)
    bound(out, 7)
    assert out.item() == 7
    with pytest.raises(DeviceAssertion, match="n is too large"):
        bound(out, 11)
    bound(out, 5)
    assert out.item() == 5 and not ordinary


def test_tuned_kernels(ordinary) -> None:
    x, out = torch.rand(200), torch.zeros(200)

    def grid(meta):
        return grid_of(meta["n"], meta["BLOCK"])

    bound = triton_spirv.bind(tuned_kernel, grid, x, out, 200)
    assert ordinary  # it has been tuned
    ordinary.clear()
    bound(x + 1, out, 200)
    assert torch.equal(out, 2 * (x + 1)) and not ordinary
    bound(x, out.zero_(), 64)  # another key, and another constant of the heuristics
    assert torch.equal(out[:64], x[:64]) and not out[64:].any() and ordinary
    ordinary.clear()
    triton_spirv.bind(tuned_kernel, grid, x, out, 200)
    assert not ordinary


def quick_of(bound) -> Quick:
    return bound.__globals__["quick"]


INTEGERS = [(7, 1 << 40, 3), (-1, -1 << 40, -1), ((1 << 31) - 1, (1 << 63) - 1, 5),
            (-1 << 31, -(1 << 62) - 3, 9)]


@pytest.mark.parametrize("where", ("the main thread", "another thread"))
@pytest.mark.parametrize("grid", ((1,), lambda meta: (1,)), ids=("fixed", "function"))
def test_integers(grid, where, ordinary) -> None:
    out = torch.zeros(3, dtype=torch.int64)
    bound = triton_spirv.bind(integers_kernel, grid, out, 7, (1 << 40) + 1, 3)
    seen = []

    def launch() -> None:
        for integers in INTEGERS:
            out.zero_()
            bound(out, *integers)
            seen.append(tuple(out.tolist()))

    if where == "the main thread":
        launch()
    else:
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    assert seen == INTEGERS and not ordinary


@pytest.mark.cpu_device("how it launches in the calling thread")
def test_what_fits_no_parameter_is_not_launched() -> None:
    out = torch.zeros(3, dtype=torch.int64)
    quick = quick_of(triton_spirv.bind(integers_kernel, (1,), out, 7, (1 << 40) + 1, 3))
    assert quick.direct is not None
    address = out.data_ptr()
    for values in ((address, 1 << 31, 5, 3), (address, -(1 << 31) - 1, 5, 3), (address, 5, 1 << 63, 3),
                   (address, 5, 5, 1 << 100), (address, 2.0, 5, 3), (address, 5, None, 3), (address, 5, 5),
                   (address, 5, 5, 3, 3), (out, 5, 5, 3), (-1, 5, 5, 3), (1 << 64, 5, 5, 3)):
        assert quick.direct(*values) == launch_code.NUMBER, values
    for wrong in (0, address + 1, address + 8, (1 << 64) - 1):
        assert quick.direct(wrong, 5, 5, 3) == launch_code.MISFIT
    codes = []
    thread = threading.Thread(target=lambda: codes.append(quick.direct(address, 5, 5, 3)))
    thread.start()
    thread.join()
    assert codes == [launch_code.ELSEWHERE] and not out.any()
    assert quick.direct(address, -1, -1, -1) >= 0 and out.tolist() == [-1, -1, -1]  # nanoseconds at times


def test_switches_of_triton(monkeypatch, ordinary) -> None:
    x, out = torch.rand(1024), torch.zeros(1024)
    before = bound_scale()
    with monkeypatch.context() as patch:
        patch.setitem(knobs.runtime.__dict__, "debug", True)
        before(x, out, 1024, 2.0)
        assert len(ordinary) == 1 and "debug switch" in before.why_ordinary
        meanwhile = bound_scale()
        ordinary.clear()
        meanwhile(x, out, 1024, 2.0)
        assert not ordinary
    before(x, out, 1024, 3.0)
    assert not ordinary and torch.equal(out, 3 * x)
    meanwhile(x, out, 1024, 2.0)
    assert len(ordinary) == 1 and torch.equal(out, 2 * x)


def test_configurations_with_a_hook(ordinary) -> None:
    calls = []
    config = triton.Config({"BLOCK": 128}, pre_hook=lambda arguments: calls.append(arguments["n"]))
    kernel = triton.autotune([config], ["n"])(scale_kernel)
    x, out = torch.rand(128), torch.zeros(128)
    bound = triton_spirv.bind(kernel, (1,), x, out, 128, 2.0)
    calls.clear()
    bound(x, out, 128, 2.0)
    assert calls == [128] and "hook" in bound.why_ordinary and torch.equal(out, 2 * x)


def test_threads(ordinary) -> None:
    bound, wrong = bound_scale(1024), []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(300):
            x, out = torch.rand(1024, generator=generator), torch.zeros(1024)
            bound(x, out, 1024, float(seed))
            if not torch.equal(out, x * seed):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not ordinary


def test_arguments_are_not_kept() -> None:
    bound, out = bound_scale(), torch.zeros(1024)
    x = torch.rand(1024)
    bound(x, out, 1024, 2.0)
    alive = weakref.ref(x)
    del x
    assert alive() is None


def test_without_machine_code(monkeypatch, ordinary) -> None:
    monkeypatch.setattr(launch_code, "maker", lambda: None)
    scale_kernel.device_caches.clear()  # a kernel that is known may have a team already
    bound, x, out = bound_scale(), torch.rand(1024), torch.zeros(1024)
    bound(x, out, 1024, 2.0)
    assert torch.equal(out, 2 * x)
    bound(unaligned(x), out, 1024, 3.0)
    assert torch.equal(out, 3 * x) and len(ordinary) == 1
    with pytest.raises(LaunchError, match="negated"):
        bound(torch._neg_view(x), out, 1024, 2.0)
    scale_kernel.device_caches.clear()


@pytest.mark.cpu_device("how its driver uses threads")
def test_long_launches_leave_the_calling_thread(monkeypatch) -> None:
    made: list[Quick] = []
    initialise = Quick.__init__
    monkeypatch.setattr(Quick, "__init__", lambda self, *a: (initialise(self, *a), made.append(self))[0])
    bound, x, out = bound_scale(4096), torch.rand(4096), torch.zeros(4096)
    bound(x, out, 4096, 2.0)
    quick = made[0]
    quick.most = 32
    quick.said(32, 1_000_000)
    assert quick.most == 32
    quick.said(32, 1_000_000)
    assert quick.most < 32
    bound(x, out, 4096, 3.0)
    assert torch.equal(out, 3 * x)
    quick.most, quick.slow = 1, 0
    quick.said(1, waiting.SHORT - 1)
    quick.said(1, waiting.SHORT - 1)
    assert quick.most == 1
    with pytest.raises(LaunchError, match="scale_kernel"):
        quick.said(1, -5)


@pytest.mark.parametrize("environment", [
    pytest.param({"TRITON_SPIRV_DEVICE": "vulkan"}, marks=pytest.mark.vulkan, id="vulkan"),
    pytest.param({"TRITON_SPIRV_TARGET": "simt"}, id="simt")])
def test_other_devices(environment, monkeypatch, ordinary) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    scale_kernel.device_caches.clear()
    try:
        bound = bound_scale()
        for alpha in (2.0, 3.0):
            x, out = torch.rand(1024), torch.zeros(1024)
            bound(x, out, 1024, alpha)
            assert torch.equal(out, x * alpha)
        assert not ordinary
        buffer = torch.rand(2048)
        expected = buffer[:1024] * 2.0
        bound(buffer[:1024], buffer[:1024], 1024, 2.0)  # a launch knows that these overlap
        assert torch.equal(buffer[:1024], expected)
        if "TRITON_SPIRV_DEVICE" in environment:
            monkeypatch.delenv("TRITON_SPIRV_DEVICE")
            bound(x, out.zero_(), 1024, 2.0)
            assert torch.equal(out, 2 * x) and len(ordinary) == 1 and "device" in bound.why_ordinary
    finally:
        scale_kernel.device_caches.clear()


def test_what_is_no_kernel() -> None:
    with pytest.raises(UsageError, match=r"not a @triton\.jit function"):
        triton_spirv.bind(print, (1,))
    with pytest.raises(UsageError, match="takes 3 arguments, got 4"):
        triton_spirv.bind(planes_kernel, (1,), 1, 2, 3, 4)


CRASH = """
import os
os.environ["TRITON_SPIRV_BACKEND"] = "1"
import torch, triton, triton_spirv
import triton.language as tl

@triton.jit
def wild(o, far, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + far + i, tl.load(o + i))

o = torch.zeros(64)
bound = triton_spirv.bind(wild, (1,), o, 0, N=32)
for _ in range(3):
    bound(o, 0)
bound(o, 1 << 30)
"""


@pytest.mark.cpu_device("kernels fault in this process")
def test_a_crash_names_the_kernel(tmp_path) -> None:
    (tmp_path / "script.py").write_text(CRASH)
    done = prepared.python(["script.py"], folder=tmp_path)
    assert done.returncode == -11 and "wild, script.py" in done.stderr.replace(str(tmp_path) + "/", "")
