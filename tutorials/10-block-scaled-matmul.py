"""Matrix multiplication of 8- and 4-bit floats with shared exponents (the OCP microscaling formats).

A 4-bit float has sixteen values, from 0 to 6 and their negatives: too narrow a range for a matrix, but not
for 32 neighbours of it after a common factor is taken out. A microscaling format stores, for every 32
elements along K, one byte with a power of two, and the elements divided by it:

    mxfp8   e4m3 elements (4 bits of exponent, 3 of mantissa), 1 + 1/32 bytes per number
    mxfp4   e2m1 elements, two to a byte, 1/2 + 1/32 bytes per number

`tl.dot_scaled` multiplies blocks of them: element times element, times both scales, added up in f32. GPUs of
the newest generation do this in their matrix units; this backend decodes the blocks and multiplies those,
exactly: a product of two such numbers fits into an f32.

What to look at:

* the scale is an exponent alone: byte s means 2^(s - 127);
* packed mxfp4: the element with the lower index sits in the lower half of the byte, and the block of K
  elements is K / 2 bytes wide;
* both matrices are stored with K along the rows, so the second one is loaded transposed, by its strides;
* two errors are printed. The check compares with the product of the *decoded* matrices in f64: only the sums
  round. The lines at the end say how far that product is from the one of the original matrices: the price of
  the format.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import Report, median_ms

# isort: split
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

GROUP = 32
E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


@triton.jit
def scaled_kernel(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, FORMAT: tl.constexpr,
                  PACKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c [M, N] = a [M, K] b [N, K]^T; K is a multiple of BK, PACKED elements share a byte."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    byte, group = tl.arange(0, BK // PACKED), tl.arange(0, BK // 32)
    row_bytes, row_groups = K // PACKED, K // 32
    a = a_ptr + m[:, None] * row_bytes + byte[None, :]
    b = b_ptr + n[None, :] * row_bytes + byte[:, None]
    a_scale = a_scale_ptr + m[:, None] * row_groups + group[None, :]
    b_scale = b_scale_ptr + n[:, None] * row_groups + group[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(a, mask=m[:, None] < M, other=0)
        y = tl.load(b, mask=n[None, :] < N, other=0)
        x_scale = tl.load(a_scale, mask=m[:, None] < M, other=0)
        y_scale = tl.load(b_scale, mask=n[:, None] < N, other=0)
        acc = tl.dot_scaled(x, x_scale, FORMAT, y, y_scale, FORMAT, acc)
        a += BK // PACKED
        b += BK // PACKED
        a_scale += BK // 32
        b_scale += BK // 32
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@dataclass(frozen=True)
class Scaled:
    """A matrix [rows, k] in a microscaling format: `data` bytes, `scale` exponents [rows, k / 32]."""

    data: torch.Tensor
    scale: torch.Tensor
    form: str

    def decode(self) -> torch.Tensor:
        """The float64 values that it stands for."""
        if self.form == "e4m3":
            values = self.data.view(torch.float8_e4m3fn).double()
        else:
            codes = torch.stack([self.data & 15, self.data >> 4], dim=-1).flatten(1).long()
            values = torch.where(codes >= 8, -E2M1[codes & 7], E2M1[codes & 7]).double()
        factor = torch.exp2(self.scale.double() - 127).repeat_interleave(GROUP, dim=1)
        return values * factor


def quantise(x: torch.Tensor, form: str) -> Scaled:
    """The nearest matrix of the format: each group's scale brings its largest element to the format's top
    binade."""
    rows, k = x.shape
    groups = x.view(rows, k // GROUP, GROUP)
    largest = groups.abs().amax(dim=-1).clamp(min=2.0**-100)
    top_exponent = {"e4m3": 8, "e2m1": 2}[form]  # of 448 and of 6
    exponent = torch.floor(torch.log2(largest)) - top_exponent
    scaled = (groups / torch.exp2(exponent)[..., None]).view(rows, k)
    scale = (exponent + 127).to(torch.uint8)
    if form == "e4m3":
        return Scaled(scaled.clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8), scale, form)
    magnitude = (scaled.abs()[..., None] - E2M1).abs().argmin(dim=-1)
    codes = (magnitude + 8 * (scaled < 0)).to(torch.uint8)
    return Scaled(codes[:, 0::2] | codes[:, 1::2] << 4, scale, form)


def multiply(a: Scaled, b: Scaled) -> torch.Tensor:
    """a b^T in f32."""
    m, n = a.data.shape[0], b.data.shape[0]
    k = a.scale.shape[1] * GROUP
    if k % 64:
        raise ValueError(f"K = {k} is no multiple of 64")
    c = torch.empty(m, n)
    block = (64, 64, 128 if k % 128 == 0 else 64)
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
    packed = 2 if a.form == "e2m1" else 1
    scaled_kernel[grid](a.data, a.scale, b.data, b.scale, c, m, n, k, a.form, packed, *block)
    return c


def main() -> None:
    report = Report("10 block-scaled matmul", rate=("GFLOP/s", 1e9))
    sizes = [(64, 48, 64), (33, 70, 128)]
    if not report.quick:
        sizes = [(256, 256, 256), (512, 512, 512), (1000, 500, 1024)]
    prices = []
    for name, form in (("mxfp8", "e4m3"), ("mxfp4", "e2m1")):
        for m, n, k in sizes:
            torch.manual_seed(0)
            x, y = torch.randn(m, k), torch.randn(n, k)
            a, b = quantise(x, form), quantise(y, form)
            exact, decoded = x.double() @ y.double().T, (a.decode(), b.decode())
            expected = decoded[0] @ decoded[1].T
            scale = decoded[0].norm(dim=1)[:, None] * decoded[1].norm(dim=1)[None, :]
            c = multiply(a, b)
            error = ((c.double() - expected).abs() / scale).max().item()
            prices.append(f"{name} {m}x{n}x{k}: {((c.double() - exact).norm() / exact.norm()).item():.1%}")
            ours = median_ms(lambda a=a, b=b: multiply(a, b))
            # torch has no such product on a CPU; what it does have is the product of decoded f32 matrices.
            left, right = decoded[0].float(), decoded[1].float()
            theirs = median_ms(lambda x=left, y=right: x @ y.T)
            report.row(f"{name} {m}x{n}x{k}", ours, theirs, error, 2e-6, work=2 * m * n * k)
    print("against the original matrices (root mean square, relative):", ", ".join(prices))
    report.finish()


if __name__ == "__main__":
    main()
