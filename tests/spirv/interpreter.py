"""Runs the integer instructions of one function, so that tests see what structured control flow computes."""

from __future__ import annotations

from operator import add, eq, lt, mul, sub
from typing import Any

from triton_spirv.spirv import Module
from triton_spirv.spirv.decode import Decoded, decode
from triton_spirv.spirv.literals import scalar_value

ARITHMETIC = {"OpIAdd": add, "OpISub": sub, "OpIMul": mul}
COMPARISONS = {"OpSLessThan": lt, "OpSLessThanEqual": int.__le__, "OpULessThan": lt, "OpIEqual": eq}


def run(module: Module, limit: int = 100_000) -> dict[str, Any]:
    """Execute the last function of a module -> what its named variables hold when it returns."""
    contents = decode(module.words())
    values: dict[int, Any] = {}
    for id, constant in contents.constants.items():
        if constant.name == "OpConstant":
            values[id] = scalar_value(contents.types[constant.type], constant.words[0])
    memory: dict[int, Any] = {it.result: None for it in contents.globals}
    blocks = _blocks(contents.functions[-1])
    label, previous = next(iter(blocks)), 0
    for _ in range(limit):
        incoming = {it.result: values.get(dict(zip(it.words[1::2], it.words[::2], strict=True))[previous])
                    for it in blocks[label] if it.name == "OpPhi"}
        values.update(incoming)
        target = _step(blocks[label], values, memory)
        if target is None:
            return {contents.names[id,]: value for id, value in memory.items() if (id,) in contents.names}
        label, previous = target, label
    raise AssertionError(f"still running after {limit} blocks")


def _blocks(body: list[Decoded]) -> dict[int, list[Decoded]]:
    blocks: dict[int, list[Decoded]] = {}
    for it in body:
        if it.name == "OpLabel":
            current = blocks[it.result] = []
        elif blocks and it.name != "OpFunctionEnd":
            current.append(it)
    return blocks


def _step(block: list[Decoded], values: dict[int, Any], memory: dict[int, Any]) -> int | None:
    """Execute a block -> the label of the next one, None at the end."""
    for it in block:
        if it.name in ARITHMETIC:
            x, y = (values[word] for word in it.words)
            values[it.result] = (ARITHMETIC[it.name](x, y) + (1 << 31)) % (1 << 32) - (1 << 31)
        elif it.name in COMPARISONS:
            x, y = (values[word] for word in it.words)
            if it.name.startswith("OpU"):
                x, y = x % (1 << 32), y % (1 << 32)
            values[it.result] = COMPARISONS[it.name](x, y)
        elif it.name == "OpLoad":
            values[it.result] = memory[it.words[0]]
        elif it.name == "OpStore":
            memory[it.words[0]] = values[it.words[1]]
        elif it.name == "OpVariable":
            memory[it.result] = values[it.words[1]]
        elif it.name == "OpBranch":
            return it.words[0]
        elif it.name == "OpBranchConditional":
            return it.words[1] if values[it.words[0]] else it.words[2]
        elif it.name == "OpReturn":
            return None
        else:
            assert it.name in ("OpPhi", "OpSelectionMerge", "OpLoopMerge"), it.name
    raise AssertionError("a block without terminator")
