"""Launches that are recorded once: what a replay executes, in which order, and when it makes them anew."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import triton_spirv
from triton_spirv.runtime.vulkan import arrays, launch, recorded
from triton_spirv.runtime.vulkan import stream as stream_module
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.devices import Device
from vulkan_launches import kernel

RECORDED = {"vkCmdDispatch": "dispatch", "vkCmdExecuteCommands": "execute", "vkQueueSubmit": "submit",
            "vkBeginCommandBuffer": "begin"}


@pytest.fixture
def calls() -> list[str]:
    """What has been called in `opened`."""
    return []


@pytest.fixture(params=["at once", "together"])
def opened(request: pytest.FixtureRequest, device: Device, calls: list[str],
           monkeypatch: pytest.MonkeyPatch) -> Context:
    """A context of its own in which an idle device gets work at once, or never before somebody waits."""
    pace = 0 if request.param == "at once" else 1 << 62
    for module in (stream_module, recorded):
        monkeypatch.setattr(module, "PACE", pace)
    for module in (launch, recorded):
        monkeypatch.setattr(module, "untyped", lambda function: function)  # which is noted below
    made = Context(device)
    made.stream.submitter.watches = True  # nobody wakes the helping thread

    def noted(function: Any, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            calls.append(name)
            return function(*arguments)
        return call

    for function, name in RECORDED.items():
        setattr(made.api, function, noted(getattr(made.api, function), name))
    return made


def ones(context: Context) -> arrays.DeviceArray:
    return arrays.asarray(context, np.ones(64, np.float32))


def fixed(launched: Any, *arguments: Any) -> recorded.Fixed:
    made = launched.fixed(1, 1, 1, arguments)
    assert made is not None
    return made


@pytest.mark.parametrize("passing", ["push", "buffer"])
def test_replays_stand_in_the_order_of_all_work(opened: Context, passing: str, calls: list[str]) -> None:
    """x, y = x + y, (x + y) + y, between launches, copies and waits; no dispatch is recorded anew."""
    run = kernel(opened, passing)
    x, y = ones(opened), ones(opened)
    made = recorded.Recording([fixed(run, x, y, x, 64), fixed(run, x, y, y, 64)])
    first, second = 1.0, 1.0
    assert made.replay()
    for number in range(12):
        first += second
        second += first
        if number % 3 == 1:
            run.launch(1, 1, 1, (x, x, x, 64))
            first += first
        if number % 4 == 3:
            assert (x.numpy() == first).all() and (y.numpy() == second).all()
        if number % 5 == 4:
            y.fill_(1.0)
            second = 1.0
        before = calls.count("dispatch")
        assert made.replay()
        if number:  # the first one that finds an idle device records for that
            assert calls.count("dispatch") in (before, before + 2)
    first += second
    second += first
    assert (x.numpy() == first).all() and (y.numpy() == second).all()
    assert calls.count("dispatch") <= 2 * 2 + 4


def test_waited_for_replays_are_a_submission_and_nothing_else(opened: Context, calls: list[str]) -> None:
    run = kernel(opened)
    x, y = ones(opened), ones(opened)
    made = recorded.Recording([fixed(run, x, y, x, 64)] * 3)
    for _ in range(2):
        made.replay()
        opened.stream.synchronize()
    calls.clear()
    for _ in range(stream_module.COMMAND_BUFFERS + 2):
        made.replay()
        opened.stream.synchronize()
    assert [name for name in calls if name != "begin"] == ["submit"] * (stream_module.COMMAND_BUFFERS + 2)
    assert (x.numpy() == 1 + 3 * (stream_module.COMMAND_BUFFERS + 4)).all()


@pytest.mark.parametrize("opened", ["together"], indirect=True)
def test_replays_that_nobody_waits_for_are_submitted_together(opened: Context, calls: list[str]) -> None:
    x, y = ones(opened), ones(opened)
    opened.stream.synchronize()
    made = recorded.Recording([fixed(kernel(opened), x, y, x, 64)])
    opened.stream.waited = False
    calls.clear()
    for _ in range(10):
        made.replay()
    assert calls.count("execute") == 10 and not calls.count("submit")
    assert (x.numpy() == 11).all()


def test_a_recording_may_go_while_it_runs(opened: Context) -> None:
    """Its command buffers serve others, when the device is done with them."""
    run = kernel(opened, "buffer")
    x, y = ones(opened), ones(opened)
    stream = opened.stream
    for number in range(20):
        made = recorded.Recording([fixed(run, x, y, x, 64)])
        made.replay()
        if number % 2:
            made.replay()
        del made
        gc.collect()
        others = [opened.pools.host.allocate(64) for _ in range(8)]
        for each in others:  # would lie where its parameters were
            ctypes.memset(each.host, 255, 64)
    assert (x.numpy() == 1 + 30).all()
    count = sum(map(len, stream.unused))
    for _ in range(5):
        recorded.Recording([fixed(run, x, y, x, 64)]).replay()
        stream.synchronize()
    assert sum(map(len, stream.unused)) <= count + 1


def test_memory_that_cuda_works_on_is_launched_one_by_one(opened: Context, calls: list[str]) -> None:
    x, y = ones(opened), ones(opened)
    made = recorded.Recording([fixed(kernel(opened), x, y, x, 64)])
    y.allocation.shared = SimpleNamespace(settle=lambda: None)
    calls.clear()
    try:
        assert not made.replay() and not calls
        assert kernel(opened).fixed(1, 1, 1, (x, y, x, 64)) is None
    finally:
        y.allocation.shared = None
    assert made.replay() and (x.numpy() == 2).all()


def test_what_each_launch_has_to_see_to_is_not_fixed(opened: Context) -> None:
    run, x = kernel(opened), ones(opened)
    on_host = triton_spirv.asarray(np.ones(64, np.float32))
    for arguments in ((x, on_host, x, 64), (x, x.data_ptr(), x, 64), (x, x, x, 1 << 40)):
        assert run.fixed(1, 1, 1, arguments) is None
    assert run.fixed(0, 1, 1, (x, x, x, 64)) is None
    assert run.fixed(1, 1, 1, (x, None, x, 0)) is not None


SCRIPT = """
import numpy as np
from triton_spirv.runtime.vulkan import arrays, devices, recorded
from triton_spirv.runtime.vulkan.context import open_device
from vulkan_launches import kernel
context = open_device(devices.choose("vulkan"))
x, y = (arrays.asarray(context, np.ones(64, np.float32)) for _ in range(2))
for passing in ("push", "buffer"):
    run = kernel(context, passing)
    made = recorded.Recording([run.fixed(1, 1, 1, (x, y, x, 64)), run.fixed(1, 1, 1, (x, y, y, 64))])
    x.fill_(1.0)
    y.fill_(0.0)
    for number in range(8):
        made.replay()
        if number % 3 == 0:
            context.stream.synchronize()
        elif number % 3 == 1:
            run.launch(1, 1, 1, (x, y, x, 64))
            y.fill_(0.0)
    del made
    context.stream.synchronize()
print(x.numpy()[0] > 1)
"""


def test_the_validation_layer_has_nothing_to_say() -> None:
    here = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True,
                          env={**os.environ, "TRITON_SPIRV_VULKAN_VALIDATION": "1", "PYTHONPATH": here})
    if "VK_LAYER_KHRONOS_validation, which is not installed" in done.stderr:
        pytest.skip("the validation layer is not installed")
    assert done.stdout == "True\n" and not done.stderr, done.stderr
