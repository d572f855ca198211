"""What is recorded for launches and copies, and who submits it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from triton_spirv.errors import DeviceError
from triton_spirv.runtime.vulkan import arrays, launch, program
from triton_spirv.runtime.vulkan import stream as stream_module
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.devices import Device
from triton_spirv.runtime.vulkan.submitter import LONGEST_PAUSE, PACE
from triton_spirv.runtime.vulkan.timing import Event
from vulkan_launches import kernel, wait_for_the_thread

RECORDED = {"vkCmdPushConstants": "push", "vkCmdDispatch": "dispatch", "vkCmdBindPipeline": "bind",
            "vkBeginCommandBuffer": "begin", "vkCmdFillBuffer": "fill", "vkCmdCopyBuffer": "copy",
            "vkCmdWriteTimestamp": "timestamp"}


@pytest.fixture
def calls() -> list[str]:
    """What has been recorded in `opened`."""
    return []


@pytest.fixture
def opened(device: Device, calls: list[str], monkeypatch: pytest.MonkeyPatch) -> Context:
    """A context of its own that submits when it is told to, and tells `calls` what it records."""
    monkeypatch.setattr(stream_module, "PACE", 1 << 62)
    monkeypatch.setattr(launch, "untyped", lambda function: function)  # which is noted below
    made = Context(device)
    stream, record_barrier = made.stream, made.stream.barrier_call
    stream.submitter.watches = True  # nobody wakes the helping thread

    def noted(function: Any, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            calls.append(name)
            return function(*arguments)
        return call

    def barrier(handle: Any, *arguments: Any) -> None:
        calls.append("barrier" if arguments == stream.barrier else "last")
        assert arguments in (stream.barrier, stream.last_barrier)
        record_barrier(handle, *arguments)

    for function, name in RECORDED.items():
        setattr(made.api, function, noted(getattr(made.api, function), name))
    stream.barrier_call = barrier
    return made


def ones(context: Context) -> arrays.DeviceArray:
    return arrays.asarray(context, np.ones(64, np.float32))


def test_barriers_stand_between_commands_and_behind_the_last(opened: Context, calls: list[str]) -> None:
    """The one behind the last orders what the next submission begins with."""
    launched, x, out = kernel(opened), ones(opened), ones(opened)
    calls.clear()
    launched.launch(1, 1, 1, (x, x, out, 64))
    opened.stream.flush()
    assert calls[-4:] == ["bind", "push", "dispatch", "last"]
    calls.clear()
    launched.launch(1, 1, 1, (x, x, out, 64))
    out.copy_from(x)
    x.fill_(3.0)
    launched.launch(1, 1, 1, (x, out, out, 64))
    opened.stream.synchronize()
    assert calls[:12] == ["begin", "bind", "push", "dispatch", "barrier", "copy", "barrier", "fill", "push",
                          "barrier", "dispatch", "last"]
    assert (out.numpy() == 4).all()


def test_a_timestamp_stands_behind_the_barrier(opened: Context, calls: list[str]) -> None:
    """Between two timestamps is what was launched there, and its own barrier."""
    launched, x, out = kernel(opened), ones(opened), ones(opened)
    begin, end = Event(opened, True), Event(opened, True)
    calls.clear()
    out.fill_(0.0)
    begin.record()
    launched.launch(1, 1, 1, (x, x, out, 64))
    end.record()
    assert begin.elapsed_time(end) > 0
    first = calls.index("fill")
    assert calls[first:first + 9] == ["fill", "barrier", "timestamp", "bind", "push", "dispatch", "barrier",
                                      "timestamp", "last"]


@pytest.mark.parametrize("passing", ["push", "buffer"])
def test_arguments_are_pushed_when_they_change(opened: Context, calls: list[str], passing: str) -> None:
    """In a command buffer, that is: another begins without any."""
    launched = kernel(opened, passing)
    other = launch.Kernel(launched.program)
    total, again, one = ones(opened), ones(opened), ones(opened)
    calls.clear()
    for which, array in ((launched, total), (launched, total), (other, total), (other, again),
                         (launched, total)):
        which.launch(1, 1, 1, (array, one, array, 64))
    opened.stream.flush()
    assert [calls.count(name) for name in ("bind", "push", "dispatch")] == [1, 3, 5]
    launched.launch(1, 1, 1, (total, one, total, 64))
    assert [calls.count(name) for name in ("bind", "push", "dispatch")] == [2, 4, 6]
    assert (total.numpy() == 6).all() and (again.numpy() == 2).all()


def test_the_next_command_buffer_is_begun_during_a_wait(opened: Context, calls: list[str]) -> None:
    """With the pipeline of the last launch; arguments are pushed again."""
    launched, x, out = kernel(opened), ones(opened), ones(opened)
    for _ in range(40):  # more than there are command buffers
        launched.launch(1, 1, 1, (x, x, out, 64))
        opened.stream.flush()
        opened.stream.get_ready()
        opened.stream.get_ready()
        calls.clear()
        launched.launch(1, 1, 1, (out, x, out, 64))
        opened.stream.get_ready()  # something is being recorded: not now
        assert calls == ["push", "dispatch"]
        opened.stream.synchronize()
    assert (out.numpy() == 3).all()
    opened.stream.get_ready()
    calls.clear()
    out.fill_(5.0)
    launched.launch(1, 1, 1, (x, out, out, 64))
    assert calls == ["fill", "push", "barrier", "dispatch"]
    assert (out.numpy() == 6).all()


def test_a_pipeline_that_is_destroyed_is_not_bound(opened: Context, calls: list[str]) -> None:
    """Neither in the command buffer that is ready, nor in the next."""
    launched, other, x = kernel(opened), kernel(opened, "buffer"), ones(opened)
    launched.launch(1, 1, 1, (x, x, x, 64))
    opened.stream.synchronize()
    opened.stream.get_ready()
    del launched
    program.destroy_discarded(opened)
    assert opened.stream.ready is None and not opened.discarded
    opened.stream.get_ready()
    calls.clear()
    other.launch(1, 1, 1, (x, x, x, 64))
    assert calls == ["bind", "push", "dispatch"]
    assert (x.numpy() == 4).all()


def test_parameters_without_room(opened: Context, calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They go to the next command buffer, which begins with a pipeline of its own."""
    monkeypatch.setattr(stream_module, "PARAMETER_BYTES", 128)
    launched, total, one = kernel(opened, "buffer"), ones(opened), ones(opened)
    calls.clear()
    for count in (64, 63, 62, 61, 60):
        launched.launch(1, 1, 1, (total, one, total, count))
    assert calls.count("bind") == 3 and calls.count("last") == 2
    assert list(total.numpy()[59:]) == [6, 5, 4, 3, 2]


