"""A module as blocks of steps: each step is a function of a warp, made once for each instruction."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from triton_spirv.spirv import asm, grammar
from triton_spirv.spirv.decode import Contents, Decoded, decode
from triton_spirv.spirv.types import Type

from .findings import Unsupported
from .values import constants

#: makes the function of an instruction: of the program, the instruction, and its number
Maker = Callable[["Program", Decoded, int], Callable[[Any], Any]]

SILENT = frozenset(["OpLabel", "OpLine", "OpNoLine", "OpFunctionParameter", "OpFunctionEnd", "OpFunction",
                    "OpVariable", "OpSelectionMerge", "OpLoopMerge", "OpPhi", "OpNop"])
TERMINATORS = frozenset(["OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpUnreachable"])
#: before these another warp may go on
PAUSES = frozenset(["OpLoad", "OpStore", "OpMemoryBarrier", "OpFunctionCall", "OpMaskedGatherINTEL",
                    "OpMaskedScatterINTEL"])
#: memory that other warps do not meet
ALONE = ("Input", "Function", "PushConstant", "UniformConstant")
SUBGROUP, WORKGROUP = 3, 2


@dataclass
class Place:
    """Where an instruction stands: line of the listing, its text, the user's file and line."""

    line: int = 0
    text: str = ""
    source: str = ""


@dataclass
class Step:
    """An instruction to execute. `pauses`: it may meet what other warps do. `barrier`: of the work-group."""

    number: int
    name: str
    run: Callable[[Any], Any]
    pauses: bool = False
    barrier: bool = False


