"""Flex attention: torch's Triton templates on the CPU, against eager mode in 64 bits."""

from __future__ import annotations

import pytest

from .conftest import Script

SCRIPT = """
import warnings
import torch, counting, triton_spirv
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
warnings.simplefilter("ignore")
counting.count()
triton_spirv.inductor.enable()

def causal(b, h, q, k):
    return q >= k

def nearer(score, b, h, q, k):
    return score + (q - k) * 0.01

slopes = torch.linspace(-1, 1, 4)
def by_head(score, b, h, q, k):
    return score * slopes[h]

def compare(queries, keys, heads, groups, width, dtype=torch.float32, mask=None, score=None, tolerance=1e-4,
            **named):
    torch._dynamo.reset()
    torch.manual_seed(0)
    shapes = ((heads, queries), (groups, keys), (groups, keys))
    given = [torch.randn(2, *shape, width, dtype=dtype) for shape in shapes]
    blocks = create_block_mask(mask, None, None, queries, keys, device="cpu") if mask else None
    def attend(q, k, v):
        return flex_attention(q, k, v, score_mod=score, block_mask=blocks, enable_gqa=heads != groups,
                              **named)
    wanted = attend(*[x.double() for x in given])
    before = len(counting.launched)
    with torch.no_grad():
        found = torch.compile(attend)(*given)
    for one, other in zip(*[x if named else (x,) for x in (found, wanted)], strict=True):
        torch.testing.assert_close(one.double(), other.double(), rtol=tolerance, atol=tolerance)
    assert len(counting.launched) > before
"""

CASES = {
    "masked": "128, 128, 4, 4, 32, mask=causal, score=nearer",
    "odd sizes": "100, 77, 2, 2, 64, score=nearer",
    "groups": "128, 128, 4, 2, 32, mask=causal",
    "a captured tensor": "64, 64, 4, 4, 16, score=by_head",
    "few queries": "3, 300, 4, 2, 64",
    "one query": "1, 256, 4, 4, 64, score=nearer",
    "logarithms of sums": "64, 64, 2, 2, 32, return_lse=True",
    "f16": "128, 128, 2, 2, 64, dtype=torch.float16, mask=causal, tolerance=5e-3",
    "bf16": "128, 128, 2, 2, 128, dtype=torch.bfloat16, score=nearer, tolerance=3e-2",
}


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.takes_turns(3)
def test_flex_attention(turn: int, script: Script) -> None:
    """A third of the cases in a process."""
    done = script(SCRIPT + "\n".join(f"compare({case})" for case in list(CASES.values())[turn::3]))
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_is_refused(script: Script) -> None:
    """Short rows by us, gradients by torch; the C++ backend goes on as before."""
    done = script(SCRIPT + """
def said(act):
    try:
        act()
    except Exception as error:
        return str(error)
text = said(lambda: compare(32, 32, 2, 2, 8))
assert "query has 8 numbers" in text and "cpu_backend = 'cpp'" in text, text
q = torch.randn(1, 2, 32, 16, requires_grad=True)
text = said(lambda: torch.compile(flex_attention)(q, q, q))
assert "does not support backward on CPU" in text, text
""")
    assert done.returncode == 0, done.stderr
