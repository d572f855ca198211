"""Matrix multiplication: blocks of the result, a loop over K, and an autotuner that picks the block shape.

Every program computes one BM x BN block of C = A B. It walks along K in steps of BK, and `tl.dot` adds the
product of a BM x BK and a BK x BN block to an accumulator in f32, whatever the operands are. What that
becomes is the backend's affair: on a CPU a register-blocked loop of vector multiply-adds over a packed copy
of the blocks, on a GPU its matrix units.

What to look at:

* *two-dimensional blocks of pointers*: `rows[:, None] * stride + columns[None, :]`. The strides are
  arguments, so a transposed matrix needs no copy;
* *the order of the programs*. Numbered row by row, neighbouring programs share A but walk through all of B.
  `tl.swizzle2d` renumbers them in groups of GROUP rows, so that the blocks in flight at one time share both;
* *`@triton.autotune`* tries the configurations once per value of `key` and keeps the fastest. One that needs
  more of the device than there is counts as infinitely slow;
* *the epilogue* is a `@triton.jit` function given as a constexpr: it runs on the accumulator before the only
  store, so a fused activation costs no memory traffic.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import QUICK, Report, median_ms

# isort: split
import torch
import triton
import triton.language as tl

SHAPES = [(128, 128, 32), (128, 64, 64), (64, 64, 32), (256, 128, 64), (32, 32, 32)]
CONFIGS = [triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 4}) for bm, bn, bk in SHAPES]


def only_small(configs, arguments, **options):
    """In a quick run, or in the interpreter, there is nothing to measure: take the smallest block."""
    return configs[-1:] if QUICK else configs


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"], prune_configs_by={"early_config_prune": only_small})
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
                  ACTIVATION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr):
    blocks_m, blocks_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    program = tl.program_id(0)
    block_m, block_n = tl.swizzle2d(program // blocks_n, program % blocks_n, blocks_m, blocks_n, GROUP)

    m = block_m * BM + tl.arange(0, BM)
    n = block_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * a_row + k[None, :] * a_column
    b = b_ptr + k[:, None] * b_row + n[None, :] * b_column

    accumulator = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        left = K - done
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        accumulator = tl.dot(x, y, accumulator, input_precision="ieee")
        a += BK * a_column
        b += BK * b_row

    if ACTIVATION is not None:
        accumulator = ACTIVATION(accumulator)
    c = c_ptr + m[:, None] * c_row + n[None, :] * c_column
    tl.store(c, accumulator.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(a: torch.Tensor, b: torch.Tensor, activation=None) -> torch.Tensor:
    """activation(a @ b), in the dtype of a; any strides."""
    (m, k), (other_k, n) = a.shape, b.shape
    if k != other_k:
        raise ValueError(f"cannot multiply {tuple(a.shape)} by {tuple(b.shape)}")
    c = torch.empty((m, n), dtype=a.dtype)

    def grid(meta):
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION=activation)
    return c


def relative_error(actual: torch.Tensor, a: torch.Tensor, b: torch.Tensor, activated: bool) -> float:
    """The largest error against a product in f64, in units of the norms of the row and the column that were
    multiplied: rounding cannot be held to less."""
    expected = a.double() @ b.double()
    if activated:
        expected = torch.nn.functional.leaky_relu(expected, 0.01)
    scale = a.double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
    return ((actual.double() - expected).abs() / scale).max().item()


def main() -> None:
    report = Report("03 matrix multiplication", rate=("GFLOP/s", 1e9))
    # f32: a few roundings of the running sum. f16: besides, one rounding of the result, half of 2^-10.
    limits = {torch.float32: 2e-6, torch.float16: 5e-4}
    sizes = [(64, 64, 64), (33, 70, 45)]
    if not report.quick:
        sizes = [(256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (1000, 700, 333)]
    for dtype, limit in limits.items():
        for m, n, k in sizes:
            torch.manual_seed(0)
            a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
            name = f"{str(dtype).removeprefix('torch.')} {m}x{n}x{k}"
            cases = [(name, a, b, None), (name + " relu", a, b, leaky_relu)]
            if (m, n, k) == sizes[-1]:
                cases.append((name + " B^T", a, b.T.contiguous().T, None))
            for case, left, right, activation in cases:
                error = relative_error(matmul(left, right, activation), a, b, activation is not None)
                ours = median_ms(lambda x=left, y=right, f=activation: matmul(x, y, f))
                theirs = median_ms(lambda x=left, y=right: x @ y)
                report.row(case, ours, theirs, error, limit, work=2 * m * n * k)
    report.finish()


if __name__ == "__main__":
    main()
