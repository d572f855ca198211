"""`LaunchContract`: what the launcher must know of a kernel, and what it must be asked."""

from __future__ import annotations

from collections.abc import Sequence

from .. import panel_layout
from ..environment.base import Environment, Parameter
from ..facts.kept_panels import keeping_products, reads_apart
from ..facts.program_waits import waits
from ..facts.running_sums import only_adds
from ..ir.dialects import OPERATIONS
from ..ir.model import FloatType, Operation
from ..ir.module import Module
from ..spirv.builder import I32, I64
from ..spirv.module import Module as SpirvModule
from ..spirv.module import Value as Register
from ..target import MOST, Requirement, Target
from .values.types import element_of


class LaunchContract:
    """Collected while a kernel is lowered.

    parameters      id of a kernel parameter's register -> its number
    hidden          pointers that the runtime adds behind the user's arguments, by name
    asserts         of each by its number: file, line, function, message, shape of the condition
    prints          does it print?
    reports         does a check of it report that is no operation of the IR?
    requires        what must hold of the arguments
    shared_bytes    of shared memory
    overflows       may arrays that shared memory has no room for lie in global memory?
    overflow_bytes  of those, of a program
    register_bytes  what products need at once in the registers of a hardware thread, at most
    """

    def __init__(self, module: SpirvModule, env: Environment, target: Target) -> None:
        self._module, self._env, self._target = module, env, target
        self.parameters: dict[int, int] = {}
        self.hidden: dict[str, Register] = {}
        self.asserts: list[tuple[str, int, str, str, tuple[int, ...]]] = []
        self.prints = False
        self.reports = False
        self.requires: set[Requirement] = set()
        self.shared_bytes = 0
        self.overflows = False
        self.overflow_bytes = 0
        self.register_bytes = 0
        #: products that leave what they have packed, and of these those whose rounds may wait
        self.keeping: Sequence[Operation] = ()
        self.joined: Sequence[Operation] = ()

    def hidden_parameters(self, module: Module) -> list[Parameter]:
        """Pointers that the runtime adds behind the user's arguments: the assert words, where the module
        asserts or the device cuts loops short; the print buffer, where it prints through one; the word that
        programs draw their numbers from, where they wait for each other; the array of checks
        (check_layout.py); where arrays overflow, what is behind each other for all programs, in the order of
        their numbers; where a packed operand may be kept for the next program, room for it (panel_layout.py).
        """
        names, target = {op.name for op in module.walk()}, self._target
        traits = {trait for name in names if name in OPERATIONS for trait in OPERATIONS[name].traits}
        loops = "loops" in traits or "waits" in traits  # as often as users decide
        types = {"check_buffer": I64}
        self.keeping = self._keeping_products(module, names, traits)
        self.joined = [each for each in self.keeping if self._target.joined_steps and _is_f32(each)
                       and only_adds(each) and reads_apart(module, each)]
        wanted = {"check_buffer": self.reports or "ts.check_word" in names or "watches" in traits,
                  "assert_buffer": "tt.assert" in names or bool(target.loop_rounds and loops),
                  "print_buffer": "tt.print" in names and self._env.prints_to_buffer,
                  "ticket_buffer": not target.lanes and waits(module),
                  "overflow_buffer": self.overflows,
                  "panel_buffer": bool(self.keeping)}
        return [Parameter(name, "ptr", types.get(name, I32))
                for name, is_wanted in wanted.items() if is_wanted]

    def _keeping_products(self, module: Module, names: set[str], traits: set[str]) -> Sequence[Operation]:
        """The products whose packed right operands programs may leave for the next ones, if there are any."""
        target = self._target
        if self.reports or "ts.check_word" in names or "watches" in traits \
                or not target.optimises("kept-panels") or not (target.tile_registers or target.joined_steps):
            return ()
        products = keeping_products(module.entry)
        if target.tile_registers or all(map(_is_f32, products)):
            return products
        return ()  # rounds of others do not wait

    def bind_hidden(self, parameters: Sequence[Parameter], registers: Sequence[Register]) -> None:
        """The values of `hidden_parameters`, in order."""
        self.hidden = {p.name: register for p, register in zip(parameters, registers, strict=True)}
        self._env.print_buffer = self.hidden.get("print_buffer")
        if "panel_buffer" in self.hidden:
            self._place_along_x(self._env.address(self.hidden["panel_buffer"]))
        if "ticket_buffer" in self.hidden:
            self._env.draw_program(self.hidden["ticket_buffer"])
        if "overflow_buffer" in self.hidden:
            self._env.place_overflow(self.hidden["overflow_buffer"])

    def _place_along_x(self, memory: Register) -> None:
        """As the launcher says in the memory that panels are kept in."""
        env, b = self._env, self._env.b
        is_there = b.compare("OpINotEqual", env.load(env.pointer(memory, I32), 1), 0)
        env.place_along_x(is_there, b.iadd(memory, panel_layout.GRID_AT))

    def of_pitch(self, factor: int, parameter: Register | None, least: int) -> tuple[Requirement, ...] | None:
        """What the launcher must be asked for factor * parameter, a pitch, to be `least` bytes or more; None
        where that cannot be asked."""
        if parameter is None or factor <= 0:
            return () if parameter is None and least <= factor <= MOST else None
        number = self.parameter_number(parameter)
        return None if number is None else (Requirement(number, factor, least),)

    def parameter_number(self, register: Register) -> int | None:
        """Which of the kernel's parameters a register is, perhaps as it is used in addresses; None: none."""
        is_widened = register.op == "OpSConvert"
        return self.parameters.get(self._module.converted_from(register) if is_widened else register.id)


def _is_f32(product: Operation) -> bool:
    return element_of(product.a.type) == FloatType("f32")
