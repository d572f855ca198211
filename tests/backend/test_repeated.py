"""Launches that are repeated do without Triton's launch, and what they do is what that does."""

from __future__ import annotations

import copy
import threading
import weakref

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
import triton_spirv
from triton import knobs
from triton.runtime.jit import JITFunction
from triton_spirv import panel_layout
from triton_spirv.checking import CheckError
from triton_spirv.errors import LaunchError
from triton_spirv.runtime.quick import Quick
from triton_spirv_backend import repeated

times = tl.constexpr(1)


def kernel_of_its_own():
    """Of whose launches nothing is known."""
    @triton.jit
    def scale(x, out, n, a, BLOCK: tl.constexpr, PLUS: tl.constexpr = 0):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, (tl.load(x + i, mask=i < n) * a + PLUS).to(out.dtype.element_ty), mask=i < n)
    return scale


@triton.jit
def global_kernel(out):
    tl.store(out, times)


@triton.jit
def pair_kernel(pair, out):
    tl.store(out, tl.load(pair[0]) + pair[1])


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK, BLOCK], tl.float32)
    for done in range(0, K, BLOCK):
        k = done + tl.arange(0, BLOCK)
        x = tl.load(a_ptr + m[:, None] * K + k[None, :])
        total = tl.dot(x, tl.load(b_ptr + k[:, None] * N + n[None, :]), total, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def planes_kernel(out, width):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.atomic_add(out + y * width + x, z + 1)


@triton.jit
def double_kernel(x, out, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n) | EVEN
    tl.store(out + i, tl.load(x + i, mask=inside) * 2, mask=inside)


EVEN = triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})(double_kernel)


def tuned(kernel, *configs, **options):
    """The kernel, to be tuned for n."""
    chosen = configs or (triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}))
    return triton.autotune(list(chosen), ["n"], **options)(kernel)


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


@pytest.fixture
def by_triton(monkeypatch):
    """The launches that Triton has made since."""
    seen: list[object] = []
    call = repeated.Form.__call__
    monkeypatch.setattr(repeated.Form, "__call__",
                        lambda self, *given, **why: (seen.append(self._owner), call(self, *given, **why))[1])
    monkeypatch.setattr(repeated, "AFTER", 2)
    return seen


def launches(by_triton, launch, count: int = 6) -> int:
    """How many of so many launches Triton makes."""
    by_triton.clear()
    for _ in range(count):
        launch()
    return len(by_triton)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.float64, torch.int32), ids=str)
@pytest.mark.parametrize("n", (16, 1000, 4096, 300_000))
def test_numbers(n, dtype, by_triton) -> None:
    kernel, block = kernel_of_its_own(), 128
    found = set()
    for turn in range(8):
        x, out = torch.randint(-9, 9, (n,)).to(dtype), torch.zeros(n, dtype=dtype)
        found.add(kernel[(triton.cdiv(n, block),)](x, out, n, turn + 2, BLOCK=block))
        assert torch.equal(out, x * (turn + 2))
    assert len(by_triton) == 3 and len(found) == 1


