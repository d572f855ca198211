"""Convolutions of max_autotune: torch's library or Inductor's templates, with a bias and without."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Script = Callable[..., "subprocess.CompletedProcess[str]"]

CHECKING = """
import torch, triton_spirv
from torch._inductor import select_algorithm
from torch.nn.functional import conv1d, conv2d, relu
triton_spirv.inductor.enable()
chosen = []

def first_of_both(choices):
    templates = [choice for choice in choices if isinstance(choice, select_algorithm.TritonTemplateCaller)]
    others = [choice for choice in choices if choice not in templates]
    chosen.append((len(others[:1]), len(templates[:1])))
    return (templates[:1] if FORCED else others[:1] + templates[:1]) or choices

select_algorithm.add_preprocessing_fn(first_of_both)
torch.manual_seed(0)
x, weight, bias = torch.randn(2, 8, 9, 7), torch.randn(16, 8, 3, 3) / 8, torch.randn(16)

def check(function, *given):
    torch._dynamo.reset()
    made = torch.compile(function, backend="triton-spirv", options={"max_autotune": True})(*given)
    torch.testing.assert_close(made, function(*given), rtol=1e-4, atol=1e-4)
"""


def test_a_bias_is_added(script: Script) -> None:
    """With every choice a template: of maps, of one without a batch, strided, channels last, in groups."""
    done = script("FORCED = True\n" + CHECKING + """
check(lambda x, w, b: relu(conv2d(x, w, b, padding=1)), x, weight, bias)
last = x.contiguous(memory_format=torch.channels_last)
check(lambda x, w, b: conv2d(x, w, b, stride=2) * 2, last, weight, bias)
check(lambda x, w, b: conv2d(x, w, b), x[0], weight, bias)
check(lambda x, w, b: conv2d(x, w, b, groups=2), x, weight[:, :4].contiguous(), bias)
check(lambda x, w: conv2d(x, w, padding=1), x, weight)
assert len(chosen) == 5 and all(templates for _, templates in chosen), chosen
""")
    assert done.returncode == 0, done.stderr[-3000:]


def test_what_is_timed_has_a_bias(script: Script) -> None:
    """Inductor times the library and a template with the same tensors."""
    done = script("FORCED = False\n" + CHECKING + """
check(lambda x, w, b: relu(conv2d(x, w, b, padding=1)), x, weight, bias)
check(lambda x, w, b: conv2d(x, w, b), x, weight[:, :, :1, :1].contiguous(), bias)
check(lambda x, w, b: conv1d(x, w, b), x[:, :, 0], weight[:, :, 0].contiguous(), bias)
assert (1, 1) in chosen, chosen
""")
    assert done.returncode == 0, done.stderr[-3000:]
