"""tensors.py: what torch hands out that has an address, but not its elements there, is refused by name on
every way to every device; the way out that the message names works."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import handmade
import numpy as np
import pytest
from triton_spirv.arrays import asarray
from triton_spirv.errors import LaunchError
from triton_spirv.tensors import lowest_address

torch = pytest.importorskip("torch")

COUNT = 64
#: adds x and y to out through the runtime: (x, y, out) -> None
Add = Callable[[Any, Any, Any], None]


@pytest.fixture(params=["short", "arguments", "staged", "simulated GPU",
                        pytest.param("vulkan", marks=pytest.mark.vulkan)])
def add(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Add:
    if request.param == "vulkan":
        from handmade_vulkan import vector_add
        from triton_spirv.runtime.vulkan import devices

        found = next(device for device in devices.devices() if not device.missing)
        kernel = handmade.bind_vulkan(vector_add("push"), found)
        return lambda x, y, out: kernel.launch(1, 1, 1, (x, y, out, COUNT))
    if request.param == "staged":
        monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", "0")
    device = request.getfixturevalue("gpu") if request.param == "simulated GPU" else "cpu"
    made = handmade.scaled_add("arguments" if request.param == "arguments" else "struct")
    kernel = handmade.bind(made, device)
    return lambda x, y, out: kernel.launch(COUNT, 1, 1, (x, y, out, 1.0))


def numbers() -> Any:
    return torch.arange(1, COUNT + 1, dtype=torch.float32)


def negated() -> Any:
    return torch._neg_view(numbers())


def imaginary() -> Any:
    """The public way to a negated view."""
    return torch.complex(numbers(), -numbers()).conj().imag.view(COUNT)


def inference() -> Any:
    """A view that knows nothing of its base."""
    with torch.inference_mode():
        return torch._neg_view(numbers())


class Reinterpreted:
    """What triton.reinterpret makes."""

    def __init__(self, base: Any) -> None:
        self.base = base

    def data_ptr(self) -> int:
        return self.base.data_ptr()


def conjugated() -> Any:
    return Reinterpreted(torch.complex(numbers(), -numbers()).conj())


def emptied() -> Any:
    x = numbers()
    x.untyped_storage().resize_(0)
    return x


def view_of_emptied() -> Any:
    """Its address is not null: it is the offset."""
    x = torch.zeros(COUNT + 7)[7:]
    x.untyped_storage().resize_(0)
    return x


def far_view_of_emptied() -> Any:
    x = torch.zeros(COUNT + (1 << 22))[1 << 22:]
    x.untyped_storage().resize_(0)
    return x


CASES: dict[Callable[[], Any], str] = {
    negated: "negated view.* pass x.resolve_neg()", imaginary: "negated view.* pass x.resolve_neg()",
    inference: "negated view.* pass x.resolve_neg()", conjugated: "conjugated view.* pass x.resolve_conj()",
    lambda: torch._efficientzerotensor(COUNT): "stands for zeros and has no memory.* pass x.clone()",
    emptied: "storage has 0 bytes, its elements need 256", view_of_emptied: "storage has 0 bytes, .* 284",
    far_view_of_emptied: "storage has 0 bytes, its elements need 16777472",
}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__.strip("<>"))
def test_refused_by_name(add: Add, make: Callable[[], Any], place: int) -> None:
    """As each argument. The launch before with a plain tensor has taught the type."""
    arguments = [numbers(), numbers(), torch.zeros(COUNT)]
    add(*arguments)
    arguments[place] = make()
    message = CASES[make].replace("()", r"\(\)")
    with pytest.raises(LaunchError, match=rf"argument {place} \(\w+\): the tensor.*{message}"):
        add(*arguments)


@pytest.mark.parametrize("make", [negated, imaginary, inference])
def test_the_way_out(add: Add, make: Callable[[], Any]) -> None:
    x, out = make(), torch.zeros(COUNT)
    add(x.resolve_neg(), numbers(), out)
    assert x.is_neg() and torch.equal(out, torch.zeros(COUNT) if make is not imaginary else 2 * numbers())
    add(torch._efficientzerotensor(COUNT).clone(), numbers(), out)
    assert torch.equal(out, numbers())


def test_tensors_without_elements(add: Add) -> None:
    """They need no memory, and may have none."""
    nothing = torch.zeros(0)
    nothing.untyped_storage().resize_(0)
    with pytest.raises(LaunchError, match="argument 0"):
        add(emptied(), numbers(), numbers())
    assert nothing.data_ptr() == 0
    handmade.bind(handmade.scaled_add()).launch(0, 1, 1, (nothing, nothing, nothing, 1.0))


@pytest.mark.parametrize("make", [negated, emptied, view_of_emptied, imaginary])
def test_arrays_are_not_made_of_them(make: Callable[[], Any]) -> None:
    """Through DLPack numpy sees the memory, and not what it stands for."""
    with pytest.raises(LaunchError, match=re.escape("resolve_neg()") if "emptied" not in make.__name__
                       else "its storage|the tensor's storage"):
        asarray(make())
    np.testing.assert_array_equal(asarray(negated().resolve_neg()).numpy(), -numbers().numpy())


def test_storage_that_was_made_smaller() -> None:
    """Where memory is copied it is noticed that there is too little of it."""
    x = numbers()
    x.untyped_storage().resize_(100)
    with pytest.raises(LaunchError, match="has 100 bytes, its elements need 256"):
        asarray(x)


@pytest.mark.vulkan
def test_device_arrays_of_views_have_their_elements() -> None:
    """A copy can be of what the view stands for."""
    for make in (negated, imaginary):
        np.testing.assert_array_equal(asarray_on_device(make()).numpy(), make().resolve_neg().numpy())


def asarray_on_device(x: Any) -> Any:
    import triton_spirv

    return triton_spirv.asarray(x, device="vulkan")


def test_lowest_address() -> None:
    """Tensors' memory is above it: none takes the longer way."""
    large = torch.zeros(1 << 20)
    assert 0 < lowest_address() <= min(numbers().data_ptr(), large.data_ptr())
