"""driver.py, launcher.py, interface.py: how Triton launches, measures and asks about the device."""

from __future__ import annotations

import os
import re
import threading
import time
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from counting import calls
from triton_spirv import asarray, checking, zeros
from triton_spirv.errors import DeviceError, LaunchError, UsageError
from triton_spirv.runtime import devices, loader
from triton_spirv_backend import interface, launcher, targets
from versions import has_sign


@triton.jit
def scale_by(x, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def sum_of_tuple(out, values, flag, BLOCK: tl.constexpr):
    total = values[0] + values[1][0] + values[1][1]
    if flag is not None:
        total += flag
    tl.store(out, total)


@pytest.mark.cpu_device("what it reports")
def test_device_facts() -> None:
    driver = triton.runtime.driver.active
    assert driver.get_current_device() == "cpu" and driver.get_current_stream("cpu") == 0
    target = driver.get_current_target()
    assert (target.backend, target.warp_size) == ("cpu", 32)
    properties = driver.utils.get_device_properties("cpu")
    for name in ("max_shared_mem", "multiprocessor_count", "warpSize", "max_num_regs"):
        assert properties[name] > 0
    assert driver.map_python_to_cpp_type("*fp32") == "void*"
    assert driver.map_python_to_cpp_type("i32") == "int32_t"


@pytest.mark.cpu_device("whose name it is")
def test_name_of_the_device_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what launches ask for; they look into os.environ, and ask it where that cannot be."""
    name = triton.runtime.driver.active.get_current_device
    for variable in (targets.VARIABLE, checking.VARIABLE, devices.VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    for _ in range(2):
        assert name() == "cpu"
        monkeypatch.setenv(checking.VARIABLE, " race,bounds")
        assert name() == "cpu (check=bounds,race)"
        with triton_spirv.checked("uninit"):
            assert name() == "cpu (check=uninit)"
        with triton_spirv.checked(""):
            assert name() == "cpu"
        monkeypatch.setenv(targets.VARIABLE, "cpu")
        monkeypatch.setenv(devices.VARIABLE, " CPU ")
        assert name() == "cpu (target=cpu) (check=bounds,race)"
        for variable in (targets.VARIABLE, checking.VARIABLE, devices.VARIABLE):
            monkeypatch.delenv(variable)
        monkeypatch.setattr(os, "environ", dict(os.environ))  # not CPython's own kind


def test_active_torch_device() -> None:
    torch = pytest.importorskip("torch")
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cpu")


@pytest.mark.parametrize("factor", [2.0, 3, True, 1])
def test_scalars_and_constants(factor: Any) -> None:
    x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
    scale_by[(triton.cdiv(100, 32),)](x, out, factor, 100, BLOCK=32)
    np.testing.assert_array_equal(out.numpy(), x.numpy() * np.float32(factor))


@pytest.mark.parametrize("flag", [None, 5, 1])
def test_tuples_and_none(flag: int | None) -> None:
    out = zeros(1, "int64")
    sum_of_tuple[(1,)](out, (10, (20, 1 << 40)), flag, BLOCK=1)
    assert out.numpy()[0] == 30 + (1 << 40) + (flag or 0)


def test_unsigned_scalars() -> None:
    out = zeros(1, "uint64")
    for value in ((1 << 63) + 7, (1 << 64) - 100):
        sum_of_tuple[(1,)](out, (value, (0, 0)), None, BLOCK=1)
        assert out.numpy()[0] == value


def test_callable_and_short_grids() -> None:
    x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
    scale_by[lambda meta: (triton.cdiv(100, meta["BLOCK"]), 1, 1)](x, out, 2.0, 100, BLOCK=32)
    assert out.numpy()[99] == 198
    out.numpy()[:] = 0
    assert scale_by[(0,)](x, out, 2.0, 100, BLOCK=32) is not None
    assert not out.numpy().any()
    with pytest.raises(LaunchError, match="x must lie between"):
        scale_by[(-1,)](x, out, 2.0, 100, BLOCK=32)
    for grid, message in ((("1",), "grid x: '1' is a str"), ((1, None), "grid y: None is a NoneType"),
                          ((1.5,), "grid x: 1.5 is a float"), ((0, 2, "3"), "grid z: '3' is a str")):
        with pytest.raises(LaunchError, match=re.escape(f"{message}; a grid holds integers")):
            scale_by[grid](x, out, 2.0, 100, BLOCK=32)
    assert not out.numpy().any()


def test_compiled_kernels_can_be_launched() -> None:
    x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
    kernel = scale_by.warmup(x, out, 2.0, 100, BLOCK=32, grid=(1,))
    kernel[(4, 1, 1)](x, out, 2.0, 100, 32)
    assert out.numpy()[99] == 198


def test_read_only_output() -> None:
    memory = np.zeros(100, np.float32)
    memory.flags.writeable = False
    with pytest.raises(LaunchError, match=r"scale_by, argument 1 .*read-only"):
        scale_by[(4,)](zeros(100), asarray(memory), 2.0, 100, BLOCK=32)


def test_pyopencl_arrays() -> None:
    cl = loader.pyopencl()
    import pyopencl.array

    device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    x = pyopencl.array.to_device(queue, np.arange(100, dtype=np.float32))
    out = pyopencl.array.zeros_like(x)
    for factor in (2.0, 3.0):
        scale_by[(4,)](asarray(x), asarray(out), factor, 100, BLOCK=32)
        np.testing.assert_array_equal(out.get(), factor * np.arange(100, dtype=np.float32))


def test_threads() -> None:
    """Threads launch through Triton at the same time; the first launch compiles."""
    failures: list[int] = []

    def work(number: int) -> None:
        x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
        for _ in range(50):
            scale_by[(4,)](x, out, float(number), 100, BLOCK=32)
            if not np.array_equal(out.numpy(), x.numpy() * number):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_launch_hooks() -> None:
    seen: list[tuple[str, str]] = []
    knobs = triton.knobs.runtime

    def enter(metadata: Any) -> None:
        seen.append(("enter", metadata.get()["name"]))

    def leave(metadata: Any) -> None:
        seen.append(("exit", metadata.get()["name"]))

    x, out = zeros(32), zeros(32)
    knobs.launch_enter_hook.add(enter)
    knobs.launch_exit_hook.add(leave)
    try:
        scale_by[(1,)](x, out, 2.0, 32, BLOCK=32)
    finally:
        knobs.launch_enter_hook.remove(enter)
        knobs.launch_exit_hook.remove(leave)
    scale_by[(1,)](x, out, 2.0, 32, BLOCK=32)
    assert seen == [("enter", "scale_by"), ("exit", "scale_by")]


def test_selection_of_arguments() -> None:
    assert launcher.selector(["*fp32", "i32"]) is None
    arguments = ("a", "b", "c", "d")
    for kept in ("ac", "b", ""):
        signature = ["i32" if letter in kept else "constexpr" for letter in arguments]
        select = launcher.selector(signature)
        assert select is not None and list(select(arguments)) == list(kept)
    select = launcher.selector([("i32", ("constexpr", "*fp16")), "constexpr", "i8"])
    assert select is not None and list(select(((1, (2, 3)), 4, 5))) == [1, 3, 5]


def test_descriptors_are_taken_apart() -> None:
    facts = {"base": "base", "shape": [8, 4], "strides": [4, 1], "block_shape": [2, 2], "padding": "nan"}
    select = launcher.selector(["tensordesc<fp32[2, 2]>", "i32"])
    assert select is not None
    assert list(select((SimpleNamespace(**facts), 7))) == ["base", 8, 4, 4, 1, True, 8, 4, 4, 1, 7]
    with_rounding = SimpleNamespace(**facts, round_f32_to_tf32=False)
    assert list(select((with_rounding, 7))) == ["base", 8, 4, 4, 1, True, False, 8, 4, 4, 1, 7]
    with pytest.raises(LaunchError, match="compiled for a tensor descriptor"):
        list(select((3, 7)))


@triton.jit
def copy_tile(source, target, M: tl.constexpr, N: tl.constexpr):
    tile = source.load([tl.program_id(0) * M, 0])
    target.store([tl.program_id(0) * M, 0], tile + 1)


def test_host_descriptors() -> None:
    descriptors = pytest.importorskip("triton.tools.tensor_descriptor")
    x, out = asarray(np.arange(60 * 16, dtype=np.float32).reshape(60, 16)), zeros((60, 16))
    source, target = (descriptors.TensorDescriptor.from_tensor(array, [8, 16]) for array in (x, out))
    copy_tile[(8,)](source, target, M=8, N=16)
    np.testing.assert_array_equal(out.numpy(), x.numpy() + 1)


def test_events_and_streams() -> None:
    first, second = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    began = time.perf_counter()
    first.record()
    time.sleep(0.01)
    second.record(interface.current_stream())
    passed = 1e3 * (time.perf_counter() - began)
    assert 5 < first.elapsed_time(second) <= passed + 1 and first.query()
    with pytest.raises(RuntimeError, match="has not been recorded"):
        first.elapsed_time(interface.Event())
    with interface.stream(interface.Stream()), interface.device("cpu"), interface.Stream() as stream:
        stream.synchronize()
        assert isinstance(stream.record_event(), interface.Event)
    interface.synchronize()
    assert interface.current_device() == "cpu"
    assert interface.get_device_properties().multi_processor_count >= 1


def test_measuring() -> None:
    x, out = zeros(64), zeros(64)
    driver = triton.runtime.driver.active
    measure = driver.get_benchmarker()
    milliseconds = measure(lambda: scale_by[(1,)](x, out, 2.0, 64, BLOCK=64), warmup=1, rep=2)
    assert 0 < milliseconds < 100
    cache = driver.get_empty_cache_for_benchmark()
    driver.clear_cache(cache)


def test_autotuner_skips_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton_spirv.compiler
    from triton_spirv.errors import ResourceError

    compile = triton_spirv.compiler.compile
    tried: list[int] = []

    def choosy(text: str, target: Any, *, num_warps: int, **options: Any) -> Any:
        tried.append(num_warps)
        if num_warps != 2:
            raise ResourceError(2, 1, "private memory")
        return compile(text, target, num_warps=num_warps, **options)

    monkeypatch.setattr(triton_spirv.compiler, "compile", choosy)
    configs = [triton.Config({"BLOCK": 32}, num_warps=count) for count in (1, 2, 4)]

    def quick(function: Any, quantiles: Any) -> list[float]:
        function()
        return [1.0, 1.0, 1.0]

    tuned = triton.autotune(configs, key=["n"], do_bench=quick)(scale_by)
    x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
    tuned[(4,)](x, out, 2.0, 100)
    assert set(tried) == {1, 2, 4} and tuned.best_config.num_warps == 2
    assert out.numpy()[99] == 198


@triton.jit
def with_a_mode(mode: tl.constexpr, x, pair, out):
    tl.store(out, tl.load(x) + pair[0])


@pytest.mark.parametrize(("value", "advice"), [
    ([1.0, 2.0], "make it an array first"), ({}, "make it an array first"),
    (np.ones(4), "pass triton_spirv.asarray(x)"), (memoryview(b"abcd"), "pass triton_spirv.asarray(x)"),
    (np.float32(3), "pass a number: x.item()"), ("text", "text is for parameters that are tl.constexpr"),
])
def test_what_triton_cannot_take_names_the_way_out(value: Any, advice: str) -> None:
    out, kind = zeros(1), type(value).__name__
    start = "failed to specialize argument of type: "
    named_type = rf"{start}(numpy\.)?{kind}"  # Triton 3.6 has the module, too
    for arguments, named in (((value, (1,)), {}), ((), {"x": value, "pair": (1,)})):
        with pytest.raises(TypeError, match=named_type + re.escape(f" (argument x); {advice}")):
            with_a_mode[(1,)]("mode", *arguments, **named, out=out)
    inside = re.escape(f"{start}tuple (argument pair, a {kind} in it); {advice}")
    with pytest.raises(TypeError, match=inside):
        with_a_mode[(1,)]("mode", zeros(1), (value,), out)


def test_elements_without_a_type_are_named() -> None:
    torch = pytest.importorskip("torch")
    complex_numbers = torch.ones(1, dtype=torch.complex64)
    for arguments, name in (((complex_numbers, (1,)), "x"), ((zeros(1), (complex_numbers,)), "pair")):
        with pytest.raises(LaunchError, match=f"^argument {name}: kernels know no element type 'complex64'"):
            with_a_mode[(1,)]("mode", *arguments, zeros(1))


@triton.jit
def with_a_constant(out, x, C: tl.constexpr):
    tl.store(out, tl.load(x) * C)
    if C is True:
        tl.store(out, 5.0)


def test_constants_that_are_equal_are_told_apart() -> None:
    """2**24 + 1 times 1.0 is a float, which rounds it. 0 times -0.0 is -0.0."""
    x = triton_spirv.asarray(np.array([2**24 + 1, 0], np.int32))
    cases = [(1, 2.0**24 + 1), (1.0, 2.0**24), (True, 5.0), (1, 2.0**24 + 1), (1.0, 2.0**24)]
    bound = triton_spirv.bind(with_a_constant, (1,), zeros(1, np.float64), x, 1)
    zero = triton_spirv.bind(with_a_constant, (1,), zeros(1, np.float64), zeros(1), 0.0)
    for launch in (with_a_constant[(1,)], bound):
        for constant, expected in cases:
            out = np.zeros(1)
            launch(triton_spirv.asarray(out), x, constant)
            assert out[0] == expected, constant
    for launch in (with_a_constant[(1,)], zero):
        for constant in (0.0, -0.0, 0.0, 0):
            out = np.ones(1)
            launch(triton_spirv.asarray(out), zeros(1), constant)
            assert out[0] == 0 and np.signbit(out[0]) == has_sign(constant), constant


class Pair(NamedTuple):
    scale: Any
    power: Any


class Swapped(NamedTuple):
    power: Any
    scale: Any


@triton.jit
def with_constants_in_a_tuple(out, x, constants):
    first: tl.constexpr = constants[0]
    inner: tl.constexpr = constants[1][0]
    tl.store(out, tl.load(x) * first)
    tl.store(out + 1, tl.load(x) * inner)


@triton.jit
def with_a_tuple_of_constants(out, x, C: tl.constexpr):
    tl.store(out, tl.load(x) * C[0])
    tl.store(out + 1, tl.load(x) * C[1][0])


@triton.jit
def with_fields(out, pair):
    tl.store(out, pair.scale * 10.0 + pair.power)


@pytest.mark.parametrize("kernel", [with_constants_in_a_tuple, with_a_tuple_of_constants])
def test_constants_in_tuples_are_told_apart(kernel) -> None:
    """As test_constants_that_are_equal_are_told_apart, at both depths."""
    whole, zero = (triton_spirv.asarray(np.full(1, value, np.int32)) for value in (2**24 + 1, 0))
    inside = (lambda *values: values) if kernel is with_a_tuple_of_constants else \
        (lambda *values: tuple(map(tl.constexpr, values)))
    for constant, expected in [(1, 2.0**24 + 1), (1.0, 2.0**24), (1, 2.0**24 + 1)]:
        for at, (first, second) in enumerate([(constant, 3), (3, constant)]):
            out = np.zeros(2)
            constants = *inside(first), inside(second)
            kernel[(1,)](triton_spirv.asarray(out), whole, constants)
            assert out[at] == expected, constants
    for constant in (0.0, -0.0, 0.0):
        out = np.ones(2)
        kernel[(1,)](triton_spirv.asarray(out), zero, (*inside(constant), inside(constant)))
        assert not out.any() and (np.signbit(out) == has_sign(constant)).all(), constant


def test_constants_that_are_wrapped_are_told_apart() -> None:
    x, out = triton_spirv.asarray(np.array([2**24 + 1], np.int32)), np.zeros(1)
    for constant, expected in [(1, 2.0**24 + 1), (1.0, 2.0**24), (np.float64(1), 2.0**24), (1, 2.0**24 + 1)]:
        with_a_constant[(1,)](triton_spirv.asarray(out), x, tl.constexpr(constant))
        assert out[0] == expected, constant


def test_tuples_with_other_fields_are_told_apart() -> None:
    out = zeros(1)
    for pair, expected in [(Pair(2.0, 3.0), 23), (Swapped(2.0, 3.0), 32), (Pair(2.0, 3.0), 23)]:
        with_fields[(1,)](out, pair)
        assert out.numpy()[0] == expected


def test_arguments_of_a_compiled_kernel_are_counted() -> None:
    """As of a function in Python; constants at the end may be left out."""
    x, out = zeros(64), zeros(64)
    scale = scale_by[(1,)](x, out, 2.0, 64, BLOCK=64)
    tuples = sum_of_tuple[(1,)](out, (1.0, (2.0, 3.0)), None, BLOCK=16)
    for kernel, given, message in [
            (scale, (x,), r"scale_by\(\) missing 3 required positional arguments: 'out', 'factor' and 'n'"),
            (scale, (x, out), r"scale_by\(\) missing 2 required positional arguments: 'factor' and 'n'"),
            (scale, (x, out, 2.0), r"scale_by\(\) missing 1 required positional argument: 'n'"),
            (scale, (x, out, 2.0, 64, 64, 1), r"scale_by\(\) takes 5 positional arguments but 6 were given"),
            (tuples, (out,), r"sum_of_tuple\(\) missing 1 required positional argument: 'values'")]:
        with pytest.raises(TypeError, match=f"^{message}$"):
            kernel[(1, 1, 1)](*given)
    for given in (x, out, 3.0, 64), (x, out, 3.0, 64, 64):
        scale[(1, 1, 1)](*given)


def test_other_arguments_are_read_as_before() -> None:
    out = zeros(1)
    with pytest.raises(TypeError, match=r"failed to specialize argument of type: object$"):
        with_a_mode[(1,)]("mode", object(), (1,), out)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        with_a_mode[(1,)]("mode", zeros(1), (1,))
    with_a_mode[(1,)]("mode", asarray(np.ones(1, np.float32)), (2,), out)
    assert out.numpy()[0] == 3


@pytest.mark.cpu_device("its launches copy no memory")
def test_jit_launch_overhead() -> None:
    """What we add to a launch through Triton, in calls."""
    x, out = zeros(64), zeros(64)
    kernel = scale_by[(1,)](x, out, 2.0, 64, BLOCK=64)
    run, arguments = kernel.run, (x, out, 2.0, 64, 64)

    def launch() -> None:
        run(1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, *arguments)

    for _ in range(10):
        launch()
    assert calls(launch) <= 8


def test_a_sparse_tensor_is_refused_by_name() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(LaunchError, match=r"argument x: a tensor of layout torch\.sparse_coo is not"):
        scale_by[(1,)](torch.eye(5).to_sparse(), zeros(5), 2.0, 5, BLOCK=8)


def test_none_for_a_pointer_is_said() -> None:
    """Triton says that a NoneType has no dtype."""
    with pytest.raises(triton.CompilationError, match=r"argument out is None: .*'if out is not None:'"):
        scale_by[(1,)](zeros(5), None, 2.0, 5, BLOCK=8)
    with pytest.raises(triton.CompilationError, match="arguments x, out are None"):
        scale_by[(1,)](None, None, 2.0, 5, BLOCK=8)


def test_cache_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(UsageError, match=r"cache folder /dev/null/cache cannot be used: .*TRITON_CACHE_DIR"):
        scale_by[(1,)](zeros(5), zeros(5), 2.0, 5, BLOCK=4)


@pytest.mark.cpu_device("targets of it")
def test_target_is_obeyed_in_a_running_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a kernel that has been launched before, and by a bound launch."""
    x, out = asarray(np.arange(8, dtype=np.float32)), zeros(8)
    monkeypatch.delenv("TRITON_SPIRV_TARGET", raising=False)
    bound = triton_spirv.bind(scale_by, (1,), x, out, 2.0, 8, BLOCK=8)
    seen = []
    for name in ("", "cpu-simt", "host", "simt8"):
        monkeypatch.setenv("TRITON_SPIRV_TARGET", name)
        out.numpy()[:] = 0
        seen.append(scale_by[(1,)](x, out, 2.0, 8, BLOCK=8).metadata.target.arch)
        assert out.numpy().tolist() == (2 * x.numpy()).tolist()
        bound(x, out, 2.0, 8)
    assert seen[0] == seen[2] and seen[1::2] == ["cpu-simt", "cpu-simt8"]
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "abacus")
    for launch in (lambda: scale_by[(1,)](x, out, 2.0, 8, BLOCK=8), lambda: bound(x, out, 2.0, 8)):
        with pytest.raises(DeviceError, match="TRITON_SPIRV_TARGET: unknown target 'abacus'"):
            launch()


