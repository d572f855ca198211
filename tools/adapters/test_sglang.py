"""SGLang's kernels against torch: its wheel has no tests. Single files that ask for Triton and torch only."""

from __future__ import annotations

import pytest
import torch
from sglang.kernels.ops.activation.softcap import softcap_to_float32_logits
from sglang.kernels.ops.attention.linear.fused_gdn_gating import fused_gdn_gating
from sglang.kernels.ops.attention.merge_state import merge_state_triton
from sglang.kernels.ops.attention.position import compute_position_triton
from sglang.kernels.ops.layernorm.minimax_m3_rmsnorm import gemma_fused_add_rmsnorm, gemma_rmsnorm
from sglang.kernels.ops.layernorm.rmsnorm_fp32 import rmsnorm_fp32
from sglang.kernels.ops.moe.triton_pad_expert_counts import pad_expert_counts
from sglang.kernels.ops.quantization.act_quant_triton import act_quant
from sglang.kernels.ops.quantization.awq_triton import awq_dequantize_decomposition, awq_dequantize_triton
from sglang.kernels.ops.quantization.bf16x3_split import split_fp32_to_bf16x3
from sglang.kernels.ops.sampling.renorm_triton import top_k_renorm_probs_triton, top_p_renorm_probs_triton
from sglang.kernels.ops.sampling.softcap_row_argmax import softcap_row_argmax
from sglang.kernels.ops.sampling.temperature_softmax import temperature_softmax

close = torch.testing.assert_close
SIZES = pytest.mark.parametrize(("rows", "columns"), [(1, 64), (7, 1000), (33, 4096)])


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def normalised(x: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@SIZES
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rmsnorm_fp32(rows: int, columns: int, dtype: torch.dtype) -> None:
    x, weight = torch.randn(rows, columns).to(dtype), torch.randn(columns).to(dtype)
    wanted = normalised(x.double(), 1e-6) * weight.double()
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-5
    close(rmsnorm_fp32(x, weight, 1e-6), wanted.to(dtype), rtol=tolerance, atol=1e-5)


@SIZES
def test_gemma_rmsnorm(rows: int, columns: int) -> None:
    x, residual, weight = torch.randn(rows, columns), torch.randn(rows, columns), torch.randn(columns)
    close(gemma_rmsnorm(x, weight, 1e-6), normalised(x, 1e-6) * (1 + weight), rtol=1e-5, atol=1e-5)
    found, total = gemma_fused_add_rmsnorm(x, residual, weight, 1e-6)
    close(total, x + residual)
    close(found, normalised(x + residual, 1e-6) * (1 + weight), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(1, 32000), (3, 50257), (8, 128256)])
def test_temperature_softmax(rows: int, columns: int) -> None:
    logits, temperatures = torch.randn(rows, columns) * 5, torch.rand(rows, 1) + 0.5
    wanted = torch.softmax(logits / temperatures, -1)
    close(temperature_softmax(logits, temperatures), wanted, rtol=1e-4, atol=1e-7)


