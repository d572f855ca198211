"""What compiling costs grows with the kernel: counted in calls of Python functions, not in seconds."""

from __future__ import annotations

import chains
import pytest
import triton_spirv
from counting import calls
from triton_spirv.lower.control import blocks
from triton_spirv.target import find_target

#: target -> the stage that it compiles
TARGETS = {"cpu": "ttir", "cpu-simt": "ttgir", "lavapipe": "ttgir", "pvc": "ttgir"}
#: of these, the kernels that may take another way than on cpu-simt
PRODUCTS = {"lavapipe": ("dot", "mask", "atomics"), "pvc": ("dot", "matmul", "mask", "descriptor", "pool")}


def steps(text: str, target: str) -> int:
    """Calls that compile a kernel."""
    return calls(lambda: triton_spirv.compile(text, find_target(target)))


def returns(count: int) -> str:
    """A function that may return after each of so many comparisons."""
    ways = "".join(f"^b{i}:\n%k{i} = arith.constant {i} : i32\n%q{i} = arith.cmpi eq, %x, %k{i} : i32\n"
                   f"cf.cond_br %q{i}, ^r{i}, ^b{i + 1}\n^r{i}:\n%y{i} = arith.muli %x, %k{i} : i32\n"
                   f"tt.return %y{i} : i32\n" for i in range(count))
    return ("module {\ntt.func private @f(%x: i32) -> i32 {\ncf.br ^b0\n" + ways
            + f"^b{count}:\ntt.return %x : i32\n}}\n"
            "tt.func public @k(%p: !tt.ptr<i32>) {\n%x = tt.load %p : !tt.ptr<i32>\n"
            "%r = tt.call @f(%x) : (i32) -> i32\ntt.store %p, %r : !tt.ptr<i32>\ntt.return\n}\n}")


def choices(count: int) -> str:
    """So many branches, one after the other, as blocks."""
    ways = "".join(f"^a{i}(%x{i}: i32):\n%k{i} = arith.constant {i} : i32\n"
                   f"%q{i} = arith.cmpi eq, %x{i}, %k{i} : i32\ncf.cond_br %q{i}, ^l{i}, ^r{i}\n"
                   f"^l{i}:\n%y{i} = arith.muli %x{i}, %k{i} : i32\ncf.br ^a{i + 1}(%y{i} : i32)\n"
                   f"^r{i}:\n%z{i} = arith.addi %x{i}, %k{i} : i32\ncf.br ^a{i + 1}(%z{i} : i32)\n"
                   for i in range(count))
    return ("module {\ntt.func public @k(%p: !tt.ptr<i32>) {\n%first = tt.load %p : !tt.ptr<i32>\n"
            "cf.br ^a0(%first : i32)\n" + ways + f"^a{count}(%last: i32):\n"
            "tt.store %p, %last : !tt.ptr<i32>\ntt.return\n}\n}")


@pytest.mark.parametrize("source", (returns, choices))
def test_graphs_of_blocks_cost_their_number(source, monkeypatch) -> None:
    """Four times the blocks take four times the calls, and the question whether all ways lead through a block
    is asked twice of each at most."""
    asked = []
    always = blocks._Graph._always
    monkeypatch.setattr(blocks._Graph, "_always", lambda *given: asked.append(1) or always(*given))
    triton_spirv.compile(source(10))
    few, some, many = (steps(source(count), "cpu") for count in (10, 40, 160))
    assert many - some <= 4.5 * (some - few) + 500, (few, some, many)
    del asked[:]
    triton_spirv.compile(source(160))
    assert len(asked) <= 2 * 161


@pytest.mark.takes_turns(3)
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
