"""Flex attention on a CPU through torch's Triton templates.

torch's lowering begins with a branch for CPUs, to a template in C++, which Inductor's Triton backend cannot
take: "unexpected keyword argument 'hint_override'". Here the same lowering runs without that branch.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any
from unittest import mock

from triton_spirv.errors import UnsupportedOperation
from triton_spirv.runtime.processor import cores

WAY_OUT = ("compile this model with Inductor's C++ backend (torch._inductor.config.cpu_backend = 'cpp', "
           "outside of triton_spirv.inductor.enabled())")

#: numbers of a query, key or value: tl.dot adds up so many products or more
FEWEST = 16


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each flex attention of the CPU."""
    from torch._inductor import config
    from torch._inductor.kernel.flex import flex_attention

    torchs = flex_attention.lower_cpu

    def lower_cpu(*arguments: Any) -> Any:
        return (lower if config.cpu_backend == "triton" else torchs)(*arguments)

    flex_attention.lower_cpu = lower_cpu


def lower(query: Any, key: Any, value: Any, *others: Any) -> Any:
    """torch's lowering, which asks CUDA for a number of processors where queries are few."""
    from torch._inductor.kernel.flex import flex_decoding
    from torch._inductor.virtualized import V

    for name, tensor in (("query", query), ("value", value)):
        width = tensor.get_size()[-1]
        if V.graph.sizevars.evaluate_expr(width < FEWEST):
            raise UnsupportedOperation(f"flex attention: {name} has {width} numbers in the last dimension, "
                                       f"torch's Triton template takes {FEWEST} or more: {WAY_OUT}")
    with mock.patch.object(flex_decoding, "get_split_k", pieces):
        return by_triton()(query, key, value, *others)


def pieces(batch: int, heads: int, keys: int) -> int:
    """Into how many pieces the keys of each head are cut, as torch has it for a GPU's processors."""
    return max(cores() // max(int(batch * heads), 1) * 2, 1)


@functools.cache
def by_triton() -> Callable[..., Any]:
    """torch's lowering for GPUs. UnsupportedOperation where its text is another than that of torch 2.13."""
    from torch._inductor.kernel.flex import flex_attention as module

    tree = ast.parse(textwrap.dedent(inspect.getsource(module.flex_attention)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    kept = [statement for statement in function.body if not is_branch(statement)]
    if len(kept) + 1 != len(function.body):
        raise UnsupportedOperation("flex attention: this version of torch chooses its template for a CPU in "
                                   f"another way than 2.13, which triton-spirv knows: {WAY_OUT}")
    function.body, function.decorator_list = kept, []
    scope: dict[str, Any] = {}
    exec(compile(tree, str(module.__file__), "exec"), module.__dict__, scope)
    found: Callable[..., Any] = scope[function.name]
    return found


def is_branch(statement: ast.stmt) -> bool:
    """Is it `if ...: return lower_cpu(...)`?"""
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "lower_cpu" for node in ast.walk(statement))