def test_ways_to_call(by_triton) -> None:
    """Grids, keywords in any order, options, defaults."""
    kernel, x, out = kernel_of_its_own(), torch.rand(256), torch.zeros(256)
    for call in (lambda: kernel[(2,)](x, out, 256, 2.0, 128),
                 lambda: kernel[[2, 1]](x, out, 256, 2.0, BLOCK=128),
                 lambda: kernel[lambda meta: (256 // meta["BLOCK"],)](x, out, 256, 2.0, BLOCK=128, PLUS=0),
                 lambda: kernel[(2, 1, 1)](x, BLOCK=128, a=2.0, out=out, n=256),
                 lambda: kernel[(2,)](x, out, 256, 2.0, BLOCK=128, num_warps=8, num_stages=2),
                 lambda: kernel.run(x, out, 256, 2.0, 128, grid=(2,), warmup=False)):
        before = len(by_triton)
        for _ in range(6):
            out.zero_()
            assert call().asm["spv"]
            assert torch.equal(out, 2 * x)
        assert len(by_triton) - before <= 3


def test_grids(by_triton) -> None:
    out = torch.zeros(12, dtype=torch.int32)
    grids = [(4, 3, 2), (4, 3), (4,), (2, 3, 1), lambda meta: (meta["width"], 1, 5)]
    for turn in range(15):
        grid = grids[turn % 5]
        out.zero_()
        planes_kernel[grid](out, 4)
        x, y, z = (*(grid({"width": 4}) if callable(grid) else grid), 1, 1)[:3]
        expected = torch.zeros(3, 4, dtype=torch.int32)
        expected[:y, :x] = z * (z + 1) // 2
        assert torch.equal(out.view(3, 4), expected)
    assert len(by_triton) == 3
    out.zero_()
    planes_kernel[(0,)](out, 4)
    planes_kernel[(4, 0)](out, 4)
    assert not out.any()
    for wrong, error in (((2.0,), "a grid holds integers"), (3, "len"), ((), "index")):
        with pytest.raises(Exception, match=error):
            planes_kernel[wrong](out, 4)


def test_other_arguments(by_triton) -> None:
    """Each change is seen, whichever launch was bound."""
    kernel, x, out = kernel_of_its_own(), torch.rand(320), torch.zeros(320)

    def check(x, out, n, a, **constants) -> None:
        out.zero_()
        kernel[(5,)](x, out, n, a, **constants)
        expected = (x * a + constants.get("PLUS", 0)).to(out.dtype)
        assert torch.equal(out[:n], expected[:n]) and not out[n:].any()
    parameter = torch.nn.Parameter(x.clone(), requires_grad=False)
    half = torch.zeros(320, dtype=torch.float16)
    cases = [lambda: check(x, out, 320, 2.0, BLOCK=64), lambda: check(x, out, 319, 2.0, BLOCK=64),
             lambda: check(x, out, 1, 2.0, BLOCK=64), lambda: check(x, out, 320, 2, BLOCK=64),
             lambda: check(x, out, 320, True, BLOCK=64), lambda: check(x, out, 320, 1, BLOCK=64),
             lambda: check(x[1:], out[1:], 319, 2.0, BLOCK=64), lambda: check(x, half, 320, 2.0, BLOCK=64),
             lambda: check(parameter, out, 320, 2.0, BLOCK=64), lambda: check(x, out, 320, 2.0, BLOCK=128),
             lambda: check(x, out, 320, 2.0, BLOCK=64, PLUS=1),
             lambda: check(x, out, 320, 2.0, BLOCK=64, PLUS=0),
             lambda: check(x, out, 320, 2.0, BLOCK=64, PLUS=1.0)]
    order = torch.randperm(13 * 12, generator=torch.Generator().manual_seed(5)).tolist()
    for each in order:
        cases[each % 13]()
    assert len(by_triton) < 100
    for each in order:
        cases[each % 13]()
    with pytest.raises(TypeError, match="BLOCK"):
        kernel[(5,)](x, out, 320, 2.0)
    with pytest.raises(LaunchError, match="negated"):
        kernel[(5,)](torch._neg_view(x), out, 320, 2.0, BLOCK=64)


def test_what_each_launch_obeys(by_triton, monkeypatch) -> None:
    kernel, x, out = kernel_of_its_own(), torch.rand(128), torch.zeros(128)

    def launch() -> object:
        return kernel[(1,)](x, out, 128, 2.0, BLOCK=128)
    assert launches(by_triton, launch) == 3
    assert launches(by_triton, launch) == 0
    seen = []
    knobs.runtime.launch_enter_hook.add(seen.append)
    try:
        assert launches(by_triton, launch) == len(seen) == 6
    finally:
        knobs.runtime.launch_enter_hook.remove(seen.append)
    assert launches(by_triton, launch) == 0
    with monkeypatch.context() as patch:
        patch.setitem(knobs.runtime.__dict__, "debug", True)
        assert launches(by_triton, launch) == 6
    kernel.add_pre_run_hook(lambda *given, **options: seen.append(given))
    seen.clear()
    launch()
    assert len(seen) == 1
    kernel.pre_run_hooks.clear()
    with triton_spirv.graph() as graph:
        launch()
        launch()
    assert len(graph) == 2
    out.zero_()
    graph.replay()
    assert torch.equal(out, 2 * x)


def test_a_kernel_that_is_compiled_anew(by_triton) -> None:
    kernel, x, out = kernel_of_its_own(), torch.rand(128), torch.zeros(128)

    def launch() -> object:
        return kernel[(1,)](x, out, 128, 2.0, BLOCK=128)
    launches(by_triton, launch)
    source = kernel.src
    kernel._unsafe_update_src(source.replace("* a", "* a * 2"))
    kernel.device_caches.clear()
    launch()
    assert torch.equal(out, 4 * x)
    launches(by_triton, launch)
    kernel._unsafe_update_src(source)
    kernel.device_caches[triton.runtime.driver.active.get_current_device()][0].clear()
    launch()
    assert torch.equal(out, 2 * x)


def test_globals_may_not_change(by_triton, monkeypatch) -> None:
    out = torch.zeros(1)
    launches(by_triton, lambda: global_kernel[(1,)](out))
    monkeypatch.setitem(globals(), "times", tl.constexpr(2))
    with pytest.raises(RuntimeError, match="has changed since"):
        global_kernel[(1,)](out)


def test_copies_have_launches_of_their_own(by_triton) -> None:
    kernel, x, out = kernel_of_its_own(), torch.rand(128), torch.zeros(128)
    launches(by_triton, lambda: kernel[(1,)](x, out, 128, 2.0, BLOCK=128))
    other = copy.copy(kernel)
    other.device_caches = type(kernel.device_caches)(other.create_binder)
    other._unsafe_update_src(kernel.src.replace("* a", "* a * 2"))
    other[(1,)](x, out, 128, 2.0, BLOCK=128)
    assert torch.equal(out, 4 * x)
    kernel[(1,)](x, out, 128, 2.0, BLOCK=128)
    assert torch.equal(out, 2 * x)


@pytest.mark.cpu_device("products keep packed operands there")
def test_operands_are_kept_where_threads_share_a_launch(by_triton, monkeypatch) -> None:
    made, kept, n = [], [], 256
    make, keep = Quick.__init__, Quick.keep
    monkeypatch.setattr(Quick, "__init__", lambda self, *given: (made.append(self), make(self, *given))[1])

    def keeping(self: Quick, given: object, grid: tuple[int, int, int]) -> object:
        held = keep(self, given, grid)
        kept.append(panel_layout.GRID.unpack_from(held._memory, panel_layout.GRID_AT))
        return held
    monkeypatch.setattr(Quick, "keep", keeping)
    kernel = triton.jit(product_kernel.fn)
    a, b, out = torch.randint(-3, 4, (n, n)).float(), torch.randint(-3, 4, (n, n)).float(), torch.zeros(n, n)
    launches(by_triton, lambda: kernel[(4, 4)](a, b, out, n, n, BLOCK=64))
    (quick,) = made
    assert quick.keeps
    if quick.sharing is not None:  # there is more than one core
        quick.most, quick.sharing.shared = 0, 1 << 30
        kept.clear()
        for _ in range(5):
            out.zero_()
            kernel[(4, 4)](a, b, out, n, n, BLOCK=64)
            assert torch.equal(out, a @ b)
        assert kept == [(4, 4, 1)] * 5  # they lie along x, one column behind the other
    assert launches(by_triton, lambda: kernel[(4, 4)](a, b, out, n, n, BLOCK=64)) == 0


def test_tuples_are_launched_by_triton(by_triton) -> None:
    x, out = torch.tensor([3.0]), torch.zeros(1)
    given = [x]
    assert launches(by_triton, lambda: pair_kernel[(1,)]((given[0], 4.0), out)) == 6
    assert out.item() == 7
    alive = weakref.ref(x)
    del x, given[0]
    pair_kernel[(1,)]((torch.tensor([1.0]), 2.0), out)
    assert alive() is None and out.item() == 3


@pytest.mark.parametrize("kernel", (double_kernel, EVEN), ids=["jit", "heuristics"])
def test_tuned_kernels(kernel, by_triton) -> None:
    tuner = tuned(kernel)
    constants = {} if kernel is EVEN else {"EVEN": False}
    for n in (256, 100, 256, 100, 300):
        x, out = torch.rand(n), torch.zeros(n)
        for _ in range(8):
            out.zero_()
            assert tuner[grid](x, out, n, **constants).asm["spv"]
            assert torch.equal(out, 2 * x) and tuner.best_config in tuner.configs and tuner.nargs is None
    assert len(tuner.cache) == 3
    launches(by_triton, lambda: tuner[grid](x, out, n, **constants))
    assert by_triton == ([tuner] * 6 if kernel is EVEN else [])


def test_what_tuning_decides(by_triton) -> None:
    """Another configuration, another key, a hook of the configuration's."""
    tuner, seen = tuned(double_kernel), []
    x, out = torch.rand(256), torch.zeros(256)

    def launch(n: int = 256) -> None:
        out.zero_()
        tuner[grid](x, out, n, EVEN=False)
        assert torch.equal(out[:n], 2 * x[:n]) and not out[n:].any()
    launches(by_triton, launch)
    assert launches(by_triton, launch) == 0
    (key,), chosen = tuner.cache, tuner.best_config
    other = next(config for config in tuner.configs if config is not chosen)
    tuner.cache[key] = other
    launch()
    assert by_triton and tuner.best_config is other
    tuner.cache[key] = chosen
    assert launches(by_triton, launch) == 0 and tuner.best_config is chosen
    launch(128)
    assert len(tuner.cache) == 2
    chosen.pre_hook = lambda given: seen.append(given["n"])
    launch()
    assert seen == [256]
    chosen.pre_hook = None
    tuner.cache.clear()
    launch()
    assert list(tuner.cache) == [key]


def test_what_tuning_may_change(by_triton, monkeypatch) -> None:
    """Its kernel, the kernel's launch, a configuration's options, its keys."""
    tuner, seen = tuned(double_kernel, triton.Config({"BLOCK": 32}, num_warps=4)), []
    x, out = torch.rand(256), torch.zeros(256)

    def launch() -> object:
        return tuner[grid](x, out, 256, EVEN=False)
    before = [launch() for _ in range(6)][-1]
    assert launches(by_triton, launch) == 0
    tuner.configs[0].num_warps = 8
    assert launch() is not before and by_triton
    tuner.configs[0].num_warps = 4
    assert launch() is before
    run = JITFunction.run
    with monkeypatch.context() as patch:
        patch.setattr(JITFunction, "run", lambda self, *a, **k: (seen.append(self), run(self, *a, **k))[1])
        launch()
    with monkeypatch.context() as patch:
        patch.setattr(double_kernel, "run", lambda *a, **k: seen.append(k), raising=False)
        launch()
    assert len(seen) == 2 and launches(by_triton, launch) == 0
    other = kernel_of_its_own()
    tuner.fn = triton.heuristics({"a": lambda given: 3.0})(other)
    tuner[grid](x, out, 256)
    assert torch.equal(out, 3 * x)


class Recording(triton.runtime.Autotuner):
    """An autotuner of somebody's own."""

    def run(self, *arguments, **keywords):
        return super().run(*arguments, **keywords)


class Counted(triton.runtime.KernelInterface):
    """No kernel of Triton's, whose launch asks for nothing."""

    def __init__(self) -> None:
        self.fn = kernel_of_its_own

    def run(self, x, *, grid, BLOCK):
        x += BLOCK


def test_somebodys_own_kernel(by_triton) -> None:
    tuner = triton.runtime.Autotuner(Counted(), ["x", "BLOCK"], [triton.Config({"BLOCK": 2})], [], None, None)
    tuner.configs[0].all_kwargs = lambda: {"BLOCK": 2}
    x = torch.zeros(1)
    for _ in range(8):
        tuner.run(x, grid=(1,))
    assert x.item() == 16


@pytest.mark.parametrize("kind", ["inherits", "overrides"])
def test_somebodys_own_autotuner(kind, by_triton) -> None:
    base = Recording if kind == "overrides" else type("Plain", (triton.runtime.Autotuner,), {})
    tuner = tuned(double_kernel)
    own = base(double_kernel, tuner.arg_names, tuner.configs, ["n"], None, None)
    x, out = torch.rand(256), torch.zeros(256)
    for _ in range(8):
        out.zero_()
        own[grid](x, out, 256, EVEN=False)
        assert torch.equal(out, 2 * x)


def test_keys_that_vary_and_then_do_not(by_triton, monkeypatch) -> None:
    monkeypatch.setattr(repeated, "PAUSE", 10)
    tuner, x, out = tuned(double_kernel, triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})), \
        torch.rand(512), torch.zeros(512)
    for n in range(300, 330):
        tuner[grid](x, out, n, EVEN=False)
    assert launches(by_triton, lambda: tuner[grid](x, out, 400, EVEN=False), 60) < 60
    assert launches(by_triton, lambda: tuner[grid](x, out, 400, EVEN=False)) == 0


