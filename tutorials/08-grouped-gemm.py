"""Many matrix products of different sizes in one launch.

A mixture of experts, or a batch of sentences of different lengths, gives a list of small products C_i = A_i
B_i. One launch each costs the launch, and a small product alone does not fill the device. So one launch does
them all: a fixed number of programs shares the blocks of all products, as if they were numbered through.

What to look at:

* *pointers as data*. The addresses of the matrices lie in an int64 tensor; the kernel reads one and makes a
  pointer of it: `tl.load(p).to(tl.pointer_type(tl.float32))`. The sizes lie beside them, three integers per
  product;
* *a while loop inside a for loop*, both with bounds from memory: for each product, as long as the next block
  of this program falls into it, compute that block and move on by the number of programs. No table of blocks
  is needed;
* sizes that come from memory are not known when the kernel is compiled, so every access is masked.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import Report, median_ms

# isort: split
import torch
import triton
import triton.language as tl


@triton.jit
def product_block(a, b, c, M, N, K, block, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Block number `block` of c = a b, all row-major."""
    blocks_n = tl.cdiv(N, BN)
    m = block // blocks_n * BM + tl.arange(0, BM)
    n = block % blocks_n * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    place = c + m[:, None] * N + n[None, :]
    tl.store(place, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def grouped_kernel(addresses_ptr, sizes_ptr, products, DTYPE: tl.constexpr, BM: tl.constexpr,
                   BN: tl.constexpr, BK: tl.constexpr):
    block = tl.program_id(0)
    before = 0  # blocks of the products behind us
    for i in range(products):
        M, N, K = tl.load(sizes_ptr + 3 * i), tl.load(sizes_ptr + 3 * i + 1), tl.load(sizes_ptr + 3 * i + 2)
        blocks = tl.cdiv(M, BM) * tl.cdiv(N, BN)
        if block < before + blocks:
            a = tl.load(addresses_ptr + 3 * i).to(tl.pointer_type(DTYPE))
            b = tl.load(addresses_ptr + 3 * i + 1).to(tl.pointer_type(DTYPE))
            c = tl.load(addresses_ptr + 3 * i + 2).to(tl.pointer_type(DTYPE))
            while block < before + blocks:
                product_block(a, b, c, M, N, K, block - before, BM, BN, BK)
                block += tl.num_programs(0)
        before += blocks


class Group:
    """The products of a list of pairs, prepared once: tables of addresses and sizes, and room for the
    results."""

    PROGRAMS = 16
    BLOCK = (64, 64, 32)

    def __init__(self, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        self.pairs = [(a.contiguous(), b.contiguous()) for a, b in pairs]
        self.results = [torch.empty(a.shape[0], b.shape[1], dtype=a.dtype) for a, b in self.pairs]
        triples = [(a, b, c) for (a, b), c in zip(self.pairs, self.results, strict=True)]
        self.addresses = torch.tensor([[t.data_ptr() for t in triple] for triple in triples])
        sizes = [[a.shape[0], b.shape[1], a.shape[1]] for a, b in self.pairs]
        self.sizes = torch.tensor(sizes, dtype=torch.int32)
        self.dtype = {torch.float32: tl.float32, torch.float16: tl.float16}[pairs[0][0].dtype]

    def multiply(self) -> list[torch.Tensor]:
        grid = (Group.PROGRAMS,)
        grouped_kernel[grid](self.addresses, self.sizes, len(self.pairs), self.dtype, *Group.BLOCK)
        return self.results


def main() -> None:
    report = Report("08 grouped GEMM", rate=("GFLOP/s", 1e9))
    groups = {"3 small": [(40, 33, 17), (1, 70, 64), (64, 64, 64)]}
    if not report.quick:
        groups = {
            "4 equal": [(512, 512, 512)] * 4,
            "8 mixed": [(1024, 256, 128), (17, 900, 65), (128, 128, 1024), (300, 300, 300)] * 2,
            "64 tiny": [(32 + i, 48, 64) for i in range(64)],
        }
    for dtype, limit in ((torch.float32, 2e-6), (torch.float16, 5e-4)):  # see tutorial 03
        for name, sizes in groups.items():
            torch.manual_seed(0)
            pairs = [(torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)) for m, n, k in sizes]
            group = Group(pairs)
            error = 0.0
            for (a, b), c in zip(pairs, group.multiply(), strict=True):
                scale = a.double().norm(dim=1)[:, None] * b.double().norm(dim=0)[None, :]
                error = max(error, ((c.double() - a.double() @ b.double()).abs() / scale).max().item())
            ours = median_ms(group.multiply)
            theirs = median_ms(lambda pairs=pairs: [a @ b for a, b in pairs])
            work = sum(2 * m * n * k for m, n, k in sizes)
            report.row(f"{str(dtype).removeprefix('torch.')} {name}", ours, theirs, error, limit, work=work)
    report.finish()


if __name__ == "__main__":
    main()
