"""Layer normalisation, forward and backward, with sums that many programs share under a lock.

Forward, for each row x of a matrix: y = (x - mean) / sqrt(variance + eps) * w + b. One program per row.

Backward, with n = (x - mean) * rstd and g = w * dy:

    dx = rstd * (g - mean(g) - n * mean(g * n))          of one row: one program can finish it
    dw = sum of dy * n over all rows                     of all rows: no program can
    db = sum of dy over all rows

A buffer with a line per row would make the sums easy and take as much memory as x itself. Instead there are
GROUPS lines, and a program adds its row's terms to line `row % GROUPS`. Two programs may want the same line
at the same time, so each line has a lock, an integer in memory:

* `tl.atomic_cas(lock, 0, 1)` takes it: it writes 1 if it finds 0, and says what it found. A program spins
  until it was 0;
* after `tl.debug_barrier()`, when all lanes have written, `tl.atomic_xchg(lock, 0)` gives it back.

A second, small kernel adds up the GROUPS lines. The order of the sums depends on who came first, so repeated
runs may differ in the last bits: that is the price of this way.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import INTERPRETED, Report, median_ms

# isort: split
import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + row * stride + index, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)  # the padding must not count: it is -mean now
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(w_ptr + index, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + index, mask=inside).to(tl.float32)
    tl.store(y_ptr + row * stride + index, centred * rstd * w + b, mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def add_under_lock(lock_ptr, sums_ptr, index, inside, dw, db, columns):
    """sums[0] += dw and sums[1] += db, by one program at a time."""
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    dw += tl.load(sums_ptr + index, mask=inside)
    db += tl.load(sums_ptr + columns + index, mask=inside)
    tl.store(sums_ptr + index, dw, mask=inside)
    tl.store(sums_ptr + columns + index, db, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def backward_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, sums_ptr, locks_ptr, stride, columns,
                    GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    inside = index < columns
    x = tl.load(x_ptr + row * stride + index, mask=inside, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + index, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + index, mask=inside, other=0.0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)

    n = tl.where(inside, (x - mean) * rstd, 0.0)
    g = w * dy
    mean_g = tl.sum(g, axis=0) / columns
    mean_gn = tl.sum(g * n, axis=0) / columns
    tl.store(dx_ptr + row * stride + index, (g - mean_g - n * mean_gn) * rstd, mask=inside)

    group = row % GROUPS
    add_under_lock(locks_ptr + group, sums_ptr + group * 2 * columns, index, inside, dy * n, dy, columns)


@triton.jit
def add_lines_kernel(sums_ptr, dw_ptr, db_ptr, columns, GROUPS: tl.constexpr, LINES: tl.constexpr,
                     BLOCK: tl.constexpr):
    """dw and db of BLOCK columns: the sum of the groups' lines, LINES of them at a time."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw, db = tl.zeros([LINES, BLOCK], tl.float32), tl.zeros([LINES, BLOCK], tl.float32)
    for first in range(0, GROUPS, LINES):
        line = first + tl.arange(0, LINES)
        inside = (line[:, None] < GROUPS) & (column[None, :] < columns)
        place = sums_ptr + line[:, None] * 2 * columns + column[None, :]
        dw += tl.load(place, mask=inside, other=0.0)
        db += tl.load(place + columns, mask=inside, other=0.0)
    tl.store(dw_ptr + column, tl.sum(dw, axis=0), mask=column < columns)
    tl.store(db_ptr + column, tl.sum(db, axis=0), mask=column < columns)


class LayerNorm(torch.autograd.Function):
    """Normalises the last dimension of x, which must be contiguous; w and b have its size."""

    LONGEST_ROW = 65536
    GROUPS = 16

    @staticmethod
    def forward(context, x, w, b, eps=1e-5):
        rows = x.reshape(-1, x.shape[-1])
        count, columns = rows.shape
        if columns > LayerNorm.LONGEST_ROW:
            raise ValueError(f"a row of {columns} does not fit into one block of {LayerNorm.LONGEST_ROW}")
        y, mean, rstd = torch.empty_like(rows), torch.empty(count), torch.empty(count)
        block = triton.next_power_of_2(columns)
        forward_kernel[(count,)](rows, y, w, b, mean, rstd, rows.stride(0), columns, eps, block)
        context.save_for_backward(rows, w, mean, rstd)
        return y.view(x.shape)

    @staticmethod
    def backward(context, dy):
        rows, w, mean, rstd = context.saved_tensors
        count, columns = rows.shape
        groups, block = LayerNorm.GROUPS, triton.next_power_of_2(columns)
        dx, dw, db = torch.empty_like(rows), torch.empty_like(w), torch.empty_like(w)
        sums, locks = torch.zeros(groups, 2, columns), torch.zeros(groups, dtype=torch.int32)
        dy_rows = dy.reshape(count, columns).contiguous()
        inputs = (dy_rows, rows, w, mean, rstd)
        backward_kernel[(count,)](*inputs, dx, sums, locks, columns, columns, groups, block)
        grid = (triton.cdiv(columns, 128),)
        add_lines_kernel[grid](sums, dw, db, columns, groups, 8, 128)
        return dx.view(dy.shape), dw, db, None


def gradients(function, x, w, b, dy) -> list[torch.Tensor]:
    """[y, dx, dw, db] of function(x, w, b), by backpropagation of dy."""
    inputs = [t.detach().clone().requires_grad_() for t in (x, w, b)]
    y = function(*inputs)
    y.backward(dy)
    return [y.detach(), *(t.grad for t in inputs)]


def torch_layer_norm(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


def main() -> None:
    report = Report("05 layer norm", rate=("GB/s", 1e9))
    shapes = [(20, 60), (3, 1), (35, 257)]
    if not report.quick:
        shapes = [(4096, 256), (4096, 1024), (4096, 4096), (1151, 8192)]
    shapes = shapes[:2] if INTERPRETED else shapes
    for dtype in (torch.float32, torch.float16):
        # Relative to the largest value of each result: sums of thousands of terms in f32, then a rounding to
        # dtype.
        limit = 2e-5 if dtype == torch.float32 else 2e-3
        for rows, columns in shapes:
            torch.manual_seed(0)
            x = (torch.randn(rows, columns) * 2 - 0.5).to(dtype)
            w, b, dy = (torch.rand(n).to(dtype) for n in (columns, columns, rows * columns))
            dy = (dy - 0.5).view(rows, columns) * 0.1
            # torch's own f16 sums over rows are off by more than our limit on a CPU, so the reference is f64.
            expected = gradients(torch_layer_norm, *(t.double() for t in (x, w, b, dy)))
            actual = gradients(LayerNorm.apply, x, w, b, dy)
            error = max(((a.double() - e).abs().max() / e.abs().max().clamp(min=1e-2)).item()
                        for a, e in zip(actual, expected, strict=True))
            name = f"{str(dtype).removeprefix('torch.')} {rows}x{columns}"

            ours = median_ms(lambda x=x, w=w, b=b: LayerNorm.apply(x, w, b))
            theirs = median_ms(lambda x=x, w=w, b=b: torch_layer_norm(x, w, b))
            report.row(f"{name} forward", ours, theirs, error, limit, work=2 * x.nbytes)
            arguments = (x, w, b, dy)
            ours = median_ms(lambda a=arguments: gradients(LayerNorm.apply, *a))
            theirs = median_ms(lambda a=arguments: gradients(torch_layer_norm, *a))
            report.row(f"{name} both", ours, theirs, error, limit, work=5 * x.nbytes)
    report.finish()


if __name__ == "__main__":
    main()
