"""axis_info(function) -> Value to AxisInfo: contiguity, divisibility, constancy, by forward dataflow.

axis_info.py has the lattice, axis_rules.py the operations. Loops begin with what holds before them and lose
what an iteration does not keep, until nothing changes; blocks of a control flow graph likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triton_spirv.errors import InternalError
from triton_spirv.facts.axis_info import OPEN, AxisInfo, hinted, meet, meet_all, power_of_two_divisor, unknown
from triton_spirv.facts.axis_rules import rule_for
from triton_spirv.facts.axis_shapes import lengths, unit
from triton_spirv.ir.model import Block, DenseAttr, Operation, Region, Value, function_of

__all__ = ["AxisFacts", "AxisInfo", "axis_facts", "axis_info", "hints_of"]

HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")


def axis_info(function: Operation) -> dict[Value, AxisInfo]:
    """What is known of every value in a tt.func, its arguments included."""
    analysis = _Analysis()
    if function.regions:
        analysis.function(function)
    return analysis.known


class AxisFacts:
    """What is known of the values of a function as it was when this was made. Whoever changes the function
    counts its generation up, and these facts are refused from then on."""

    def __init__(self, function: Operation) -> None:
        self.function, self.generation = function, function.generation
        self.known = axis_info(function)

    @property
    def is_stale(self) -> bool:
        return self.generation != self.function.generation

    def of(self, value: Value) -> AxisInfo | None:
        """InternalError where the function has changed since."""
        if self.is_stale:
            raise InternalError(f"facts of generation {self.generation} of a function, which is at "
                                f"{self.function.generation} now")
        return self.known.get(value)


def axis_facts(value: Value) -> AxisInfo | None:
    """What is known of one value now; the function around it is analysed once a generation."""
    function = function_of(value.block)
    if function is None:
        return None
    facts = function.facts
    if not isinstance(facts, AxisFacts) or facts.is_stale:
        facts = function.facts = AxisFacts(function)
    return facts.of(value)


def hints_of(attributes: Mapping[str, object], rank: int) -> dict[str, tuple[int, ...]]:
    """tt.divisibility and its like, as powers of two: one number for all dimensions, or one for each.

    Groups of 24 that count up, or are equal, are groups of 8 that do and are; of those that begin inside a
    group of 24 a larger divisor is not said. Groups of 0 say nothing.
    """
    found: dict[str, tuple[int, ...]] = {}
    for name in HINTS:
        value = attributes.get(name)
        if isinstance(value, DenseAttr):
            value = value.values
        if isinstance(value, int):
            found[name] = (value,) * rank
        elif isinstance(value, tuple) and len(value) == rank:
            found[name] = value
    said = {name: tuple(power_of_two_divisor(size) if size or name == "tt.divisibility" else 1
                        for size in sizes) for name, sizes in found.items()}
    if "tt.divisibility" in said and "tt.contiguity" in said:
        groups = zip(said["tt.divisibility"], said["tt.contiguity"], found["tt.contiguity"], strict=True)
        said["tt.divisibility"] = tuple(d if c == whole else min(d, c) for d, c, whole in groups)
    return said


class _Analysis:
    """`known` holds the facts so far; a value that is not in it has not been reached."""

    def __init__(self) -> None:
        self.known: dict[Value, AxisInfo] = {}

    def function(self, op: Operation) -> None:
        entry = op.regions[0].entry
        said: Sequence[dict[str, Any]] = op.attributes.get("arg_attrs") or ({},) * len(entry.arguments)
        for argument, attributes in zip(entry.arguments, said, strict=True):
            info = self.nothing(argument)
            self.known[argument] = hinted(info, hints_of(attributes, info.rank)) if attributes else info
        self.graph(op.regions[0])

    def nothing(self, value: Value) -> AxisInfo:
        return unknown(len(lengths(value.type)))

    def info(self, value: Value) -> AxisInfo:
        """What is known; nothing of a value in code that is never reached."""
        return self.known.get(value) or self.nothing(value)

    def join(self, value: Value, info: AxisInfo) -> bool:
        """Another way to reach `value`; whether that took something away."""
        before = self.known.get(value)
        after = info if before is None else meet(before, info, unit(value.type))
        self.known[value] = after
        return after != before

    def joined(self, targets: Sequence[Value], sources: Sequence[Value]) -> bool:
        changed = False
        for target, source in zip(targets, sources, strict=True):
            info = self.known.get(source)
            changed |= info is not None and self.join(target, info)
        return changed

    # structure

    def graph(self, region: Region) -> None:
        """Blocks with branches; run until their arguments stay the same."""
        reached = {region.entry}
        changed = True
        while changed:
            changed = False
            for block in region.blocks:
                if block not in reached:
                    continue
                self.block(block)
                end = block.terminator
                for successor, values in _branches(end):
                    changed |= successor not in reached
                    reached.add(successor)
                    changed |= self.joined(successor.arguments, values)
        for block in region.blocks:
            if block not in reached:
                self.forget(block.arguments)
                self.block(block)

    def forget(self, values: Sequence[Value]) -> None:
        for value in values:
            self.known[value] = self.nothing(value)

    def block(self, block: Block) -> None:
        for op in block.operations:
            if op.regions:
                self.structured(op)
            elif op.results:
                self.simple(op)

    def simple(self, op: Operation) -> None:
        rule = rule_for(op.name)
        operands = [self.known.get(value) for value in op.operands]
        infos = [info for info in operands if info is not None]
        if rule is None or len(op.results) != 1 or len(infos) != len(operands):
            self.forget(op.results)
            return
        info = rule(op, infos)
        if not op.attributes.keys().isdisjoint(HINTS):
            info = hinted(info, hints_of(op.attributes, info.rank))
        self.known[op.results[0]] = info

    def structured(self, op: Operation) -> None:
        reader = {"scf.for": self.counted, "scf.while": self.conditional, "scf.if": self.branch}.get(op.name)
        if reader is not None:
            reader(op)
            return
        for region in op.regions:
            if region.blocks:
                self.forget(region.entry.arguments)
                self.graph(region)
        self.forget(op.results)

    def counted(self, op: Operation) -> None:
        body = op.regions[0].entry
        induction, *carried = body.arguments
        lower, step = self.info(op.lower), self.info(op.step)
        divisor = min(lower.divisor(0, 1), step.divisor(0, 1))
        counts_up = lower.nonnegative and (step.nonnegative or bool(op.attributes.get("unsignedCmp")))
        self.known[induction] = AxisInfo((1,), (divisor,), (1,), None, OPEN if counts_up else None)
        self.clear(carried)
        self.joined(carried, op.init)
        changed = True
        while changed:
            self.block(body)
            changed = self.joined(carried, body.terminator.operands)
        for result, argument in zip(op.results, carried, strict=True):
            self.known[result] = self.info(argument)

    def conditional(self, op: Operation) -> None:
        before, after = op.regions[0].entry, op.regions[1].entry
        self.clear(before.arguments)
        self.joined(before.arguments, op.init)
        changed = True
        while changed:
            self.block(before)
            forwarded = before.terminator.args
            self.clear(after.arguments)
            self.joined(after.arguments, forwarded)
            self.block(after)
            changed = self.joined(before.arguments, after.terminator.operands)
        for result, value in zip(op.results, before.terminator.args, strict=True):
            self.known[result] = self.info(value)

    def clear(self, values: Sequence[Value]) -> None:
        """An outer loop may run this again with less; begin anew."""
        for value in values:
            self.known.pop(value, None)

    def branch(self, op: Operation) -> None:
        yields = []
        for region in op.regions:
            if region.blocks:
                self.block(region.entry)
                yields.append(region.entry.terminator.operands)
        for index, result in enumerate(op.results):
            infos = [self.info(values[index]) for values in yields]
            self.known[result] = meet_all(infos, unit(result.type))


def _branches(op: Operation) -> list[tuple[Block, Sequence[Value]]]:
    """The successors of a terminator with what they get."""
    if op.name == "cf.br":
        return [(op.successors[0], op.dest_operands)]
    if op.name == "cf.cond_br":
        return [(op.successors[0], op.true_dest_operands), (op.successors[1], op.false_dest_operands)]
    if op.name == "cf.switch":
        found: list[tuple[Block, Sequence[Value]]] = [(op.successors[0], op.default_operands)]
        start = 0
        for block, count in zip(op.successors[1:], op.attributes["case_operand_segments"], strict=True):
            found.append((block, op.case_operands[start : start + count]))
            start += count
        return found
    return []
