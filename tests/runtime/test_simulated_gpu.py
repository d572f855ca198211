"""tests/gpu_simulator: what it reports, that each check notices what it is for, and that defects which were
mended are noticed again where the mend is taken back."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pytest
import simulated_gpu
import triton_spirv
import ttgir
from opencl_calls import allocate, enqueue, kernel_of
from staged_kernels import TWO_RESULTS, UNUSED
from triton_spirv.arrays import asarray, zeros
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime import copies, device_memory, devices, launch, memory, opencl
from triton_spirv.target import reported_target


@pytest.fixture
def context() -> Any:
    """The context of a simulated B580. What a test does wrong it has to ask for."""
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    with simulated_gpu.installed():
        simulated_gpu.violations()
        yield devices.open_device(devices.choose("b580"))
        assert not simulated_gpu.violations()


def noticed(what: str) -> None:
    """Exactly one thing was wrong."""
    found = simulated_gpu.violations()
    assert len(found) == 1 and what in found[0], found


# ---- what it is

@pytest.mark.parametrize(("mode", "arch"), [
    ("gpu-pvc", "opencl:lanes16:sizes16-32:shared131072:float64:block_io:matrix16"),
    ("gpu-dg2", "opencl:lanes16:sizes8-16-32:shared65536:matrix8"),
    ("gpu-mtl", "opencl:lanes16:sizes8-16-32:shared65536:float64"),
])
def test_reports(context: Any, mode: str, arch: str) -> None:
    device = devices.choose(simulated_gpu.DEVICES[mode])
    sizes = devices.sub_group_sizes(device)
    assert reported_target(device.extensions, sizes, device.local_bytes).name == arch
    assert device.kind == "gpu" and not device.shares_memory and devices.native_name(device).startswith("12.")


def test_memory_is_not_the_hosts(context: Any) -> None:
    """The device's addresses cannot be read here, and it begins with rubbish there; copies get at it."""
    library, place = context.device.library, allocate(context)
    with open("/proc/self/maps") as maps:
        spans = [(line, *(int(end, 16) for end in line.split()[0].split("-"))) for line in maps]
    assert next(line for line, begin, end in spans if begin <= place < end).split()[1] == "---p"
    there = np.zeros(4, np.uint32)
    library.call("clEnqueueSVMMemcpy", context.queue, 1, there.ctypes.data, place, 16, 0, None, None)
    assert (there == 0xA5A5A5A5).all()
    library.clSVMFree(context.handle, place)


def test_commands_wait_for_somebody_who_waits(context: Any) -> None:
    library, place, data = context.device.library, allocate(context), np.arange(4, dtype=np.float32)
    there = np.zeros(4, np.float32)
    library.call("clEnqueueSVMMemcpy", context.queue, 0, place, data.ctypes.data, 16, 0, None, None)
    library.call("clEnqueueSVMMemcpy", context.queue, 0, there.ctypes.data, place, 16, 0, None, None)
    assert not there.any()
    library.call("clFinish", context.queue)
    assert (there == data).all()
    library.clSVMFree(context.handle, place)


CHILD = """
import sys
sys.path.insert(0, {tests!r})
import handmade, numpy, simulated_gpu
from triton_spirv.arrays import zeros
from triton_spirv.runtime import devices
from opencl_calls import *
with simulated_gpu.installed():
    context = devices.open_device(devices.choose("b580"))
    kernel, own = kernel_of(context, {passing!r})
    x = allocate(context)
    {body}
    code = enqueue(context, context.queue, own.handle) or context.device.library.clFinish(context.queue)
    print(code, *simulated_gpu.violations(), sep="\\n")
"""


@pytest.mark.parametrize(("passing", "body", "what"), [
    # a pointer of the host
    ("arguments", "set_arguments(context, own.handle, x, x, numpy.zeros(1024).ctypes.data)",
     "memory of the host"),
    # an allocation by its address in a struct, which nobody announced
    ("struct", "s = numpy.array([x, x, x, 0]); "
               "context.device.library.call('clSetKernelArg', own.handle, 0, 32, s.ctypes.data)",
     "that the kernel was not given"),
    # one that was freed
    ("arguments", "set_arguments(context, own.handle, x, x, x); "
                  "context.device.library.clSVMFree(context.handle, x)", "that was freed"),
    # one that this driver has not made, as the memory of torch.xpu: Level Zero has it
    ("arguments", "set_arguments(context, own.handle, x, x, x + (1 << 30))",
     "an address of the device where nothing is"),
    # one of another device
    ("arguments", "y = allocate(devices.open_device(devices.choose('a770'))); "
                  "set_arguments(context, own.handle, x, x, y)", "belongs to another context"),
])
def test_kernels_fault_where_they_may_not_be(passing: str, body: str, what: str) -> None:
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    tests = str(simulated_gpu.SOURCES.parent)
    text = CHILD.format(tests=tests, passing=passing, body=body)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    code, *found = done.stdout.splitlines() or [done.stderr]
    assert code == "-5" and "the kernel faults" in found[-1], (code, found, done.stderr)
    assert any(what in line for line in found), found


