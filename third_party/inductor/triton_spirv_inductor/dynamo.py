"""torch.compile(model, backend="triton-spirv"): Inductor with Triton kernels on the CPU, for this model."""

from __future__ import annotations

from typing import Any

from . import switching


def compile_graph(graph: Any, inputs: Any, *, mode: str | None = None,
                  options: dict[str, Any] | None = None) -> Any:
    """A graph that torch traced -> what runs it. `mode` and `options` are those of torch.compile."""
    import torch
    from torch._inductor.compile_fx import compile_fx

    switching.prepare()
    wrapper = torch._TorchCompileInductorWrapper(mode, options, None)
    return compile_fx(graph, inputs, config_patches={**wrapper.config, **switching.SETTINGS})