def test_what_cannot_be_bound_is_launched(by_triton, monkeypatch) -> None:
    def fails(*given: object) -> None:
        raise KeyError("something new in Triton")
    monkeypatch.setattr(repeated, "described", fails)
    kernel, x, out = kernel_of_its_own(), torch.rand(16), torch.zeros(16)
    assert launches(by_triton, lambda: kernel[(1,)](x, out, 16, 2.0, BLOCK=16)) == 6
    assert torch.equal(out, 2 * x)


def test_one_configuration(by_triton) -> None:
    tuner = tuned(double_kernel, triton.Config({"BLOCK": 32, "EVEN": False}, num_warps=2))
    x, out = torch.rand(256), torch.zeros(256)
    launches(by_triton, lambda: tuner[grid](x, out, n=256))
    assert launches(by_triton, lambda: tuner[grid](x, out, n=256)) == 0
    assert torch.equal(out, 2 * x)
    tuner.configs[0] = triton.Config({"BLOCK": 32, "EVEN": True})
    tuner[grid](x, out, n=250)
    assert torch.equal(out, 2 * x)
    tuner.configs[0].kwargs["EVEN"] = False
    out.zero_()
    tuner[grid](x, out, n=250)
    assert torch.equal(out[:250], 2 * x[:250]) and not out[250:].any()