# ---- what it notices

def test_a_copy_beyond_the_end(context: Any) -> None:
    library, place, data = context.device.library, allocate(context, 100), np.zeros(200, np.uint8)
    with pytest.raises(opencl.OpenCLError, match="CL_INVALID_VALUE"):
        library.call("clEnqueueSVMMemcpy", context.queue, 1, place, data.ctypes.data, 101, 0, None, None)
    noticed("101 bytes at")
    library.clSVMFree(context.handle, place)


def test_memory_of_another_context(context: Any) -> None:
    library, other = context.device.library, devices.open_device(devices.choose("a770"))
    place = allocate(other)
    library.clSVMFree(context.handle, place)
    noticed("belongs to another context")
    library.clSVMFree(other.handle, place)


def test_sizes_of_arguments(context: Any) -> None:
    _, own = kernel_of(context)
    number = ctypes.c_uint64(0)
    with pytest.raises(opencl.OpenCLError, match="CL_INVALID_ARG_SIZE"):
        context.device.library.call("clSetKernelArg", own.handle, 3, 8, ctypes.addressof(number))
    noticed("argument 3 has 4 bytes, it is given 8")
    assert enqueue(context, context.queue, own.handle) == -52
    noticed("argument 0 has not been set")


def test_alignment_of_allocations(context: Any) -> None:
    """OpenCL's own are aligned to the largest type's size at most."""
    for alignment, works in ((0, True), (128, True), (256, False), (96, False)):
        place = context.device.library.clSVMAlloc(context.handle, 1, 64, alignment)
        assert bool(place) == works
        context.device.library.clSVMFree(context.handle, place)


def test_options_of_builds(context: Any) -> None:
    library = context.device.library
    handle = library.program_with_il(context.handle, handmade.scaled_add().words)
    library.build(handle, context.device.handle, "-cl-mad-enable -cl-intel-512-GRF-per-thread")
    noticed("does not know the option -cl-intel-512-GRF-per-thread")
    library.clReleaseProgram(handle)


def test_what_the_compiler_refuses(context: Any) -> None:
    with pytest.raises(DeviceError, match="double precision is not supported"):
        handmade.bind(handmade.store("f64"), "a770")


def test_events_that_nobody_releases(context: Any) -> None:
    library, place, event = context.device.library, allocate(context), ctypes.c_void_p(0)
    before = simulated_gpu.count("live_events")
    data = np.zeros(16, np.uint8)
    library.call("clEnqueueSVMMemcpy", context.queue, 1, place, data.ctypes.data, 16, 0, None,
                 ctypes.addressof(event))
    assert simulated_gpu.count("live_events") == before + 1
    library.clReleaseEvent(event)
    assert simulated_gpu.count("live_events") == before
    library.clSVMFree(context.handle, place)
    assert library.clReleaseEvent(event) == -58
    noticed("has been released")


def test_queues_that_nothing_orders(context: Any) -> None:
    library, place, data = context.device.library, allocate(context), np.zeros(16, np.uint8)
    other = library.create_queue(context.handle, context.device.handle)
    event = ctypes.c_void_p(0)

    def copy(queue: int, waits: int, event: Any) -> None:
        listed = (ctypes.c_void_p * 1)(waits)
        library.call("clEnqueueSVMMemcpy", queue, 0, place, data.ctypes.data, 16, bool(waits),
                     ctypes.addressof(listed) if waits else None,
                     None if event is None else ctypes.addressof(event))

    copy(context.queue, 0, event)
    copy(other, int(event.value or 0), None)  # the one waits for the other
    assert not simulated_gpu.violations()
    library.call("clFinish", other)
    copy(context.queue, 0, None)
    copy(other, 0, None)
    noticed("nothing orders them")
    for queue in (context.queue, other):
        library.call("clFinish", queue)
    library.clReleaseEvent(event)
    library.clReleaseCommandQueue(other)
    library.clSVMFree(context.handle, place)


def test_memory_that_is_freed_too_early(context: Any) -> None:
    library, place, data = context.device.library, allocate(context), np.zeros(16, np.uint8)
    library.call("clEnqueueSVMMemcpy", context.queue, 0, place, data.ctypes.data, 16, 0, None, None)
    library.clSVMFree(context.handle, place)
    noticed("freed while a command that was not waited for uses it")
    library.call("clFinish", context.queue)


# ---- defects that were there, with their mends taken back

def bound(text: str) -> launch.Kernel:
    made = triton_spirv.compile(ttgir.spread(text, 16, 1), "opencl-gpu", num_warps=1)
    return handmade.bind(made, "b580")


