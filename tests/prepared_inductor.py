"""What torch.compile does in a process before its first kernel, whatever the kernel: it imports its parts,
makes its patterns, and hashes torch's files (prepared.py). No device is looked for, no kernel is made."""

import prepared_kernels  # noqa: F401
import sympy.tensor.tensor  # noqa: F401
import torch
import torch._inductor.choices
import torch._inductor.codegen.cpp
import torch._inductor.codegen.triton
import torch._inductor.runtime.triton_heuristics
import torch._inductor.tiling_utils
from seed import SEED
from torch._inductor import codecache, compile_fx
from torch._inductor.fx_passes import post_grad


def model(x):
    return torch.softmax(x.sin() * 2, -1).sum()


def passes_alone(graph, inputs):
    return compile_fx.compile_fx(graph, inputs, inner_compile=lambda made, *_, **options: made.forward)


torch.compile(model, backend=passes_alone)(torch.ones(2, 3))
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
post_grad.lazy_init()
codecache.torch_key()
torch.manual_seed(SEED)
