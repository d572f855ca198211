"""Private arrays: large tensors in memory of the work-item, read and written under any layout."""

from __future__ import annotations

from math import prod

from ...environment.base import Environment
from ...ir.model import Type
from ...layout import Layout
from ...spirv.builder import I32, Builder
from ...spirv.module import Value as Register
from ..plan.recorder import Recorder
from ..values import fragment as fragments
from ..values.tensor import Fragment, Stored
from ..values.types import register_type
from .indices import Indices
from .scopes import Scopes


class Arrays:
    """Making, reading and writing private arrays, in vectors of up to `width` elements."""

    def __init__(self, b: Builder, env: Environment, width: int, indices: Indices, scopes: Scopes,
                 recorder: Recorder) -> None:
        self.b, self.env, self.width = b, env, width
        self.indices, self.scopes, self.recorder = indices, scopes, recorder

    def allocate(self, shape: tuple[int, ...], element: Type) -> Stored:
        """A private array for a whole tensor."""
        width = min(prod(shape), self.width)
        return Stored(
            shape, element, self.env.private_array(register_type(element), prod(shape), width), width
        )

    def write(self, stored: Stored, fragment: Fragment) -> None:
        """Write the registers of a fragment (at the current step) to their places."""
        b, layout = self.b, fragment.layout
        self.recorder.writes(stored, layout)
        count = min(fragments.contiguous(layout), stored.width)
        dynamic = self._dynamic_place(layout)
        for register, base in zip(fragment.registers, layout.register_indices, strict=True):
            for c in range(0, layout.width, count):
                part = fragments.components(b, register, range(c, c + count))
                index = base ^ layout.component_indices[c]
                self.env.private_store(stored.array, stored.width, dynamic, part, index)

    def _dynamic_place(self, layout: Layout) -> Register:
        """What only run time knows of the places of elements; what is known when compiling comes on top."""
        dynamic = self.indices.dynamic_index(layout)
        return self.b.constant(I32, 0) if dynamic is None else dynamic

    def read(self, stored: Stored, layout: Layout) -> Fragment:
        """Its elements under a layout (at the current step)."""
        b = self.b
        self.recorder.reads(stored, layout)
        count = min(fragments.contiguous(layout), stored.width)
        dynamic = self._dynamic_place(layout)
        element = register_type(stored.element)
        registers = []
        for base in layout.register_indices:
            parts = [self.env.private_load(stored.array, stored.width, element, dynamic, count,
                                           base ^ layout.component_indices[c])
                     for c in range(0, layout.width, count)]
            registers.append(fragments.concatenate(b, parts))
        return Fragment(layout, stored.element, tuple(registers))

    def spill(self, tensor: Fragment) -> Stored:
        """An array with the elements of a fragment, for accesses that only run time knows."""
        known = self.scopes.spilled(tensor)
        if known is not None:
            return known
        stored = self.allocate(tensor.shape, tensor.element)
        pieces, self.indices.pieces = self.indices.pieces, []
        self.write(stored, tensor)
        self.indices.pieces = pieces
        self.scopes.spill(tensor, stored)
        return stored
