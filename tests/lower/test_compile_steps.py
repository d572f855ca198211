"""What compiling costs grows with the kernel: counted in calls of Python functions, not in seconds."""

from __future__ import annotations

import chains
import pytest
import triton_spirv
from counting import calls
from triton_spirv.target import find_target

#: target -> the stage that it compiles
TARGETS = {"cpu": "ttir", "cpu-simt": "ttgir", "lavapipe": "ttgir", "pvc": "ttgir"}
#: of these, the kernels that may take another way than on cpu-simt
PRODUCTS = {"lavapipe": ("dot", "mask", "atomics"), "pvc": ("dot", "matmul", "mask", "descriptor", "pool")}


def steps(text: str, target: str) -> int:
    """Calls that compile a kernel."""
    return calls(lambda: triton_spirv.compile(text, find_target(target)))


@pytest.mark.parametrize(("name", "target"), [
    (name, target) for target in TARGETS for name in chains.CONTEXTS
    if target not in PRODUCTS or any(part in name for part in PRODUCTS[target])])
def test_shared_values_cost_their_number(name: str, target: str) -> None:
    """From 12 links to 24 twice as much as from 6 to 12; a graph taken for a tree would be thousands."""
    lanes = find_target(target).sub_group_size
    texts = [chains.source(name, links, TARGETS[target], lanes) for links in (6, 12, 24)]
    triton_spirv.compile(texts[0], find_target(target))  # what Python keeps from call to call is there then
    few, some, many = (steps(text, target) for text in texts)
    assert many - some <= 3.5 * (some - few) + 500, (few, some, many)