@pytest.mark.parametrize("shift", (0, 64))
def test_products_that_keep_operands(shift, by_triton) -> None:
    """Those that share memory with what is written, too."""
    n = 256
    memory = torch.randint(-3, 4, (3 * n * n,)).float()
    a, b = memory[:n * n].view(n, n), memory[n * n:2 * n * n].view(n, n)
    out = torch.zeros(n, n) if shift == 0 else memory[2 * n * n - shift * n:][:n * n].view(n, n)
    for _ in range(12):
        memory[:] = torch.randint(-3, 4, (3 * n * n,)).float()
        expected = a @ b
        if shift:
            b = b.clone()  # whose place is written to
        product_kernel[(4, 4)](a, b, out, n, n, BLOCK=64)
        assert torch.equal(out, expected)
    assert len(by_triton) <= 3


def test_threads(by_triton) -> None:
    kernel, wrong = kernel_of_its_own(), []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for turn in range(200):
            x, out = torch.randint(-9, 9, (1024,), generator=generator).float(), torch.zeros(1024)
            kernel[(8,)](x, out, 1024, float(seed), BLOCK=128, PLUS=turn % 2)
            if not torch.equal(out, x * seed + turn % 2):
                wrong.append(seed)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(by_triton) < 400


def test_arguments_are_not_kept(by_triton) -> None:
    kernel, out = kernel_of_its_own(), torch.zeros(1024)
    given = [torch.rand(1024)]
    launches(by_triton, lambda: kernel[(8,)](given[0], out, 1024, 2.0, BLOCK=128))
    alive = weakref.ref(given.pop())
    kernel[(8,)](torch.rand(1024), out, 1024, 2.0, BLOCK=128)
    assert alive() is None


