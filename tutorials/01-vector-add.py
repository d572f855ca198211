"""Adding two vectors: the smallest useful kernel.

A Triton kernel is written for one *program*: a piece of work that owns a block of the data. The launch says
how many programs there are; each asks for its number and works out which elements are its own. Nothing is
said about threads or vector registers. On a CPU this backend runs a program as one work-item and its blocks
as vector code; on a GPU the same block is spread over a sub-group's lanes.

What to look at:

* `tl.arange` makes a block of indices, and arithmetic on blocks is elementwise;
* the last block usually hangs over the end of the data, so loads and stores carry a *mask*: masked lanes
  touch no memory;
* `BLOCK` is a `tl.constexpr`: part of the kernel's identity, so that each value is compiled once and kept.

The ratio of small sizes is far below 1: a launch takes about 13 microseconds, most of them in Python, and
torch adds a thousand numbers in one or two. Large sizes show the speed of the kernel.

Arguments are torch CPU tensors, or, where there is no torch, `triton_spirv.asarray` of numpy arrays; neither
is copied.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import Report, as_argument, median_ms

# isort: split
import numpy as np
import triton
import triton.language as tl

try:
    import torch
except ImportError:
    torch = None


@triton.jit
def add_kernel(x_ptr, y_ptr, sum_ptr, count, BLOCK: tl.constexpr):
    first = tl.program_id(axis=0) * BLOCK
    index = first + tl.arange(0, BLOCK)
    inside = index < count
    x = tl.load(x_ptr + index, mask=inside)
    y = tl.load(y_ptr + index, mask=inside)
    tl.store(sum_ptr + index, x + y, mask=inside)


def add(x, y, total) -> None:
    """total = x + y: a grid with one program per block."""
    if not x.shape == y.shape == total.shape:
        raise ValueError(f"shapes differ: {x.shape}, {y.shape}, {total.shape}")
    block = 8192
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, total, x.numel(), block)


def main() -> None:
    report = Report("01 vector add", theirs="numpy" if torch is None else "torch", rate=("GB/s", 1e9))
    # Odd sizes on purpose: a kernel that is right for whole blocks only is not right.
    sizes = [1, 1000, 98_432] if report.quick else [2**p + 1 for p in range(12, 25, 2)]
    for size in sizes:
        generator = np.random.default_rng(size)
        x, y = (generator.random(size, dtype=np.float32) for _ in range(2))
        total, reference = np.full_like(x, np.nan), np.empty_like(x)
        arguments = [as_argument(a) for a in (x, y, total)]

        ours = median_ms(lambda a=arguments: add(*a))
        if torch is None:
            theirs = median_ms(lambda x=x, y=y, out=reference: np.add(x, y, out=out))
        else:
            out = torch.from_numpy(reference)
            theirs = median_ms(lambda a=arguments, out=out: torch.add(a[0], a[1], out=out))

        # One addition per element, which both sides round alike: not a bit may differ.
        error = np.max(np.abs(total - reference))
        report.row(size, ours, theirs, error, 0.0, work=3 * x.nbytes)
    report.finish("Small sizes show what a launch costs, about 13 microseconds. Large ones show the kernel's "
                  "speed.")


if __name__ == "__main__":
    main()
