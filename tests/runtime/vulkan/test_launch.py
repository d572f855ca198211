"""Launches of modules made by hand: arguments, staged memory, errors, threads, the cache of pipelines."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_vulkan import vector_add
from triton_spirv import asarray, empty, zeros
from triton_spirv.errors import DeviceError, LaunchError, ResourceError
from triton_spirv.runtime import binary_cache
from triton_spirv.runtime.vulkan import arrays, program, staging
from triton_spirv.runtime.vulkan.context import Context
from vulkan_launches import kernel, random, wait_for_the_thread

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("passing", ["push", "buffer"])
def test_device_arrays(context: Context, passing: str) -> None:
    x, y = random(1000), random(1000, 1)
    on_device = [arrays.asarray(context, source) for source in (x, y)]
    out = arrays.empty(context, 1000).fill_(-1.0)
    kernel(context, passing).launch(15, 1, 1, (*on_device, out, 960))
    assert (out.numpy()[:960] == (x + y)[:960]).all() and (out.numpy()[960:] == -1).all()


def test_barriers_of_older_devices(context: Context) -> None:
    """Without synchronization2 a barrier is recorded by the first version's call."""
    older = replace(context.device, features=context.device.features - {"synchronization2"})
    opened = Context(older)
    assert len(opened.stream.barrier) == 9
    x = random(1000)
    values, out = arrays.asarray(opened, x), arrays.empty(opened, 1000)
    launched = kernel(opened)
    for _ in range(100):
        launched.launch(16, 1, 1, (values, values, out, 1000))
        launched.launch(16, 1, 1, (out, out, values, 1000))
        out.copy_from(values)
        values.copy_from(arrays.asarray(opened, x))
    assert (out.numpy() == 4 * x).all()


@pytest.mark.parametrize("passing", ["push", "buffer"])
def test_many_launches_keep_their_order(context: Context, passing: str) -> None:
    """More launches than command buffers and parameters of one submission, each reading what the one before
    wrote."""
    launched = kernel(context, passing)
    total, one = zeros(64, device="vulkan"), arrays.asarray(context, np.ones(64, np.float32))
    for _ in range(2500):
        launched.launch(1, 1, 1, (total, one, total, 64))
    assert (total.numpy() == 2500).all()


@pytest.mark.parametrize("form", ["numpy", "torch"])
def test_host_memory_is_staged(context: Context, form: str) -> None:
    """The result is there when the launch returns, and what the kernel does not write is not touched."""
    x, y, out = random(500), random(500, 1), np.full(600, -1, np.float32)
    wrap: Any = asarray if form == "numpy" else torch.from_numpy
    kernel(context).launch(8, 1, 1, (wrap(x), wrap(y), wrap(out), 500))
    assert (out[:500] == x + y).all() and (out[500:] == -1).all()


def test_addresses_before_there_is_an_array(context: Context) -> None:
    """A bare address, or one that a kernel finds in memory, is the host's then: refused by name."""
    opened = Context(context.device)
    launched, x, address = kernel(opened), zeros(1000), zeros(1000).data_ptr()
    with pytest.raises(LaunchError, match=r"argument 1 .* is a bare address; .* pass the array itself"):
        launched.launch(1, 1, 1, (x, address, x, 10))
    other = Context(context.device)
    following = kernel(other, follows="kernel.py:3:9")
    with pytest.raises(LaunchError, match=r"kernel\.py:3:9 follows an address"):
        following.launch(1, 1, 1, (x, x, x, 10))
    for owner, each in ((opened, launched), (other, following)):
        there = arrays.asarray(owner, np.ones(1000, np.float32))
        each.launch(16, 1, 1, (x, there.data_ptr(), x, 1000))
    assert (x.numpy() == 2).all()


