"""Softmax of every row of a matrix, in one pass over memory.

softmax(x) = exp(x - max x) / sum exp(x - max x). Written with array operations that is five passes: the
matrix is read for the maximum, read and written for the difference, for the exponential, and so on. A kernel
that keeps a row in registers reads it once and writes it once, which is all that memory has to do.

Two kernels:

* `softmax_rows` holds a whole row in one block, padded to the next power of two. The padding is loaded as
  -inf: it never is the maximum, and exp(-inf) adds nothing to the sum, so no step after the load needs a
  mask.
* `softmax_long_rows` takes rows that are too long for that, in two walks over the row. The first carries a
  running maximum and a running sum; when a block raises the maximum, the sum so far is rescaled by exp(old -
  new). This is the idea that attention (tutorial 06) is built on.

Both are *persistent*: a fixed number of programs shares the rows, every program taking every num_programs-th.
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
def softmax_rows(x_ptr, out_ptr, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * x_stride + index, mask=inside, other=-float("inf"))
        weight = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * out_stride + index, weight / tl.sum(weight, axis=0), mask=inside)


@triton.jit
def softmax_long_rows(x_ptr, out_ptr, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        # Each lane has a maximum and a sum of its own; they meet once, after the walk. A finite start avoids
        # inf - inf where a lane has not seen a number yet.
        top = tl.full([BLOCK], -1e30, tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for start in range(0, columns, BLOCK):
            index = start + lane
            x = tl.load(x_ptr + row * x_stride + index, mask=index < columns, other=-float("inf"))
            new_top = tl.maximum(top, x)
            total = total * tl.exp(top - new_top) + tl.exp(x - new_top)
            top = new_top
        row_top = tl.max(top, axis=0)
        scale = 1 / tl.sum(total * tl.exp(top - row_top), axis=0)
        for start in range(0, columns, BLOCK):
            index = start + lane
            x = tl.load(x_ptr + row * x_stride + index, mask=index < columns)
            tl.store(out_ptr + row * out_stride + index, tl.exp(x - row_top) * scale, mask=index < columns)


LONGEST_BLOCK = 8192


def softmax(x, out) -> None:
    """out = softmax of each row of x [rows, columns]; rows may have any stride, columns lie side by side."""
    rows, columns = x.shape
    kernel = softmax_rows if columns <= LONGEST_BLOCK else softmax_long_rows
    block = triton.next_power_of_2(columns) if columns <= LONGEST_BLOCK else 1024
    programs = min(rows, 64)
    kernel[(programs,)](x, out, x.stride(0), out.stride(0), rows, columns, block)


def reference(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    weight = np.exp(wide - wide.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def numpy_softmax(x: np.ndarray) -> np.ndarray:
    weight = np.exp(x - x.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def main() -> None:
    report = Report("02 fused softmax", theirs="numpy" if torch is None else "torch", rate=("GB/s", 1e9))
    shapes = [(3, 1), (5, 100), (7, 781), (2, 9000)]
    if not report.quick:
        shapes = [(1823, 781), (4096, 256), (4096, 1024), (4096, 4096), (256, 8192), (64, 50_257)]
    for rows, columns in shapes:
        x = np.random.default_rng(columns).standard_normal((rows, columns), dtype=np.float32) * 5
        out = np.full_like(x, np.nan)
        arguments = as_argument(x), as_argument(out)
        ours = median_ms(lambda a=arguments: softmax(*a))
        if torch is None:
            theirs = median_ms(lambda x=x: numpy_softmax(x))
        else:
            theirs = median_ms(lambda a=arguments: torch.softmax(a[0], dim=1))
        # Probabilities are at most 1; exp is good to 3 ulp, the sum of a row to a few more.
        error = np.max(np.abs(out - reference(x)))
        report.row(f"{rows} x {columns}", ours, theirs, error, 1e-6, work=2 * x.nbytes)
    report.finish()


if __name__ == "__main__":
    main()