@dataclass
class Block:
    """Instructions up to a branch; a phi is its result, its values by the block before, its number."""

    label: int
    phis: list[tuple[int, dict[int, int], int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    end: Decoded | None = None
    end_number: int = 0


def _spliced(kernel: list[Decoded], called: list[Decoded]) -> list[Decoded]:
    """A kernel that does nothing but call a function of its module, with that in place of the call."""
    at = next(i for i, it in enumerate(kernel)
              if it.name == "OpFunctionCall" and it.words[0] == called[0].result)
    parameters = [it for it in called if it.name == "OpFunctionParameter"]
    copies = [Decoded("OpCopyObject", it.type, it.result, (value,), grammar.instruction("OpCopyObject"))
              for it, value in zip(parameters, kernel[at].words[1:], strict=True)]
    begin = next(i for i, it in enumerate(called) if it.name == "OpLabel")
    branch = Decoded("OpBranch", 0, 0, (called[begin].result,), grammar.instruction("OpBranch"))
    return [*kernel[:at], *copies, branch, *called[begin:]]


class Program:
    """A module with one kernel, and perhaps a function that it calls. `without`: numbers of instructions that
    are left out (for mutations)."""

    def __init__(self, words: bytes, makers: dict[str, Maker], without: frozenset[int] = frozenset()) -> None:
        self.contents: Contents = decode(words)
        self.types = self.contents.value_types
        self.constants, self.undefined = constants(self.contents)
        #: pointers into the variables of builtins: the variable and the component
        self.components: dict[int, tuple[int, int]] = {}
        self.is_shader = any(it.name == "OpCapability" and it.words[0] == 1 for it in self.contents.preamble)
        entries = list(self.contents.entries)
        if len(entries) != 1:
            raise Unsupported(f"a module with {len(entries)} entry points")
        functions = {body[0].result: body for body in self.contents.functions}
        kernel = functions[entries[0]]
        called = next((functions[it.words[0]] for it in kernel if it.name == "OpFunctionCall"
                       and any(each.name == "OpLabel" for each in functions[it.words[0]])), None)
        self.body = kernel if called is None else _spliced(kernel, called)
        self.imports = {body[0].result: self._import_name(body) for body in self.contents.functions
                        if not any(it.name == "OpLabel" for it in body)}
        self.sub_group_size, self.local_size = 1, 1
        for mode in self.contents.modes[entries[0]]:
            name = grammar.enumerant_names("ExecutionMode")[mode[0]]
            if name == "LocalSize":
                self.local_size = mode[1] * mode[2] * mode[3]
            elif name == "SubgroupSize":
                self.sub_group_size = mode[1]
        self.places = self._places(words, [kernel] if called is None else [kernel, called])
        self.parameters = [it for it in self.body if it.name == "OpFunctionParameter"]
        self.variables = [it for it in (*self.contents.globals, *self.body) if it.name == "OpVariable"]
        self.bound = 1 + max([it.result for body in self.contents.functions for it in body]
                             + list(self.constants) + [it.result for it in self.contents.globals])
        self.without = without
        self.blocks = self._blocks(makers)
        self.order = {block.label: i for i, block in enumerate(self.blocks)}

    def _import_name(self, body: list[Decoded]) -> str:
        id = body[0].result
        number = grammar.enumerant("Decoration", "LinkageAttributes").value
        for decoration in self.contents.decorations.get((id,), ()):
            if decoration[0] == number:
                from triton_spirv.spirv.literals import string_of

                return string_of(decoration[1:])[0]
        return self.contents.names.get((id,), "")

    def type(self, id: int) -> Type:
        """The type of a value."""
        return self.types[id]

    def decoration(self, id: int, name: str) -> tuple[int, ...] | None:
        """The parameters of a decoration of an id; None where it has none."""
        number = grammar.enumerant("Decoration", name).value
        for decoration in self.contents.decorations.get((id,), ()):
            if decoration[0] == number:
                return decoration[1:]
        return None

    def _places(self, words: bytes, bodies: list[list[Decoded]]) -> list[Place]:
        """Per instruction of the body its place: in the kernel, and the function that it calls."""
        found: dict[int, Place] = {}
        for body, head in zip(bodies, (("kernel ", "glcompute "), "function "), strict=False):
            self._places_of(words, body, head, found)
        return [found.get(id(it), Place()) for it in self.body]

    def _places_of(self, words: bytes, body: list[Decoded], head: str | tuple[str, ...],
                   found: dict[int, Place]) -> None:
        """The listing has a line for each instruction, and for OpLine."""
        listing = asm.listing(words).splitlines()
        text = [i for i, line in enumerate(listing, 1) if not line.startswith(f"{asm.INDENT};")]
        first = next(i for i in text if listing[i - 1].startswith(head))
        lines, source = iter(text[text.index(first):]), ""
        for it in body:
            if it.name == "OpLabel":
                source = ""
            if it.name == "OpLine":
                source = f"{os.path.basename(self.contents.strings[it.words[0]])}:{it.words[1]}"
            if it.name not in ("OpLine", "OpNoLine", "OpFunctionParameter", "OpFunctionEnd"):
                line = next(lines)
                found[id(it)] = Place(line, listing[line - 1].strip(), source)

    def _blocks(self, makers: dict[str, Maker]) -> list[Block]:
        blocks: list[Block] = []
        for number, it in enumerate(self.body):
            name = it.name
            if name == "OpLabel":
                blocks.append(Block(it.result))
            elif name == "OpPhi":
                values = dict(zip(it.words[1::2], it.words[::2], strict=True))
                blocks[-1].phis.append((it.result, values, number))
            elif name in TERMINATORS:
                blocks[-1].end, blocks[-1].end_number = it, number
            elif name not in SILENT and number not in self.without:
                blocks[-1].steps.append(self._step(makers, it, number))
        return blocks

    def _step(self, makers: dict[str, Maker], it: Decoded, number: int) -> Step:
        maker = makers.get(it.name)
        if maker is None:
            raise Unsupported(f"the machine does not know {it.name}")
        is_barrier = it.name == "OpControlBarrier" and int(self.constants[it.words[0]][0, 0]) == WORKGROUP
        pauses = it.name in PAUSES or it.name.startswith(("OpAtomic", "OpPredicated", "OpSubgroup", "OpCoop"))
        if it.name in ("OpLoad", "OpStore"):
            pauses = self.type(it.words[0]).storage_class not in ALONE  # type: ignore[attr-defined]
        return Step(number, it.name, maker(self, it, number), pauses, is_barrier)
