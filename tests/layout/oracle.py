"""Triton's own LinearLayout of a layout, asked for in a process of its own.

The binding keeps four attributes for ever once `to_linear_layout` has been called, and complains about itself
("nanobind: leaked 4 instances!") when the process ends. This one ends without that.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection
from typing import Any


class Oracle:
    """`oracle(layout, shape)`: Triton's answer; what it raises is raised."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._questions, other = context.Pipe()
        self._process = context.Process(target=answer, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def __call__(self, layout: Any, shape: tuple[int, ...]) -> Any:
        self._questions.send((layout, list(shape)))
        answered, value = self._questions.recv()
        if not answered:
            raise value
        return value

    def close(self) -> None:
        self._questions.close()
        self._process.join(60)


def answer(questions: Connection) -> None:
    """The process: until the other end is closed."""
    from triton._C.libtriton import gluon_ir, ir

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    while True:
        try:
            layout, shape = questions.recv()
        except EOFError:
            os._exit(0)
        try:
            questions.send((True, builder.to_linear_layout(layout._to_ir(builder), shape)))
        except Exception as error:
            questions.send((False, error))