def test_the_helping_thread_looks_by_itself(opened: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is woken once, looks less often while others submit, and stops when nothing has happened."""
    monkeypatch.setattr(stream_module, "PACE", PACE)
    stream, launched, x = opened.stream, kernel(opened), ones(opened)
    stream.flushed_at = 1 << 62  # nothing is submitted by itself
    launched.launch(1, 1, 1, (x, x, x, 64))
    seen, stream.added_at = stream.submitted, 1 << 62  # PACE has not passed since
    assert stream.submitter.look(PACE, seen) == (2 * PACE, seen) and stream.recording
    assert stream.flush() == seen + 1
    pauses, pause = [], PACE
    for _ in range(4):
        launched.launch(1, 1, 1, (x, x, x, 64))
        stream.synchronize()
        pause, seen = stream.submitter.look(pause, seen)
        pauses.append(pause)
    assert pauses == [2 * PACE, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE] and stream.submitter.watches
    stream.flushed_at = 1 << 62
    launched.launch(1, 1, 1, (x, x, x, 64))
    stream.added_at = 0
    assert stream.submitter.look(pause, seen) == (PACE, seen + 1) and not stream.recording
    stream.synchronize()
    stream.submitter.look(PACE, seen + 1)
    assert not stream.submitter.watches and not stream.submitter._wake.is_set()


def test_nothing_stays_behind_after_launches_that_were_waited_for(context: Context) -> None:
    """Nobody wakes the helping thread for them, and it still comes."""
    launched, x = kernel(context), ones(context)
    for _ in range(100):
        launched.launch(1, 1, 1, (x, x, x, 0))
        context.stream.synchronize()
    for _ in range(3):
        launched.launch(1, 1, 1, (x, x, x, 64))
    wait_for_the_thread(context)
    assert (x.numpy() == 8).all()


@pytest.mark.parametrize("by_thread", [False, True])
def test_a_submission_that_fails_is_told_and_not_waited_for(
        device: Device, monkeypatch: pytest.MonkeyPatch, by_thread: bool) -> None:
    """By the call that submits, or by the next one where the helping thread did; then all goes on."""
    context = Context(device)
    stream, run = context.stream, kernel(context)
    array = arrays.asarray(context, np.ones(64, np.float32))
    stream.synchronize()
    with monkeypatch.context() as failing:
        failing.setattr(context.api, "vkQueueSubmit", lambda *given: -2)  # OUT_OF_DEVICE_MEMORY
        stream.flushed_at = time.perf_counter_ns() + 10**9  # it is not submitted by the launch itself
        run.launch(1, 1, 1, (array, array, array, 64))
        deadline = time.monotonic() + 20
        while by_thread and stream.recording is not None and time.monotonic() < deadline:
            time.sleep(1e-3)
        if not by_thread:
            with pytest.raises(DeviceError, match="OUT_OF_DEVICE_MEMORY"):
                stream.flush()
    if by_thread:
        with pytest.raises(DeviceError, match="OUT_OF_DEVICE_MEMORY"):
            stream.synchronize()
    for _ in range(stream_module.COMMAND_BUFFERS + 1):
        run.launch(1, 1, 1, (array, array, array, 64))
        stream.synchronize()
    assert (array.numpy() == 2.0 ** (stream_module.COMMAND_BUFFERS + 1)).all()


def test_pipelines_are_destroyed_with_nobody_recording(device: Device) -> None:
    """What is discarded while the device is waited for stays for the next time."""
    context = Context(device)
    first, second = (0, 0), (0, 0)  # handles of nothing, which Vulkan destroys
    context.discarded.append(first)
    drain = context.stream.drain

    def draining() -> None:
        drain()
        context.discarded.append(second)

    context.stream.drain = draining  # type: ignore[method-assign]
    program.destroy_discarded(context)
    assert context.discarded == [second]


COPIES = """
import sys
from triton_spirv.runtime.vulkan import arrays, devices
from triton_spirv.runtime.vulkan.context import open_device
context = open_device(devices.choose("vulkan"))
stream, record = context.stream, context.stream.barrier_call
without = {"": None, "between": stream.barrier, "last": stream.last_barrier}[sys.argv[1]]
stream.barrier_call = lambda handle, *barrier: barrier == without or record(handle, *barrier)
a, b, c = (arrays.empty(context, 1000) for _ in range(3))
for number in range(3):
    a.fill_(float(number))
    b.copy_from(a)
    c.copy_from(b)
    stream.flush()
    b.copy_from(c)
    a.copy_from(b)
    stream.flush()
print(a.numpy()[0])
"""


@pytest.mark.parametrize("without", ["", "between", "last"])
def test_synchronization_validation(without: str) -> None:
    """The layer that follows copies through submissions has nothing to say, and misses each barrier."""
    enables = ("VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
               "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT")
    variables = {"TRITON_SPIRV_VULKAN_VALIDATION": "1", "VK_LAYER_ENABLES": os.pathsep.join(enables),
                 "VK_VALIDATION_VALIDATE_SYNC": "true"}  # older layers' name, newer layers'
    done = subprocess.run([sys.executable, "-c", COPIES, without], capture_output=True, text=True,
                          env={**os.environ, **variables})
    if "VK_LAYER_KHRONOS_validation, which is not installed" in done.stderr:
        pytest.skip("the validation layer is not installed")  # which .ci/run takes for a failure
    if without:
        assert "DeviceError" in done.stderr and "SYNC-HAZARD-READ-AFTER-WRITE" in done.stderr
    else:
        assert done.stdout == "2.0\n" and not done.stderr