def test_many_kernels_of_one_form(by_triton) -> None:
    """Bound launches are not many: the others are Triton's, and no slower by much."""
    kernel, x, out = kernel_of_its_own(), torch.rand(64), torch.zeros(64)
    for plus in range(2 * repeated.MOST):
        for _ in range(6):
            kernel[(1,)](x, out, 64, 2.0, BLOCK=64, PLUS=plus)
            assert torch.equal(out, 2 * x + plus)
    by_triton.clear()
    for plus in range(2 * repeated.MOST):
        kernel[(1,)](x, out, 64, 2.0, BLOCK=64, PLUS=plus)
        assert torch.equal(out, 2 * x + plus)
    assert repeated.MOST <= len(by_triton) <= 2 * repeated.MOST
    for _ in range(200):  # which are asked of few, then
        for plus in range(repeated.MOST, 2 * repeated.MOST):
            kernel[(1,)](x, out, 64, 2.0, BLOCK=64, PLUS=plus)
            assert torch.equal(out, 2 * x + plus)
    assert launches(by_triton, lambda: kernel[(1,)](x, out, 64, 2.0, BLOCK=64, PLUS=3), 40) < 40
    assert launches(by_triton, lambda: kernel[(1,)](x, out, 64, 2.0, BLOCK=64, PLUS=3)) == 0


def test_whoever_replaces_the_launch_sees_each(by_triton, monkeypatch) -> None:
    kernel, x, out, seen = kernel_of_its_own(), torch.rand(64), torch.zeros(64), []
    launches(by_triton, lambda: kernel[(1,)](x, out, 64, 2.0, BLOCK=64))
    run = JITFunction.run
    monkeypatch.setattr(JITFunction, "run", lambda self, *a, **k: (seen.append(self), run(self, *a, **k))[1])
    for _ in range(3):
        kernel[(1,)](x, out, 64, 2.0, BLOCK=64)
    assert seen == [kernel] * 3


