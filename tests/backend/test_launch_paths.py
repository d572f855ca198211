"""Bound launches and replays of graphs beside the ordinary launch of the same kernel and arguments: the same
memory afterwards, or the same error."""

from __future__ import annotations

import gc
import inspect
import random
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
import triton_spirv
from triton import knobs
from triton.runtime import jit
from triton.runtime.jit import JITFunction
from triton_spirv.checking import CheckError
from triton_spirv.errors import LaunchError
from triton_spirv_backend import repeated

Arguments = Callable[[], list[Any]]


@triton.jit
def annotated_kernel(n: tl.int64, x, a: tl.float32, out, flag: tl.int1, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * a
    tl.store(out + i, tl.where(flag, value, -value), mask=i < n)


@triton.jit
def scale_kernel(x, out, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, (tl.load(x + i, mask=i < n) * a).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def programs_kernel(out):
    place = tl.program_id(0) + 1000 * tl.program_id(1) + 1_000_000 * tl.program_id(2)
    tl.atomic_add(out, 1)
    tl.atomic_add(out + 1, place)


@triton.jit
def mirror_kernel(x, out, n, BLOCK: tl.constexpr):
    """Reads what it has written, where its arguments overlap."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0) + 1, mask=i < n)
    back = tl.load(x + (BLOCK - 1 - i), mask=BLOCK - 1 - i < n, other=0)
    tl.store(out + i, back + tl.load(out + i, mask=i < n), mask=i < n)


def outcome(launch: Callable[..., object], arguments: Sequence[Any]) -> tuple[object, ...]:
    """The error, or what is in the memory of the arguments."""
    try:
        launch(*arguments)
    except Exception as error:
        return type(error), str(error).partition("\n")[0]
    return tuple(repr(one.tolist()) for one in arguments if hasattr(one, "tolist"))


#: of the CPU device; a GPU has its own sizes of sub-groups
TARGETS = ("", "simt", pytest.param("simt8", marks=pytest.mark.cpu_device("sub-groups of 8")), "simt32")


@pytest.fixture(autouse=True)
def binds_at_once(monkeypatch) -> None:
    """Launches that are repeated once are bound."""
    monkeypatch.setattr(repeated, "AFTER", 0)


def compare(kernel: Any, grid: Any, bound_with: Arguments, called_with: Arguments, **keywords: Any) -> None:
    """Each function makes the same arguments anew."""
    def ordinary(*arguments: Any) -> None:
        JITFunction.run.__wrapped__(kernel, *arguments, grid=grid, warmup=False, **keywords)

    def again(*arguments: Any) -> None:
        kernel[grid](*arguments, **keywords)

    def twice(*arguments: Any) -> None:
        ordinary(*arguments)
        ordinary(*arguments)

    def replayed(*arguments: Any) -> None:
        with triton_spirv.graph() as graph:
            ordinary(*arguments)
        graph.replay()

    bound = triton_spirv.bind(kernel, grid, *bound_with(), **keywords)
    expected = outcome(ordinary, called_with())
    for _ in range(3):
        assert outcome(bound, called_with()) == expected
    assert outcome(replayed, called_with()) == outcome(twice, called_with())
    outcome(again, bound_with())
    for _ in range(3):
        assert outcome(again, called_with()) == expected


NUMBERS = (1, 2, 16, 17, 0, -16, True, 2.0, 1e39, float("nan"), 1 << 31, 1 << 40, 1 << 63, 1 << 64, None,
           np.int64(3), np.float64(2.5), tl.constexpr(4), "text")


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("first", (1, 2, 16, 1.0, True, 1 << 40), ids=repr)
def test_annotated_numbers(first, number) -> None:
    """The annotation says the type, and 1 is no constant then."""
    def arguments(n: Any = 99, a: Any = 2.0, flag: Any = True) -> list[Any]:
        return [n, torch.arange(128.0), a, torch.zeros(128), flag]

    for name in ("a", "flag"):
        compare(annotated_kernel, (2,), lambda: arguments(**{name: first}),  # noqa: B023
                lambda: arguments(**{name: number}), BLOCK=64)  # noqa: B023
    if isinstance(first, int) and not (isinstance(number, int) and number > 128):
        compare(annotated_kernel, (2,), lambda: arguments(n=first), lambda: arguments(n=number), BLOCK=64)


def test_annotated_numbers_are_bound_launches(monkeypatch) -> None:
    x, out = torch.rand(128), torch.zeros(128)
    bound = triton_spirv.bind(annotated_kernel, (1,), 99, x, 1, out, False, BLOCK=128)
    for n, a in ((77, 3), (96, 1), (0, 2), (1 << 40, 5)):
        bound(n, x, a, out.zero_(), True)
        expected = torch.where(torch.arange(128) < n, x * a, 0)
        assert torch.equal(out, expected) and not bound.why_ordinary
    bound(99, x, 2.0, out, True)
    assert "a is not as in bind" in bound.why_ordinary and torch.equal(out[:99], 2 * x[:99])


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("first", (1, 3, 16, 2.0, True, 1 << 40), ids=repr)
def test_numbers(first, number) -> None:
    compare(scale_kernel, (2,), lambda: [torch.arange(128.0), torch.zeros(128), 100, first],
            lambda: [torch.arange(128.0), torch.zeros(128), 100, number], BLOCK=64)


MEMORY = {
    "offset": lambda: torch.arange(200.0)[1:129], "double": lambda: torch.arange(128.0).double(),
    "transposed": lambda: torch.arange(128.0).view(8, 16).T, "parameter": lambda: torch.nn.Parameter(
        torch.arange(128.0), requires_grad=False), "empty": lambda: torch.empty(0),
    "negated": lambda: torch._neg_view(torch.arange(128.0)), "meta": lambda: torch.empty(128, device="meta"),
    "array": lambda: triton_spirv.asarray(np.arange(128, dtype=np.float32)),
    "numpy": lambda: np.arange(128, dtype=np.float32), "none": lambda: None, "number": lambda: 5,
    "reinterpreted": lambda: triton.reinterpret(torch.arange(128, dtype=torch.int32), tl.float32),
}


@pytest.mark.parametrize("place", (0, 1))
@pytest.mark.parametrize("name", MEMORY)
def test_memory(name, place) -> None:
    def arguments(*other: Any) -> list[Any]:
        made = [torch.arange(128.0), torch.zeros(128)]
        made[place:place + len(other)] = other
        return [*made, 0 if name == "empty" else 100, 2.0]

    compare(scale_kernel, (2,), arguments, lambda: arguments(MEMORY[name]()), BLOCK=64)


GRIDS = ((np.uint8(100),), (np.int8(100), 2), (np.uint8(16), np.uint8(16)), (2, np.uint8(200), np.uint8(2)),
         (torch.tensor(100, dtype=torch.uint8),), (True, 3), [3, 2], (np.int64(0),), (-1,), (4.0,), (None,),
         (), lambda _: (np.uint8(100), 3), lambda _: ())


@pytest.mark.parametrize("target", TARGETS)
def test_grids(target, monkeypatch) -> None:
    """Sizes of numpy have few bits: times the lanes of a work-group, or times each other, they wrap."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    programs_kernel.device_caches.clear()
    try:
        for grid in GRIDS:
            compare(programs_kernel, grid, lambda: [torch.zeros(2, dtype=torch.int64)],
                    lambda: [torch.zeros(2, dtype=torch.int64)])
            sizes = grid(None) if callable(grid) else grid
            if all(hasattr(size, "__index__") and size > 0 for size in sizes) and sizes:
                out, expected = torch.zeros(2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
                programs_kernel[grid](out)
                programs_kernel[tuple(map(int, sizes))](expected)
                assert torch.equal(out, expected) and out[0] == np.prod([int(size) for size in sizes])
    finally:
        programs_kernel.device_caches.clear()


@pytest.mark.parametrize("target", TARGETS)
def test_overlapping_arguments(target, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    mirror_kernel.device_caches.clear()

    def arguments(first: int, second: int) -> list[Any]:
        memory = torch.arange(256.0)
        return [memory[first:first + 64], memory[second:second + 64], 60, memory][:3]

    try:
        for first, second in ((0, 64), (0, 0), (0, 16), (16, 0), (1, 0), (0, 1), (63, 0), (128, 100)):
            compare(mirror_kernel, (1,), lambda: arguments(0, 64),
                    lambda: arguments(first, second), BLOCK=64)  # noqa: B023
    finally:
        mirror_kernel.device_caches.clear()


def test_arguments_of_bind_are_not_kept() -> None:
    x, out, kept = torch.rand(128), torch.zeros(128), torch.rand(128)
    bound = triton_spirv.bind(scale_kernel, (2,), x, out, 128, 2.0, BLOCK=64)
    other = triton_spirv.bind(scale_kernel, (2,), kept, out=out, n=128, a=2.0, BLOCK=64)
    alive = [weakref.ref(one) for one in (x, kept, out)]
    result = torch.zeros(128)
    del x, kept, out
    gc.collect()
    assert [one() is None for one in alive] == [True, True, False]  # `out` was given by keyword
    bound(torch.ones(128), result, 128, 2.0)
    other(torch.ones(128))
    assert torch.equal(result, torch.full((128,), 2.0)) and torch.equal(alive[2](), result)


def test_the_switch_is_turned() -> None:
    x, out = torch.rand(128), torch.zeros(128)
    bound = triton_spirv.bind(scale_kernel, (2,), x, out, 128, 2.0, BLOCK=64)
    try:
        triton_spirv.disable()
        with pytest.raises(RuntimeError, match="active drivers"):
            bound(x, out, 128, 2.0)
    finally:
        triton_spirv.enable()
    assert not out.any()
    bound(x, out, 128, 2.0)
    bound.why_ordinary = ""
    bound(x, out, 128, 3.0)
    assert torch.equal(out, 3 * x) and not bound.why_ordinary


@pytest.mark.skipif(not hasattr(knobs.runtime, "add_stages_inspection_hook"), reason="this Triton has none")
def test_a_hook_of_stages_sees_each_launch(monkeypatch) -> None:
    x, out, asked = torch.rand(128), torch.zeros(128), []
    bound = triton_spirv.bind(scale_kernel, (2,), x, out, 128, 2.0, BLOCK=64)

    def hook(*given: Any) -> tuple[str, str] | None:
        asked.append(given)
        return None if given else ("key", "hash")

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", hook)
    bound(x, out, 128, 2.0)
    assert "hook" in bound.why_ordinary and torch.equal(out, 2 * x)
    assert asked or "inspection_hook" not in inspect.getsource(jit)  # Triton 3.6 asks when it compiles


def test_a_storage_that_came_back_smaller() -> None:
    """To the same address: as an allocator may give it."""
    memory = torch.arange(128.0)
    x, out = torch.empty(0), torch.zeros(128)
    x.set_(memory.untyped_storage(), 0, (128,))
    with triton_spirv.graph() as graph:
        scale_kernel[(2,)](x, out, 128, 2.0, BLOCK=64)
    (found, _) = graph._recorder.memory.values()
    assert found.storage.nbytes() == found.size == 512
    graph.replay()
    object.__setattr__(found, "size", 516)  # as if it had been so large
    with pytest.raises(LaunchError, match="make the graph again"):
        graph.replay()


@pytest.mark.cpu_device("checked mode needs the memory of the host")
def test_checked_mode_names_a_storage_that_is_too_small() -> None:
    x, out = torch.ones(128), torch.zeros(128)
    x.untyped_storage().resize_(4 * 100)
    with triton_spirv.checked("bounds"), pytest.raises(CheckError, match=r"x\[100\]"):
        scale_kernel[(2,)](x, out, 128, 2.0, BLOCK=64)


@triton.jit
def sum_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@dataclass(frozen=True)
class Call:
    """A launch of one of two kernels, and the same in numpy; integers stay small, and exact."""

    arrays: tuple[Any, Any, Any]
    n: int
    factor: float | None

    @property
    def arguments(self) -> list[Any]:
        x, y, out = self.arrays
        return [x, y, out, self.n] if self.factor is None else [x, out, self.n, self.factor]

    @property
    def kernel(self) -> Any:
        return sum_kernel if self.factor is None else scale_kernel

    def compute(self, memory: dict[int, np.ndarray]) -> None:
        x, y, out = (memory[id(array)][:self.n] for array in self.arrays)
        out[:] = x + y if self.factor is None else x * np.float32(self.factor)


def in_a_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


@pytest.mark.parametrize("seed", range(2))
def test_any_order_of_calls(seed) -> None:
    """Launches, bound launches and replays on the same arrays, in several threads; arrays die meanwhile."""
    choose = random.Random(seed)

    def fresh() -> Any:
        memory = torch.tensor([float(choose.randrange(-4, 5)) for _ in range(104)])
        offset = choose.choice([0, 0, 1, 4])
        return memory[offset:][:96] if choose.random() < 0.7 else triton_spirv.asarray(memory.numpy()[:96])

    def call() -> Call:
        arrays = choose.choice(pool), choose.choice(pool), choose.choice(pool)
        return Call(arrays, choose.choice([96, 95, 0]), choose.choice([None, -1.0, 2.0]))

    def expect(calls: Sequence[Call], act: Callable[[], object]) -> None:
        arrays = {id(array): array for one in calls for array in one.arrays} | {id(one): one for one in pool}
        for array in arrays.values():
            view = array.numpy()
            np.copyto(view, np.clip(view, -8, 8))
        memory = {name: array.numpy().copy() for name, array in arrays.items()}
        for one in calls:
            one.compute(memory)
        choose.choice([lambda: act(), lambda: in_a_thread(act)])()
        for name, array in arrays.items():
            np.testing.assert_array_equal(array.numpy(), memory[name])

    def keep(calls: Sequence[Call]) -> None:
        with triton_spirv.graph() as graph:
            for one in calls:
                one.kernel[(2,)](*one.arguments, BLOCK=64)
        graphs.append((calls, graph))

    pool = [fresh() for _ in range(4)]
    bound: list[tuple[bool, Callable[..., None]]] = []
    graphs: list[tuple[list[Call], triton_spirv.Graph]] = []
    for _ in range(200):
        what, one = choose.random(), call()
        if what < 0.1:
            launch = triton_spirv.bind(one.kernel, (2,), *one.arguments, BLOCK=64)
            bound.append((one.factor is None, launch))
        elif what < 0.5 and bound:
            sums, launch = choose.choice(bound)
            one = replace(one, factor=None if sums else one.factor or 3.0)
            expect([one], lambda: launch(*one.arguments))  # noqa: B023
        elif what < 0.6:
            calls = [call() for _ in range(choose.randrange(1, 4))]
            expect(calls, lambda: keep(calls))  # noqa: B023
        elif what < 0.8 and graphs:
            calls, graph = choose.choice(graphs)
            expect(calls, graph.replay)
        elif what < 0.9:
            pool[choose.randrange(len(pool))] = fresh()
            del bound[8:], graphs[6:]
            gc.collect()
        else:
            expect([one], lambda: one.kernel[(2,)](*one.arguments, BLOCK=64))  # noqa: B023
    assert len(bound) > 4 and len(graphs) > 2
