"""What the machine can do: memory bandwidth and multiply-adds, measured in the run that is judged by them."""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl
from measure import Sample, interleaved

#: elements that multiply-adds are chained for: 64 are eight vectors of AVX2, 128 of AVX-512, enough for two
#: units of four cycles. More vectors than there are registers would go through memory
BLOCKS = 64, 128
TURN = 10  # calls in a row, or torch's threads, spinning for more work, would hold the cores of ours


@triton.jit
def copy_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + index, tl.load(x_ptr + index))


@triton.jit
def multiply_add_kernel(out_ptr, rounds, x, y, BLOCK: tl.constexpr):
    """Chains of multiply-adds that do not wait for each other."""
    index = tl.arange(0, BLOCK)
    value = index.to(tl.float32)
    for _ in range(rounds):
        for _ in tl.static_range(8):
            value = tl.fma(value, x, y)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + index, value)


def measure(quick: bool) -> dict[str, Sample]:
    """GB/s of the better of a streaming copy of ours and torch's, GFLOP/s of multiply-adds in registers."""
    n, rounds, programs = (1 << 16, 100, 4) if quick else (1 << 25, 20_000, 64)
    x, out = torch.zeros(n), torch.zeros(n)
    sums = torch.empty(programs * max(BLOCKS))

    def multiply_add(block: int) -> None:
        multiply_add_kernel[(programs,)](sums, rounds, 0.5, 1.0, block)

    # two arrays move, 8 bytes an element: what a store reads before it writes is not counted
    actions = {"copy": lambda: copy_kernel[(n // 8192,)](x, out, 8192), "torch": lambda: out.copy_(x),
               **{f"fma {block}": partial(multiply_add, block) for block in BLOCKS}}
    taken = interleaved(actions, seconds=0.1 if quick else 3.0, turn=TURN)
    best = min(taken["copy"], taken["torch"], key=lambda sample: sample.median)
    rates = [_rate(taken[f"fma {block}"], 2.0 * 8 * rounds * programs * block) for block in BLOCKS]
    return {"GB/s": _rate(best, 8.0 * n), "GFLOP/s": max(rates, key=lambda rate: rate.median)}


def _rate(sample: Sample, work: float) -> Sample:
    """Work per millisecond, in 10^9 per second; the spread turns round."""
    median, slow, fast, best = (work / time / 1e6 for time in (sample.median, sample.high, sample.low,
                                                                sample.least))
    return Sample(median, slow, fast, best, sample.count)
