"""Python's collector of cycles, put off while a kernel is compiled.

A compilation makes tens of thousands of objects and keeps nearly all of them until it ends. The collector
walks them again and again, and finds nothing to free: 6 to 14 % of a small compilation.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_later() -> Iterator[None]:
    """No collection inside. Of several threads inside, the one that put it off takes it up again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