@SIZES
def test_top_p(rows: int, columns: int) -> None:
    probabilities = torch.softmax(torch.randn(rows, columns) * 3, -1)
    found = top_p_renorm_probs_triton(probabilities, 0.8)
    ordered, places = probabilities.sort(-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.zeros_like(ordered, dtype=torch.bool).scatter(-1, places, before < 0.8)
    close(found.sum(-1), torch.ones(rows))
    assert ((found > 0) == kept).float().mean() > 0.999  # one of each row may be on the edge
    wanted = probabilities / (probabilities * kept).sum(-1, keepdim=True)
    close(found[kept], wanted[kept], rtol=1e-2, atol=1e-6)


@SIZES
def test_top_k(rows: int, columns: int) -> None:
    probabilities = torch.softmax(torch.randn(rows, columns), -1)
    found = top_k_renorm_probs_triton(probabilities, 10)
    least = probabilities.topk(10, -1).values[:, -1:]
    kept = torch.where(probabilities >= least, probabilities, 0)
    close(found, kept / kept.sum(-1, keepdim=True))


@pytest.mark.parametrize(("rows", "columns", "group"), [(128, 128, 32), (256, 512, 64), (128, 1024, 128)])
def test_awq_dequantize(rows: int, columns: int, group: int) -> None:
    weight = torch.randint(-2**31, 2**31 - 1, (rows, columns // 8), dtype=torch.int32)
    zeros = torch.randint(-2**31, 2**31 - 1, (rows // group, columns // 8), dtype=torch.int32)
    scales = torch.rand(rows // group, columns).half()
    close(awq_dequantize_triton(weight, scales, zeros), awq_dequantize_decomposition(weight, scales, zeros))


@pytest.mark.parametrize("width", [64, 96, 128])
def test_merge_state(width: int) -> None:
    """Attention over two parts of the keys is merged to that over all."""
    tokens, heads, keys = 5, 4, 48
    scores, values = torch.randn(tokens, heads, keys), torch.randn(tokens, heads, keys, width)

    def attend(part: slice) -> tuple[torch.Tensor, torch.Tensor]:
        weights = torch.softmax(scores[..., part], -1)
        return (weights[..., None] * values[:, :, part]).sum(2), torch.logsumexp(scores[..., part], -1)

    found, sums = merge_state_triton(*attend(slice(0, 20)), *attend(slice(20, keys)))
    close(found, attend(slice(0, keys))[0], rtol=1e-4, atol=1e-5)
    close(sums, attend(slice(0, keys))[1], rtol=1e-5, atol=1e-5)


@SIZES
def test_softcap_row_argmax(rows: int, columns: int) -> None:
    logits = torch.randn(rows, columns) * 10
    capped = torch.tanh(logits[:, :columns - 5] / 30) * 30
    found = softcap_row_argmax(logits, 30.0, columns - 5, 100)
    close(found[:, 0], capped.max(-1).values, rtol=1e-5, atol=1e-5)
    close(found[:, 1], capped.argmax(-1).float() + 100)


@SIZES
def test_softcap(rows: int, columns: int) -> None:
    logits = torch.randn(rows, columns).bfloat16() * 10
    found = torch.empty(rows, columns)
    softcap_to_float32_logits(logits, 30.0, found)
    close(found, torch.tanh(logits.float() / 30) * 30, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lengths", [[1], [5, 600, 0, 3], [1024, 7]])
def test_compute_position(lengths: list[int]) -> None:
    prefixes, sizes = torch.arange(len(lengths)) * 10, torch.tensor(lengths)
    found, starts = compute_position_triton(prefixes, sizes, sum(lengths))
    wanted = [torch.arange(n) + 10 * place for place, n in enumerate(lengths)]
    close(found, torch.cat(wanted))
    close(starts, (sizes.cumsum(0) - sizes).int())


def test_split_fp32_to_bf16x3() -> None:
    x = torch.randn(37, 100)
    close(split_fp32_to_bf16x3(x).double().view(3, 37, 100).sum(0), x.double(), rtol=0, atol=0)


@pytest.mark.parametrize(("rows", "columns"), [(1, 128), (40, 512), (100, 1024)])
def test_act_quant(rows: int, columns: int) -> None:
    x = torch.randn(rows, columns).bfloat16()
    found, scales = act_quant(x)
    wanted = x.float().view(rows, -1, 128).abs().amax(-1) / 448
    close(scales, wanted, rtol=1e-3, atol=1e-6)
    exact = (found.float().view(rows, -1, 128) * scales[..., None]).view(rows, columns)
    close(exact, x.float(), rtol=0.07, atol=0.02)  # three bits of a mantissa


@pytest.mark.parametrize("heads", [4, 8, 30])
def test_fused_gdn_gating(heads: int) -> None:
    scale, bias = torch.randn(heads), torch.randn(heads)
    a, b = torch.randn(6, heads) * 20, torch.randn(6, heads)
    found, beta = fused_gdn_gating(scale, a, b, bias)
    close(found[0], -scale.exp() * torch.nn.functional.softplus(a + bias), rtol=1e-4, atol=1e-5)
    close(beta[0], b.sigmoid(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("experts", [1, 8, 60])
def test_pad_expert_counts(experts: int) -> None:
    counts = torch.randint(0, 200, (experts,), dtype=torch.int32)
    wanted = (counts + 127) // 128 * 128
    wanted[-1] += 30000 - wanted.sum()
    close(pad_expert_counts(counts, 128, 30000), wanted)