def test_overlapping_views_are_one_memory(context: Context) -> None:
    """Views of one storage keep their distance on the device, and travel once."""
    memory = np.arange(256, dtype=np.float32)
    views = [torch.from_numpy(memory[start:stop]) for start, stop in ((0, 100), (64, 128), (120, 256))]
    staged = staging.Staging(context)
    pointers = [staged.add(view, False) for view in views]
    staged.copy_in()
    places = [staged.address(pointer) for pointer in pointers]
    assert [place - places[0] for place in places] == [0, 256, 480] and len(staged._regions) == 1
    apart = staging.Staging(context)
    for view in (views[0], views[2]):
        apart.add(view, True)
    apart.copy_in()
    assert len(apart._regions) == 2


def test_neighbours_in_memory(context: Context) -> None:
    """An argument begins where another ends: each has the address of its own copy."""
    memory = np.arange(256, dtype=np.float32)
    views = [torch.from_numpy(memory[start:stop]) for start, stop in ((64, 128), (128, 192), (0, 64))]
    staged = staging.Staging(context)
    pointers = [staged.add(view, False) for view in views]
    staged.copy_in()
    begins = {begin: copy.address + begin % staging.ALIGNMENT for begin, _, _, copy in staged._regions}
    assert [staged.address(place) for place in pointers] == [begins[pointer] for pointer, _ in pointers]
    end = pointers[1][0] + 256
    assert staged.address((end, end)) == begins[pointers[1][0]] + 256  # of nothing behind the last element
    expected = memory[64:128] + memory[128:192]
    kernel(context).launch(1, 1, 1, (*views, 64))
    assert (memory[:64] == expected).all()


def test_staged_views(context: Context) -> None:
    """x and the result overlap in memory; elements are the same, or apart."""
    memory = np.arange(256, dtype=np.float32)
    expected = memory.copy()
    expected[64:128] += memory[:64]
    x, y = torch.from_numpy(memory[:200]), torch.from_numpy(memory[64:128])
    kernel(context).launch(1, 1, 1, (x, y, torch.from_numpy(memory[64:128]), 64))
    assert (memory == expected).all()


