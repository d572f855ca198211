"""A program that fails tells its launcher so: assert_layout.py says in which words."""

from __future__ import annotations

from ..ir.location import Location
from ..spirv.builder import I32
from ..spirv.control import if_
from ..spirv.module import SourceLocation
from ..spirv.module import Value as Register
from .context import Context


def fail(ctx: Context, number: int, index: Register | None = None) -> None:
    """Write the number of an assertion, the program and the element, i32, unless another one has failed."""
    b, env, words = ctx.b, ctx.env, ctx.launch.hidden["assert_buffer"]
    free = b.constant(I32, 0)
    before = env.compare_exchange(words, free, b.constant(I32, number), "gpu", "relaxed")
    with if_(b.module, b.compare("OpIEqual", before, free)):
        fields = [env.program_id(axis) for axis in range(3)] + ([] if index is None else [index])
        for place, field in enumerate(fields, 1):
            env.store(env.offset(words, b.constant(I32, place)), field)


def record(ctx: Context, place: Location | SourceLocation | None, function: str, message: str,
           shape: tuple[int, ...] = ()) -> int:
    """The number of a new assertion. shape: of its condition."""
    file, line = (place.file, place.line) if place else ("?", 0)
    ctx.launch.asserts.append((file, line, function, message, shape))
    return len(ctx.launch.asserts)
