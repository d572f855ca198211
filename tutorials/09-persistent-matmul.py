"""Matrix multiplication with a fixed number of programs, three ways to address memory.

Tutorial 03 launches one program per block of C. Every program then computes its pointers, starts with cold
caches and ends alone. A *persistent* kernel launches as many programs as suit the device, and each walks over
several blocks; what the blocks have in common is computed once.

Compared here, all with the same block shape:

    blocks        one program per block, pointers (tutorial 03 without the autotuner)
    persistent    a fixed number of programs, pointers
    descriptor    the same, through tensor descriptors that the kernel makes
    host desc.    the same, through tensor descriptors made on the host and passed as arguments

A *tensor descriptor* is a base pointer with a shape, strides and a block shape. `desc.load([row, column])`
reads a block; what lies outside of the tensor reads as zero, and `desc.store` leaves it alone. So no mask is
written, and none can be forgotten. On GPUs with a copy engine for tensors a descriptor programs that engine;
everywhere else Triton rewrites it to masked pointers, so one kernel serves both. The last dimension must be
contiguous and rows must start at multiples of 16 bytes.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import Report, median_ms

# isort: split
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK = (64, 64, 64)
PROGRAMS = 16


@triton.jit
def block_place(number, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """The first row and column of block `number`, in groups of 4 rows of blocks (tutorial 03)."""
    blocks_m, blocks_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    i, j = tl.swizzle2d(number // blocks_n, number % blocks_n, blocks_m, blocks_n, 4)
    return i * BM, j * BN


@triton.jit
def multiply_by_pointers(a_ptr, b_ptr, c_ptr, M, N, K, row, column, BM: tl.constexpr, BN: tl.constexpr,
                         BK: tl.constexpr):
    m, n, k = row + tl.arange(0, BM), column + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        a = a_ptr + m[:, None] * K + (start + k)[None, :]
        b = b_ptr + (start + k)[:, None] * N + n[None, :]
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0.0)
        y = tl.load(b, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    c = c_ptr + m[:, None] * N + n[None, :]
    tl.store(c, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def multiply_by_descriptors(a, b, c, K, row, column, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        acc = tl.dot(a.load([row, start]), b.load([start, column]), acc, input_precision="ieee")
    c.store([row, column], acc.to(c.dtype))


@triton.jit
def blocks_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = block_place(tl.program_id(0), M, N, BM, BN)
    multiply_by_pointers(a_ptr, b_ptr, c_ptr, M, N, K, row, column, BM, BN, BK)


@triton.jit
def persistent_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    blocks = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), blocks, tl.num_programs(0)):
        row, column = block_place(number, M, N, BM, BN)
        multiply_by_pointers(a_ptr, b_ptr, c_ptr, M, N, K, row, column, BM, BN, BK)


@triton.jit
def descriptor_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    blocks = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), blocks, tl.num_programs(0)):
        row, column = block_place(number, M, N, BM, BN)
        multiply_by_descriptors(a, b, c, K, row, column, BM, BN, BK)


@triton.jit
def host_descriptor_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    blocks = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), blocks, tl.num_programs(0)):
        row, column = block_place(number, M, N, BM, BN)
        multiply_by_descriptors(a, b, c, K, row, column, BM, BN, BK)


def host_descriptors(*matrices: torch.Tensor) -> list[TensorDescriptor]:
    bm, bn, bk = BLOCK
    return [TensorDescriptor.from_tensor(t, shape)
            for t, shape in zip(matrices, ([bm, bk], [bk, bn], [bm, bn]), strict=True)]


def multiply(kernel, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """c = a b by one of the kernels above."""
    (m, k), n = a.shape, b.shape[1]
    blocks = triton.cdiv(m, BLOCK[0]) * triton.cdiv(n, BLOCK[1])
    programs = blocks if kernel is blocks_kernel else min(blocks, PROGRAMS)
    matrices = host_descriptors(a, b, c) if kernel is host_descriptor_kernel else (a, b, c)
    kernel[(programs,)](*matrices, m, n, k, *BLOCK)
    return c


KERNELS = {"blocks": blocks_kernel, "persistent": persistent_kernel, "descriptor": descriptor_kernel,
           "host desc.": host_descriptor_kernel}


def main() -> None:
    report = Report("09 persistent matmul", rate=("GFLOP/s", 1e9))
    sizes = [(72, 88, 104)] if report.quick else [(512, 512, 512), (1024, 1024, 1024), (1000, 808, 504)]
    for dtype, limit in ((torch.float32, 2e-6), (torch.float16, 5e-4)):  # see tutorial 03
        for m, n, k in sizes:
            torch.manual_seed(0)
            a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
            expected, theirs = a.double() @ b.double(), median_ms(lambda a=a, b=b: a @ b)
            scale = a.double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
            for name, kernel in KERNELS.items():
                c = torch.full((m, n), float("nan"), dtype=dtype)
                error = ((multiply(kernel, a, b, c).double() - expected).abs() / scale).max().item()
                ours = median_ms(lambda f=kernel, a=a, b=b, c=c: multiply(f, a, b, c))
                case = f"{str(dtype).removeprefix('torch.float')} {m}x{n}x{k} {name}"
                report.row(case, ours, theirs, error, limit, work=2 * m * n * k)
    report.finish()


if __name__ == "__main__":
    main()
