"""Where doubtful values come from, carried beside them to where they matter.

What a check calls doubtful, a value that nobody gave or a NaN made of numbers, does no harm in an element
that is dropped: kernels compute on masked elements all the time. So each value that may be doubtful has a
*shadow*: an i32 of the same shape, 0 where the element is sound, else the number of the site that made it
doubtful. The shadow of a result is the greatest of its operands', the shadows of loops and branches travel as
the values do, and where an element is stored, addressed by or branched on, its shadow is reported.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.pointers import flow
from ...ir.model import (
    Block,
    FloatType,
    FunctionType,
    IntegerType,
    Operation,
    PointerType,
    Type,
    Value,
    element_type,
    like,
)
from ...ir.module import Module
from .inheritance import I32, Inheritance
from .sites import Before, Sites

#: shadow of what was doubtful before the kernel saw it: carried on, never reported
GIVEN = 0x3FFFFFFF

#: operations that a branch or a loop takes its way by: the operands that decide
DECIDES = {"scf.if": ("condition",), "scf.condition": ("condition",), "cf.cond_br": ("condition",),
           "scf.for": ("lower", "upper", "step")}

#: where control goes on to other blocks, which are given values
JUMPS = ("cf.br", "cf.cond_br")


class Source:
    """What is doubtful, for one check: `makes` names the operations whose results may be, `shadow` gives the
    shadow of one such result, of what came from its operands (None: all are sound), behind the operation."""

    check = ""

    def __init__(self, sites: Sites) -> None:
        self.sites = sites

    def makes(self, op: Operation) -> bool:
        raise NotImplementedError

    def keeps(self, type: Type) -> bool:
        """Can values of a type be doubtful?"""
        return isinstance(element_type(type), (IntegerType, FloatType, PointerType))

    def shadow(self, op: Operation, result: Value, make: Before, inherited: Value | None) -> Value | None:
        raise NotImplementedError

    def number(self, shadow: Value, make: Before) -> Value:
        """The number of the site in a shadow."""
        return shadow

    #: may arguments of the kernel be doubtful?
    argues = False

    def of_argument(self, value: Value, make: Before) -> Value | None:
        """The shadow of such an argument; None: it is sound."""
        return None

    def fine(self, op: Operation, make: Before) -> Value:
        """Where this holds, an operation has nothing to report, and nothing is looked at."""
        return make.number(0, IntegerType(1))

    def site(self, op: Operation) -> int:
        """The number of the operation as a place that makes doubtful values."""
        self.sites.add(op, self.check, self.describe(op))
        return len(self.sites.known)

    def describe(self, op: Operation) -> str:
        """What the operation made, for the user."""
        return op.name


class Shadows:
    """The shadows of the values of a module's functions."""

    def __init__(self, module: Module, sites: Sites, source: Source) -> None:
        self.module, self.sites, self.source = module, sites, source
        self.functions = [op for op in module.operation.walk() if op.has("function") and op.regions]
        self.shadows: dict[Value, Value] = {}
        self.inheritance = Inheritance(self.shadows)
        #: by function: which of its results may be doubtful
        self.returned: dict[Operation, list[int]] = {}
        self.doubtful = self._reached()

    def add(self) -> None:
        """Write the shadows, and the reports, into the functions."""
        entry = self.module.entry.regions[0].entry
        for argument in entry.arguments if self.source.argues else ():
            shadow = self.source.of_argument(argument, Before(entry.operations[0]))
            if shadow is not None:
                self.shadows[argument] = shadow
        if not self.doubtful:
            return
        for function in self.functions:
            self._arguments(function)
        for function in self.functions:
            for block in function.regions[0].blocks:
                self._block(block)
        for function in self.functions:
            self._retype(function)

    def _arguments(self, function: Operation) -> None:
        """Its blocks take the shadows of what they take, but for the kernel's entry."""
        for block in function.regions[0].blocks:
            if block is not self.module.entry.regions[0].entry:
                for argument in list(block.arguments):
                    if argument in self.doubtful:
                        self.shadows[argument] = block.append_argument(like(argument.type, I32), "shadow")
        self.returned[function] = sorted({
            index for end in _returns(function) for index, value in enumerate(end.operands)
            if value in self.doubtful})

    def _retype(self, function: Operation) -> None:
        """The function's type is what it has become."""
        type: FunctionType = function.attributes["function_type"]
        inputs = tuple(argument.type for argument in function.regions[0].entry.arguments)
        ends = _returns(function)
        results = tuple(value.type for value in ends[0].operands) if ends else type.results
        if (inputs, results) != (type.inputs, type.results):
            function.set_attribute("function_type", FunctionType(inputs, results))
            said = function.attributes.get("arg_attrs") or ()
            if said:
                function.set_attribute("arg_attrs", (*said, *({},) * (len(inputs) - len(said))))

    def _reached(self) -> set[Value]:
        """The values that may be doubtful."""
        arguments = self.module.entry.regions[0].entry.arguments if self.source.argues else ()
        found = {argument for argument in arguments if self.source.keeps(argument.type)}
        targets: dict[Value, list[Value]] = {}
        inside = {op for whole in self.module.walk() if is_whole(whole) for op in whole.walk()[1:]}
        for op in self.module.walk():
            if op in inside:
                continue
            if is_whole(op):
                for source in op.operands:
                    targets.setdefault(source, []).extend(op.results)
            elif not op.has("function") and (not op.successors or op.name in JUMPS):
                for source, target in flow(op, self.module):
                    targets.setdefault(source, []).append(target)
            if not op.has("calls") and not op.has("function") and self.source.makes(op):
                found.update(result for result in op.results if self.source.keeps(result.type))
        pending = list(found)
        while pending:
            new = [x for x in targets.get(pending.pop(), ()) if x not in found and self.source.keeps(x.type)]
            found.update(new)
            pending += new
        return found

    # --- blocks and regions ---------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for op in list(block.operations):
            self._sinks(op)
            if op.has("counts"):
                self._loop(op)
            elif op.name == "scf.while":
                self._while(op)
            elif op.has("calls"):
                self._call(op)
            elif op.name == "tt.return" and op.parent_op is not None:
                self._yield(block, self.returned[op.parent_op])
            elif op.name in JUMPS:
                self._jump(op)
            elif op.has("maps") and not branches(op):
                self._mapped(op)
            elif not op.regions or is_whole(op):
                self._plain(op)
                for called in op.walk()[1:]:
                    if called.has("calls"):
                        self._call(called)
            else:
                self._branch(op)

    def _plain(self, op: Operation) -> None:
        if not any(result in self.doubtful for result in op.results):
            return
        block = op.parent
        assert block is not None
        make = Before(block.operations[block.operations.index(op) + 1], op.location)
        inherited = self.inheritance.of_results(op, make)
        for result, shadow in zip(op.results, inherited, strict=True):
            if result in self.doubtful:
                made = self.source.shadow(op, result, make, shadow) if self.source.makes(op) else shadow
                if made is not None:
                    self.shadows[result] = made

    def _call(self, op: Operation) -> None:
        callee, make = self.module.functions[op.attributes["callee"]], Before(op)
        if callee not in self.returned:
            return  # it has no body: the lowering refuses it
        for value, argument in zip(list(op.operands), callee.regions[0].entry.arguments, strict=False):
            if argument in self.doubtful:
                op.append_operand(self.inheritance.shadow(value, make))
        for index in self.returned[callee]:
            result = op.results[index]
            self.shadows[result] = op.append_result(like(result.type, I32), "shadow")

    def _jump(self, op: Operation) -> None:
        """Each block is given the shadows that it takes, behind the values."""
        make, first = Before(op), 1 if op.name == "cf.cond_br" else 0
        operands, segments = list(op.operands[:first]), [1] * first
        names = ("dest_operands",) if not first else ("true_dest_operands", "false_dest_operands")
        for name, block in zip(names, op.successors, strict=True):
            values = list(getattr(op, name))
            taken = [argument for argument in block.arguments[:len(values)] if argument in self.doubtful]
            shadows = [self.inheritance.shadow(values[argument.index], make) for argument in taken]
            operands += [*values, *shadows]
            segments.append(len(values) + len(shadows))
        if len(operands) > len(op.operands):
            moved = Operation(op.name, operands, dict(op.attributes), [], [], op.location, tuple(segments),
                              successors=list(op.successors))
            make.insert(moved)
            op.erase()

    def _loop(self, op: Operation) -> None:
        body = op.regions[0].entry
        carried = [i for i, result in enumerate(op.results) if result in self.doubtful]
        make = Before(op)
        for i in carried:
            op.append_operand(self.inheritance.shadow(op.init[i], make))
        for i in carried:
            argument = body.arguments[1 + i]
            self.shadows[argument] = body.append_argument(like(argument.type, I32), "shadow")
        self._block(body)
        self._yield(body, carried)
        for i in carried:
            self.shadows[op.results[i]] = op.append_result(like(op.results[i].type, I32), "shadow")

    def _while(self, op: Operation) -> None:
        before, after = (region.entry for region in op.regions)
        make = Before(op)
        entering = [i for i, argument in enumerate(before.arguments) if argument in self.doubtful]
        leaving = [i for i, result in enumerate(op.results) if result in self.doubtful]
        for i in entering:
            op.append_operand(self.inheritance.shadow(op.init[i], make))
        for i in entering:
            argument = before.arguments[i]
            self.shadows[argument] = before.append_argument(like(argument.type, I32), "shadow")
        self._block(before)
        end = before.terminator
        forwarded, made = end.args, Before(end)
        for i in leaving:
            end.append_operand(self.inheritance.shadow(forwarded[i], made))
        for i in leaving:
            argument = after.arguments[i]
            self.shadows[argument] = after.append_argument(like(argument.type, I32), "shadow")
        self._block(after)
        self._yield(after, entering)
        for i in leaving:
            self.shadows[op.results[i]] = op.append_result(like(op.results[i].type, I32), "shadow")

    def _mapped(self, op: Operation) -> None:
        """Elements one by one: the region takes their shadows, and gives those of its results."""
        body, pack, make = op.regions[0].entry, op.attributes["pack"], Before(op)
        sources, arguments = list(op.operands), list(body.arguments)
        for i, source in enumerate(sources):
            if source in self.shadows:
                op.append_operand(self.inheritance.shadow(source, make))
                for argument in arguments[i * pack:(i + 1) * pack]:
                    self.shadows[argument] = body.append_argument(I32, "shadow")
        self._block(body)
        returned = [i for i, result in enumerate(op.results) if result in self.doubtful]
        self._yield(body, [i * pack + k for i in returned for k in range(pack)])
        for i in returned:
            self.shadows[op.results[i]] = op.append_result(like(op.results[i].type, I32), "shadow")

    def _branch(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._block(block)
        if any(len(region.blocks) != 1 for region in op.regions):
            return
        returned = [i for i, result in enumerate(op.results) if result in self.doubtful]
        for region in op.regions:
            self._yield(region.entry, returned)
        for i in returned:
            self.shadows[op.results[i]] = op.append_result(like(op.results[i].type, I32), "shadow")

    def _yield(self, block: Block, which: Sequence[int]) -> None:
        end = block.terminator
        values, make = list(end.operands), Before(end)
        for i in which:
            end.append_operand(self.inheritance.shadow(values[i], make))

    # --- where it matters -----------------------------------------------------------------------------------

    def _sinks(self, op: Operation) -> None:
        """Report what an operation stores, reaches memory by, or decides by."""
        watched: list[tuple[str, Value]] = []
        if op.has("accesses"):
            what = "atomic" if op.has("atomic") else "store" if op.has("writes") else "load"
            names = [name for name in ("ptr", "value", "val", "cmp") if name in op.operand_names()]
            watched = [(f"address of the {what}" if name == "ptr" else what, getattr(op, name))
                       for name in names]
            mask = getattr(op, "mask", None) if "mask" in op.operand_names() else None
            if mask is not None:
                watched.append((f"mask of the {what}", mask))
        else:
            mask = None
            watched = [("branch", getattr(op, name)) for name in DECIDES.get(op.name, ())]
        for what, value in watched:
            shadow = self.shadows.get(value)
            if shadow is not None:
                self._report(op, what, shadow, None if value is mask else mask)

    def _report(self, op: Operation, what: str, shadow: Value, mask: Value | None) -> None:
        word = self.sites.add(op, self.source.check, what)
        make = Before(op)
        shadow = self.source.number(shadow, make)
        bad = make.compare("sgt", shadow, make.number(0, shadow.type))
        bad = make.both(bad, make.compare("ne", shadow, make.number(GIVEN, shadow.type)))
        fine = self.source.fine(op, make)
        make.make("ts.report", [fine, make.both(mask, bad), shadow], None, word=word)


def _returns(function: Operation) -> list[Operation]:
    ends = [block.terminator for block in function.regions[0].blocks]
    return [end for end in ends if end.name == "tt.return"]


def is_whole(op: Operation) -> bool:
    """Has it a region in which nothing has a shadow, as a reduction's combiner? Functions that are called
    there may be called elsewhere, too, and take shadows."""
    by_element = op.has("maps") and not branches(op)
    return bool(op.regions) and not op.has("function") and op.is_pure and not by_element


def branches(op: Operation) -> bool:
    """Has its region blocks among which control goes on?"""
    return len(op.regions[0].blocks) != 1