def test_only_what_is_written_travels_back(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = type(context.stream).read

    def counted(self: Any, source: Any, place: int, target: int, size: int) -> None:
        read.append(size)
        original(self, source, place, target, size)

    monkeypatch.setattr(type(context.stream), "read", counted)
    x, y, out = (torch.zeros(100), torch.zeros(200), torch.zeros(300))
    kernel(context).launch(2, 1, 1, (x, y, out, 100))
    assert read == [out.untyped_storage().nbytes()]


def test_null_and_bare_addresses(context: Context) -> None:
    x, out = arrays.asarray(context, random(64)), zeros(64, device="vulkan")
    kernel(context).launch(1, 1, 1, (x.address, x.address, out.data_ptr(), 64))
    assert (out.numpy() == 2 * x.numpy()).all()
    kernel(context).launch(1, 1, 1, (None, None, None, 0))
    context.stream.synchronize()


def test_memory_without_bounds_is_refused(context: Context) -> None:
    """Not a null pointer: the kernel would write there."""
    class Bare:
        is_cpu = True

        def data_ptr(self) -> int:
            return 4096

    with pytest.raises(LaunchError, match=r"argument 0 \(x\): the Bare does not say where its memory begins"):
        kernel(context).launch(1, 1, 1, (Bare(), 0, 0, 64))


def test_empty_grid_launches_nothing(context: Context) -> None:
    out = zeros(64, device="vulkan")
    kernel(context).launch(0, 1, 1, (out, out, out, 64))
    assert (out.numpy() == 0).all()


@pytest.mark.parametrize(("grid", "said"), [
    ((-1, 1, 1), "x must lie between 0 and"), ((1, 1 << 31, 1), "y must lie between 0 and"),
    ((1.5, 1, 1), "a grid holds integers"),
])
@pytest.mark.parametrize("on_device", [False, True])
def test_grids_that_cannot_be(context: Context, grid: Any, said: str, on_device: bool) -> None:
    out = empty(64, device="vulkan" if on_device else None)
    with pytest.raises(LaunchError, match=said):
        kernel(context).launch(*grid, (out, out, out, 64))


def test_a_grid_of_numpys_integers(context: Context) -> None:
    """What has __index__ is an integer; shapes of arrays often are."""
    out, one = zeros(64, device="vulkan"), arrays.asarray(context, np.ones(64, np.float32))
    kernel(context).launch(np.int64(1), np.int32(1), np.uint8(1), (out, one, out, 64))
    assert (out.numpy() == 1).all()
    kernel(context).launch(True, np.int64(2), 1, (one, one, out, np.int64(64)))
    assert (out.numpy() == 2).all()


@pytest.mark.parametrize(("argument", "said"), [
    ([1.0], "add, argument 0 .x.: a list is not memory"),
    (np.zeros(4), "numpy.ndarray is not memory"),
])
def test_arguments_that_cannot_be(context: Context, argument: Any, said: str) -> None:
    out = empty(64, device="vulkan")
    with pytest.raises(LaunchError, match=said):
        kernel(context).launch(1, 1, 1, (argument, out, out, 64))


def test_numbers_that_cannot_be(context: Context) -> None:
    out = empty(64, device="vulkan")
    with pytest.raises(LaunchError, match=r"argument 3 \(n\): 1.5 is a float"):
        kernel(context).launch(1, 1, 1, (out, out, out, 1.5))
    with pytest.raises(LaunchError, match="takes 4 arguments, got 3"):
        kernel(context).launch(1, 1, 1, (out, out, out))


def test_read_only_memory_is_not_written(context: Context) -> None:
    x = np.zeros(64, np.float32)
    x.flags.writeable = False
    with pytest.raises(LaunchError, match=r"argument 2 .*read-only"):
        kernel(context).launch(1, 1, 1, (asarray(x), asarray(x), asarray(x), 64))


@pytest.mark.parametrize(("changes", "said"), [
    ({"shared_bytes": 1 << 30}, "shared memory"),
    ({"local_size": (1 << 16, 1, 1)}, "threads of a work-group"),
])
def test_resources(context: Context, changes: dict[str, Any], said: str) -> None:
    """What Triton's autotuner skips."""
    artifact = vector_add(**changes)
    with pytest.raises(ResourceError, match=said):
        program.Program(context, artifact, artifact.words)


@pytest.mark.parametrize(("changes", "said"), [
    ({"sub_group_size": 3}, "compiled for sub-groups of 3"), ({"passing": "struct"}, "compiled for OpenCL"),
])
def test_modules_for_others_are_refused(context: Context, changes: dict[str, Any], said: str) -> None:
    artifact = replace(vector_add(), **changes)
    with pytest.raises(DeviceError, match=said):
        program.Program(context, artifact, artifact.words)


def test_threads(context: Context) -> None:
    """Launches from several threads at once, each with arrays of its own."""
    launched, failures = kernel(context), []

    def work(seed: int) -> None:
        x, y = random(640, seed), random(640, seed + 100)
        try:
            for _ in range(20):
                out = np.zeros(640, np.float32)
                launched.launch(10, 1, 1, (asarray(x), asarray(y), asarray(out), 640))
                assert (out == x + y).all()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_nothing_stays_unsubmitted(context: Context) -> None:
    """Launches that come too fast to be submitted each are submitted without another call."""
    launched, out = kernel(context), zeros(64, device="vulkan")
    one = arrays.asarray(context, np.ones(64, np.float32))
    for _ in range(5):
        launched.launch(1, 1, 1, (one, one, out, 64))
    wait_for_the_thread(context)
    assert (out.numpy() == 2).all()


def test_pipeline_cache_on_disk(context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file for each kernel; a damaged one is replaced."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    artifact = vector_add(threads=32)
    first = program.Program(context, artifact, artifact.words)
    files = list(binary_cache.folder().iterdir())
    assert len(files) == 1
    files[0].write_bytes(b"damaged")
    again = program.Program(context, artifact, artifact.words)
    assert files[0].read_bytes() != b"damaged" and again.pipeline and first.pipeline


def test_programs_are_shared_and_discarded(context: Context) -> None:
    artifact = vector_add(threads=16)
    one, other = (program.build(context, artifact.words, artifact) for _ in range(2))
    assert one is other
    handle = (one.pipeline, one.layout)
    del one, other
    assert handle in context.discarded
    program.destroy_discarded(context)
    assert not context.discarded