def test_overlapping_arguments_staged_apart(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    block = np.arange(120, dtype=np.float32)
    arguments = [asarray(np.frombuffer(memoryview(block).cast("B"), np.float32, 20, start * 4))
                 for start in (0, 40, 48)]
    # copies in shared virtual memory, which the simulator knows for copies
    monkeypatch.setattr(device_memory, "EXTENSION", "none")
    monkeypatch.setattr(copies, "_all", {})
    kernel = bound(TWO_RESULTS)
    kernel.launch(1, 1, 1, arguments)
    assert not simulated_gpu.violations()
    monkeypatch.setattr(memory, "merged", sorted)
    monkeypatch.setattr(memory.Staging, "_place", lambda self, address: next(
        place + address - begin for begin, end, place in reversed(self._regions) if begin <= address < end))
    kernel.launch(1, 1, 1, arguments)
    noticed("two of its allocations are copies of overlapping memory")


def test_announcements_of_the_launch_before(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, x = bound(UNUSED.replace("tt.store %p, %one", "// tt.store %p, %one")), zeros(4)

    monkeypatch.setattr(copies, "KEPT", 0)

    def both() -> None:
        for arguments in ((x, x, x), (None, None, None)):
            kernel.launch(1, 1, 1, arguments)

    both()
    assert not simulated_gpu.violations()
    monkeypatch.setattr(launch.Kernel, "_announce", lambda self, state, allocations, _:
                        allocations and memory.announce(self.context, state.kernel.handle, allocations))
    both()
    noticed("is announced to the launch and has been freed")
    kernel.context.settle()  # nobody waits for a launch that copies nothing


def test_addresses_that_are_found_in_memory_are_refused(context: Any) -> None:
    """By name, before the driver is asked anything."""
    text = UNUSED.replace("tt.splat %out :", "tt.splat %found :").replace(
        "    %one =", "    %word = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i64>\n"
        "    %address = tt.load %word : !tt.ptr<i64>\n"
        "    %found = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>\n    %one =")
    with simulated_gpu.costs() as spent, pytest.raises(LaunchError, match="does not share the host's memory"):
        bound(text).launch(1, 1, 1, (zeros(4), zeros(4), zeros(4)))
    assert spent["allocations_made"] == spent["launches"] == 0


# ---- several devices

def test_two_cards_of_a_kind_are_two_devices(context: Any) -> None:
    cards = [device for device in devices.devices() if "B580" in device.name]
    first, second = cards
    assert first.identity != second.identity and first.driver_version == second.driver_version
    names = [devices.name_of(device) for device in devices.devices()]
    assert len(set(names)) == len(names) and names[:2] == ["cpu", "gpu"]
    for device in devices.devices():
        assert devices.choose(devices.name_of(device)) == device
    assert devices.choose("gpu:1") == first and devices.choose("gpu:2") == second
    with pytest.raises(DeviceError, match=r"gpu:9.* names no device"):
        devices.choose("gpu:9")


def test_each_launch_chooses_its_device(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel, devices in turn: each gets code of its own, and no device another's."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    from simulated_kernels import doubled

    launched: list[int] = []
    doubled.device_caches.clear()  # other tests' kernels know the method as it was
    run = launch.Kernel.launch_prepared
    monkeypatch.setattr(launch.Kernel, "launch_prepared", lambda self, *rest: (
        launched.append(self.context.device.index), run(self, *rest)))
    for turn in range(2):
        for choice in ("gpu:1", "gpu:2", "a770", "cpu", "arc(tm) graphics"):
            monkeypatch.setenv("TRITON_SPIRV_DEVICE", choice)
            x = torch.full((100,), float(turn))
            doubled[(1,)](x, x, 100, BLOCK=128)
            assert (x == 2 * turn).all()
    assert launched[:4] == launched[4:] and len(set(launched)) == 4


BUFFERS = """
import sys
import numpy, pyopencl as cl
device = next(one for each in cl.get_platforms() for one in each.get_devices() if "B580" in one.name)
context = cl.Context([device])
queue, data = cl.CommandQueue(context), numpy.arange(64, dtype=numpy.float32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, data.nbytes)
cl.enqueue_copy(queue, buffer, data)
cl.enqueue_fill_buffer(queue, buffer, numpy.float32(7), 16, 16)
mapped, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.WRITE, 0, 4, numpy.float32)
mapped[:] = 9
mapped.base.release(queue)
there = numpy.zeros_like(data)
cl.enqueue_copy(queue, there, buffer)
data[:4], data[4:8] = 9, 7
assert (there == data).all()
try:
    cl.enqueue_copy(queue, buffer, data, dst_offset=8)
except cl.Error as error:
    print(error)
"""


def test_buffers(tmp_path: Path) -> None:
    """What pyopencl's arrays do; a copy beyond the end is said."""
    log = tmp_path / "calls"
    environment = {**os.environ, **simulated_gpu.for_children(), "SIMULATED_GPU_LOG": str(log)}
    done = subprocess.run([sys.executable, "-c", BUFFERS], capture_output=True, text=True, timeout=120,
                          env=environment)
    assert done.returncode == 0 and "INVALID_VALUE" in done.stdout, done.stderr
    assert log.read_text() == "256 bytes at 8 are not within a buffer of 256\n"
