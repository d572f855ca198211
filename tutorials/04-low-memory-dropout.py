"""Dropout without a mask in memory: random numbers that are computed where they are needed, twice.

Dropout zeroes each element with probability p and scales the others by 1 / (1 - p). The usual implementation
draws a mask, stores it, and reads it again in the backward pass: for every element a byte more to keep and to
move.

Triton's generator makes that unnecessary. `tl.rand(seed, offset)` is a pure function (Philox, ten rounds of
multiplication and xor): the same seed and offset give the same number, in any program, on any device, in any
order. So the backward pass does not read the mask; it computes it again from one integer, the seed.

What to look at:

* the element's own index is the offset, so neither the block size nor the grid changes the outcome;
* the checks below do not only count zeros: they compare the kept elements with Philox written in numpy.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import Report, max_error, median_ms

# isort: split
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def seeded_dropout(x_ptr, out_ptr, count, p, seed, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    x = tl.load(x_ptr + index, mask=inside)
    keep = tl.rand(seed, index) >= p
    tl.store(out_ptr + index, tl.where(keep, x / (1 - p), 0.0), mask=inside)


@triton.jit
def masked_dropout(x_ptr, mask_ptr, out_ptr, count, p, BLOCK: tl.constexpr):
    """The usual way, for comparison: the mask comes from memory."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    x = tl.load(x_ptr + index, mask=inside)
    keep = tl.load(mask_ptr + index, mask=inside)
    tl.store(out_ptr + index, tl.where(keep, x / (1 - p), 0.0), mask=inside)


def dropout_by_mask(x: torch.Tensor, mask: torch.Tensor, p: float) -> torch.Tensor:
    out, block = torch.empty_like(x), 1024
    masked_dropout[(triton.cdiv(x.numel(), block),)](x, mask, out, x.numel(), p, block)
    return out


class Dropout(torch.autograd.Function):
    """Dropout whose backward pass remembers a seed, and nothing as large as its input."""

    @staticmethod
    def forward(context, x, p, seed, block=1024):
        context.p, context.seed, context.block = p, seed, block
        out = torch.empty_like(x)
        seeded_dropout[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), p, seed, block)
        return out

    @staticmethod
    def backward(context, gradient):
        # The derivative of x -> keep ? x / (1 - p) : 0 is the same function, applied to the gradient.
        gradient = gradient.contiguous()
        out = torch.empty_like(gradient)
        block = context.block
        grid = (triton.cdiv(gradient.numel(), block),)
        seeded_dropout[grid](gradient, out, gradient.numel(), context.p, context.seed, block)
        return out, None, None, None


def philox_uniform(seed: int, count: int) -> np.ndarray:
    """What tl.rand gives for offsets 0 to count - 1: Philox 4x32-10's first word, mapped to [0, 1)."""
    low32 = np.uint64(0xFFFFFFFF)
    counter = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    key = [np.uint64(seed) & low32, np.uint64(seed) >> np.uint64(32)]
    for _ in range(10):
        first, second = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        counter = [second >> np.uint64(32) ^ counter[1] ^ key[0], second & low32,
                   first >> np.uint64(32) ^ counter[3] ^ key[1], first & low32]
        key = [key[0] + np.uint64(0x9E3779B9) & low32, key[1] + np.uint64(0xBB67AE85) & low32]
    signed = counter[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def errors(x: torch.Tensor, p: float, seed: int) -> float:
    """The largest difference from dropout with numpy's Philox, forward, backward and with another block
    size."""
    keep = torch.from_numpy(philox_uniform(seed, x.numel()) >= np.float32(p))
    x = x.clone().requires_grad_()
    out = Dropout.apply(x, p, seed)
    weight = torch.linspace(-1, 1, x.numel())
    (out * weight).sum().backward()
    other_blocks = Dropout.apply(x.detach(), p, seed, 256)
    scale = 1 / (1 - p)
    return max(max_error(out.detach(), torch.where(keep, x.detach() * scale, 0)),
               max_error(x.grad, torch.where(keep, weight * scale, 0)),
               max_error(other_blocks, out.detach()),
               0.0 if max_error(Dropout.apply(x.detach(), p, seed + 1), out.detach()) > 0 else 1.0)


def main() -> None:
    report = Report("04 low-memory dropout", rate=("GB/s", 1e9))
    sizes = [1000, 4099] if report.quick else [10_000, 1_000_003, 10_000_000]
    for size in sizes:
        torch.manual_seed(0)
        x = torch.randn(size)
        for p, seed in ((0.5, 123), (0.1, 2**40 + 7)):
            error = errors(x, p, seed)
            ours = median_ms(lambda x=x, p=p, seed=seed: Dropout.apply(x, p, seed))
            theirs = median_ms(lambda x=x, p=p: torch.nn.functional.dropout(x, p))
            # x / (1 - p) here, x * (1 / (1 - p)) there: a rounding or two apart.
            report.row(f"{size} p={p}", ours, theirs, error, 3e-6, work=2 * x.nbytes)

        mask = torch.rand(size) >= 0.5
        ours = median_ms(lambda x=x, mask=mask: dropout_by_mask(x, mask, 0.5))
        theirs = median_ms(lambda x=x, mask=mask: x * mask / 0.5)
        error = max_error(dropout_by_mask(x, mask, 0.5), x * mask / 0.5)
        report.row(f"{size} mask in memory", ours, theirs, error, 0.0, work=2.25 * x.nbytes)
    report.finish()


if __name__ == "__main__":
    main()
