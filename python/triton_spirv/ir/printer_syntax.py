"""Printers of the operations whose syntax no format line can say: as syntax.py reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .literals import dense, dictionary, number, quote, symbol
from .model import DenseAttr, Operation, Value
from .types import FunctionType, IntegerType

if TYPE_CHECKING:
    from .printer import Printer


def _spaced(text: str) -> str:
    return " " + text if text else ""


def _without(op: Operation, *names: str) -> dict[str, Any]:
    return {name: value for name, value in op.attributes.items() if name not in names}


def _module(p: Printer, op: Operation, depth: int) -> None:
    attributes = dictionary(_without(op, "sym_name"))
    name = _spaced(symbol(op.attributes["sym_name"]) if "sym_name" in op.attributes else "")
    p.put(f"module{name}{' attributes ' + attributes if attributes else ''} ")
    p.region(op.regions[0], depth)


def _function(p: Printer, op: Operation, depth: int) -> None:
    type: FunctionType = op.attributes["function_type"]
    block = op.regions[0].blocks[0] if op.regions else None
    parts = []
    for index, (input, extra) in enumerate(zip(type.inputs, op.attributes["arg_attrs"], strict=True)):
        name = f"{p.define([block.arguments[index]])}: " if block is not None else ""
        parts.append(f"{name}{input}{_spaced(dictionary(extra))}")
    results = " -> " + str(FunctionType((), type.results))[6:] if type.results else ""
    rest = dictionary(_without(op, "sym_name", "sym_visibility", "function_type", "arg_attrs"))
    visibility = _spaced(op.attributes.get("sym_visibility", ""))
    p.put(f"tt.func{visibility} {symbol(op.attributes['sym_name'])}({', '.join(parts)}){results}")
    p.put(" attributes " + rest if rest else "")
    if op.regions:
        p.put(" ")
        p.region(op.regions[0], depth)


def _constant(p: Printer, op: Operation, depth: int) -> None:
    value, type = op.attributes["value"], op.results[0].type
    rest = _spaced(dictionary(_without(op, "value")))
    text = dense(value) if isinstance(value, DenseAttr) else number(value, type)
    suffix = "" if isinstance(value, (bool, DenseAttr)) else f" : {type}"
    p.put(f"arith.constant{rest} {text}{suffix}")


def _select(p: Printer, op: Operation, depth: int) -> None:
    condition = "" if op.condition.type == IntegerType(1) else f"{op.condition.type}, "
    p.put(f"arith.select {p.use(op.operands)}{_spaced(dictionary(op.attributes))}")
    p.put(f" : {condition}{op.results[0].type}")


def _poison(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"ub.poison{_spaced(dictionary(op.attributes))} : {op.results[0].type}")


def _assignments(p: Printer, arguments: list[Value], initial: tuple[Value, ...]) -> str:
    return (
        "("
        + ", ".join(f"{p.define([a])} = {p.use([v])}" for a, v in zip(arguments, initial, strict=True))
        + ")"
    )


def _for(p: Printer, op: Operation, depth: int) -> None:
    induction, *carried = op.regions[0].entry.arguments
    unsigned = " unsigned" if op.attributes.get("unsignedCmp") else ""
    p.put(f"scf.for{unsigned} {p.define([induction])} = ")
    p.put(f"{p.use([op.lower])} to {p.use([op.upper])} step {p.use([op.step])} ")
    if op.init:
        p.put(f"iter_args{_assignments(p, carried, op.init)} -> ({p.types(op.results)}) ")
    p.put(f": {induction.type} ")
    p.region(op.regions[0], depth, skip="scf.yield")
    p.put(_spaced(dictionary(_without(op, "unsignedCmp"))))


def _while(p: Printer, op: Operation, depth: int) -> None:
    before, after = op.regions
    head = " " + _assignments(p, before.entry.arguments, op.init) if op.init else ""
    p.put(f"scf.while{head} : ({p.types(op.init)}) -> {p._results(op)} ")
    p.region(before, depth)
    p.put(" do ")
    p.region(after, depth, arguments=True)
    rest = dictionary(op.attributes)
    p.put(" attributes " + rest if rest else "")


def _if(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"scf.if {p.use([op.condition])} " + (f"-> ({p.types(op.results)}) " if op.results else ""))
    p.region(op.regions[0], depth, skip="scf.yield")
    if op.regions[1].blocks:
        p.put(" else ")
        p.region(op.regions[1], depth, skip="scf.yield")
    p.put(_spaced(dictionary(op.attributes)))


def _execute_region(p: Printer, op: Operation, depth: int) -> None:
    p.put("scf.execute_region " + (f"-> ({p.types(op.results)}) " if op.results else ""))
    p.region(op.regions[0], depth)
    p.put(_spaced(dictionary(op.attributes)))


def _br(p: Printer, op: Operation, depth: int) -> None:
    p.put(f"cf.br {p.successor(op.successors[0], op.dest_operands)}{_spaced(dictionary(op.attributes))}")


def _cond_br(p: Printer, op: Operation, depth: int) -> None:
    then = p.successor(op.successors[0], op.true_dest_operands)
    otherwise = p.successor(op.successors[1], op.false_dest_operands)
    p.put(f"cf.cond_br {p.use([op.condition])}, {then}, {otherwise}{_spaced(dictionary(op.attributes))}")


def _switch(p: Printer, op: Operation, depth: int) -> None:
    cases = [f"default: {p.successor(op.successors[0], op.default_operands)}"]
    start = 0
    for case, count, block in zip(
        op.attributes["case_values"], op.attributes["case_operand_segments"], op.successors[1:], strict=True
    ):
        cases.append(f"{case}: {p.successor(block, op.case_operands[start : start + count])}")
        start += count
    rest = dictionary(_without(op, "case_values", "case_operand_segments"))
    p.put(f"cf.switch {p.use([op.flag])} : {op.flag.type}, [{', '.join(cases)}]{_spaced(rest)}")


def _assume(p: Printer, op: Operation, depth: int) -> None:
    values = op.op_bundle_operands
    tags = op.attributes.get("op_bundle_tags", ())
    bundle = f" [{quote(tags[0])}({p.use(values)} : {p.types(values)})]" if tags else ""
    rest = dictionary(_without(op, "op_bundle_tags"))
    p.put(f"llvm.intr.assume {p.use([op.cond])}{bundle}{_spaced(rest)} : i1")


def _gpu_barrier(p: Printer, op: Operation, depth: int) -> None:
    p.put("gpu.barrier" + _spaced(dictionary(op.attributes)))


def _warp_specialize(p: Printer, op: Operation, depth: int) -> None:
    rest = dictionary(_without(op, "partitionNumWarps"))
    p.put(f"ttg.warp_specialize({p.use(op.operands)}){' attributes ' + rest if rest else ''}")
    indent = "  " * depth
    p.lines.append(f"{indent}default ")
    p.region(op.regions[0], depth)
    for index, (region, warps) in enumerate(
        zip(op.regions[1:], op.attributes["partitionNumWarps"], strict=True)
    ):
        p.lines.append(f"{indent}partition{index}{p.arguments(region.entry) or '()'} num_warps({warps}) ")
        p.region(region, depth)
    p.put(f" : ({p.types(op.operands)}) -> {p._results(op)}")


PRINTERS: dict[str, Callable[[Printer, Operation, int], None]] = {
    "module": _module,
    "function": _function,
    "constant": _constant,
    "select": _select,
    "poison": _poison,
    "for": _for,
    "while": _while,
    "if": _if,
    "execute_region": _execute_region,
    "br": _br,
    "cond_br": _cond_br,
    "switch": _switch,
    "assume": _assume,
    "gpu_barrier": _gpu_barrier,
    "warp_specialize": _warp_specialize,
}