def test_a_target_of_another_interface_is_not_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "vulkan")
    scale_by.warmup(triton.MockTensor("fp32"), triton.MockTensor("fp32"), 2.0, 8, BLOCK=8, grid=(1,))
    with pytest.raises(DeviceError, match=r"TARGET=vulkan compiles kernels for vulkan, .*cannot"):
        scale_by[(1,)](zeros(8), zeros(8), 2.0, 8, BLOCK=8)


@pytest.mark.parametrize("target", ["cpu", "host", "cpu:x86_64-v3"])
def test_a_target_of_a_cpu_is_not_launched_on_a_gpu(monkeypatch: pytest.MonkeyPatch, gpu: str,
                                                    target: str) -> None:
    """It is compiled for, as asked, and a launch is refused by name; the GPU's own target comes back."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", gpu)
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    made = scale_by.warmup(triton.MockTensor("fp32"), triton.MockTensor("fp32"), 2.0, 8, BLOCK=8, grid=(1,))
    assert made.metadata.target.backend == "cpu"
    x, out = asarray(np.arange(8, dtype=np.float32)), zeros(8)
    with pytest.raises(DeviceError, match=rf"TARGET={target} compiles kernels for a CPU, .*be launched "
                                          r"on .*B580"):
        scale_by[(1,)](x, out, 2.0, 8, BLOCK=8)
    monkeypatch.delenv("TRITON_SPIRV_TARGET")
    assert scale_by[(1,)](x, out, 2.0, 8, BLOCK=8).metadata.target.backend == "spirv"
    assert out.numpy().tolist() == (2 * x.numpy()).tolist()