def test_functions_of_grids_are_called_once(by_triton) -> None:
    """Whoever launches; and what they write to their dictionary is passed to the kernel."""
    kernel, x, out, calls = kernel_of_its_own(), torch.rand(64), torch.zeros(64), []
    sizes = [(1,)]

    def counted(meta) -> tuple[int, ...]:
        calls.append(meta["n"])
        return sizes[0]
    for size in ((1,), (0,), (1, 1, 0), (1,)):
        sizes[0] = size
        for _ in range(5):
            calls.clear()
            kernel[counted](x, out, 64, 2.0, BLOCK=64)
            assert calls == [64]

    def writes(meta) -> tuple[int]:
        meta["a"] = 3.0
        return (1,)
    for _ in range(6):
        out.zero_()
        kernel[writes](x, out, 64, 2.0, BLOCK=64)
        assert torch.equal(out, 3 * x)


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def applying_kernel(x, out, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, FUNCTION(tl.load(x + i)))


def test_constants_that_change_where_nobody_sees_it(by_triton) -> None:
    x, out, source = torch.rand(16), torch.zeros(16), twice.src
    for factor in ("2", "3"):
        twice._unsafe_update_src(source.replace("* 2", f"* {factor}"))
        for _ in range(5):
            applying_kernel[(1,)](x, out, twice, BLOCK=16)
            assert torch.equal(out, int(factor) * x)
    assert len(by_triton) < 10
    twice._unsafe_update_src(source)
    kernel, plus = kernel_of_its_own(), tl.constexpr(1)
    for value in (1, 5):
        plus.value = value
        for _ in range(5):
            kernel[(1,)](x, out, 16, 2.0, BLOCK=16, PLUS=plus)
            assert torch.equal(out, 2 * x + value)


@pytest.mark.cpu_device("checked mode needs the memory of the host")
def test_checked_mode_begins_at_once(by_triton, monkeypatch) -> None:
    kernel, x, out = kernel_of_its_own(), torch.rand(128), torch.zeros(128)

    def launch() -> object:
        return kernel[(1,)](x, out, 128, 2.0, BLOCK=128)
    launches(by_triton, launch)
    assert launches(by_triton, launch) == 0
    with monkeypatch.context() as patch:
        patch.setenv("TRITON_SPIRV_CHECK", "bounds")
        assert launches(by_triton, launch) > 0
        with pytest.raises(CheckError):
            kernel[(1,)](x[:64].clone(), out, 128, 2.0, BLOCK=128)
    assert launches(by_triton, launch) == 0


def test_tensors_without_memory_of_their_own(by_triton) -> None:
    """Nested ones are launched, sparse ones refused, as by Triton."""
    kernel, x, out = kernel_of_its_own(), torch.rand(16), torch.zeros(16)
    launches(by_triton, lambda: kernel[(1,)](x, out, 16, 2.0, BLOCK=16))
    nested = torch.nested.nested_tensor([torch.rand(8), torch.rand(8)])
    kernel[(1,)](nested, out, 16, 2.0, BLOCK=16)
    assert torch.equal(out, 2 * torch.cat(list(nested.unbind())))
    with pytest.raises(LaunchError, match="layout"):
        kernel[(1,)](x.to_sparse(), out, 16, 2.0, BLOCK=16)


def test_switches_of_the_kernel_and_of_triton(by_triton, monkeypatch) -> None:
    kernel, x, out, seen = kernel_of_its_own(), torch.rand(16), torch.zeros(16), []

    def launch() -> object:
        return kernel[(1,)](x, out, 16, 2.0, BLOCK=16)
    launches(by_triton, launch)
    kernel.pre_run_hooks = [lambda *given, **options: seen.append(given)]
    launch()
    assert len(seen) == 1
    kernel.pre_run_hooks = []
    before = launch()
    kernel.debug = True
    assert launch() is not before
    kernel.debug = None
    assert launch() is before
    with monkeypatch.context() as patch:
        patch.setattr(knobs, "runtime", knobs.runtime.copy())
        knobs.runtime.launch_exit_hook.add(seen.append)
        launch()
        assert len(seen) == 2
        knobs.runtime.launch_exit_hook.remove(seen.append)
    with monkeypatch.context() as patch:
        patch.setattr(knobs.runtime.launch_enter_hook, "calls", [seen.append])
        launch()
    assert len(seen) == 3
    assert launches(by_triton, launch) == 0
