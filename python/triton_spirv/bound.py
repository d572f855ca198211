"""Launches of a kernel that is launched again and again: `triton_spirv.bind`.

A first launch takes about 10 microseconds, most of them Triton's own: it looks at each argument, writes down
what it has seen as text, and looks that up. A bound launch has done so once. A launch that is repeated has,
too; it takes 3, as it looks up what it is like, and works out its grid.

    add_1024 = triton_spirv.bind(add, (1,), x, y, out, 1024, BLOCK=1024)
    add_1024(x, y, out, 1024)
    add_1024(u, v, out, 1000)
"""

from __future__ import annotations

from collections.abc import Callable

from .plugin import front_end


def bind(kernel: object, grid: object, *arguments: object, **keywords: object) -> Callable[..., None]:
    """A function that launches a kernel as `kernel[grid](*arguments, **keywords)` would, in less time. The
    kernel is compiled here, and not launched; one that is to be tuned for these arguments is tuned, and
    launched once.

    The function takes what was positional here, by position; what was given by keyword stays as it is. Where
    an argument, a hook, the device or checked mode is such that Triton would choose another kernel than
    here, the call is the ordinary launch; `why_ordinary` of the function says why the latest one was, and is
    "" while none was. A grid that is a function is called each time.

    UsageError for what is no kernel.
    """
    made: Callable[..., None] = front_end("bound").bind(kernel, grid, arguments, keywords)
    return made
