"""Functions from outside the language: libdevice.

`tl` has the mathematics that most kernels need: exp, log, sin, sqrt, erf and a few more. For the rest there
is `triton.language.extra.libdevice`, a module of functions that every backend maps to what its target has.
Here that is the OpenCL extended instruction set, a part of SPIR-V: `libdevice.asin` becomes one `OpExtInst
OpenCL.std asin`, which the driver of the device implements. Where OpenCL has no such function, the backend
composes it.

What to look at:

* the call looks like any other; the argument's type selects the variant, f32 or f64;
* `kernel.asm["spvasm"]` is what the backend made of it, in readable form: the last lines of the output show
  the call;
* a kernel in f64 needs a device that can do f64. CPUs do.
"""

# turns the SPIR-V backend on, which must precede `import triton`
from _report import INTERPRETED, Report, max_error, median_ms

# isort: split
import sys

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def asin_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    x = tl.load(x_ptr + index, mask=inside)
    tl.store(out_ptr + index, libdevice.asin(x), mask=inside)


@triton.jit
def great_circle_kernel(latitude_ptr, longitude_ptr, other_latitude, other_longitude, out_ptr, count,
                        BLOCK: tl.constexpr):
    """Distance on the unit sphere between many points and one, all angles in radians.

    The textbook's acos of a sum loses all digits for neighbours; this form, atan2 of a hypotenuse, loses
    none.
    """
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    latitude = tl.load(latitude_ptr + index, mask=inside)
    turn = tl.load(longitude_ptr + index, mask=inside) - other_longitude
    sin_a, cos_a = tl.sin(latitude), tl.cos(latitude)
    sin_b, cos_b = tl.sin(other_latitude), tl.cos(other_latitude)
    across = cos_a * tl.sin(turn)
    along = cos_b * sin_a - sin_b * cos_a * tl.cos(turn)
    out = libdevice.atan2(libdevice.hypot(across, along), sin_b * sin_a + cos_b * cos_a * tl.cos(turn))
    tl.store(out_ptr + index, out, mask=inside)


def launch(kernel, *arguments, out):
    """kernel over the whole of `out`."""
    block = 1024
    return kernel[(triton.cdiv(out.numel(), block),)](*arguments, out, out.numel(), block)


def torch_great_circle(latitude, longitude, other_latitude: float, other_longitude: float):
    turn = longitude - other_longitude
    b = torch.tensor(other_latitude, dtype=latitude.dtype)
    across = latitude.cos() * turn.sin()
    along = b.cos() * latitude.sin() - b.sin() * latitude.cos() * turn.cos()
    cosine = b.sin() * latitude.sin() + b.cos() * latitude.cos() * turn.cos()
    return torch.atan2(torch.hypot(across, along), cosine)


def main() -> None:
    report = Report("07 extern functions", rate=("Melement/s", 1e6))
    if INTERPRETED:
        print("Triton's interpreter has no libdevice; nothing to run")
        sys.exit(0)
    compiled = None
    for size in [1000] if report.quick else [98_432, 1_000_003, 10_000_000]:
        for dtype, limit in ((torch.float32, 1e-6), (torch.float64, 1e-14)):  # asin: 4 ulp of at most pi / 2
            torch.manual_seed(0)
            x = (torch.rand(size, dtype=torch.float64) * 2 - 1).to(dtype)
            out = torch.full_like(x, float("nan"))
            compiled = launch(asin_kernel, x, out=out)
            error = max_error(out, torch.asin(x.double()))
            ours = median_ms(lambda x=x, out=out: launch(asin_kernel, x, out=out))
            theirs = median_ms(lambda x=x: torch.asin(x))
            name = f"asin {str(dtype).removeprefix('torch.')} {size}"
            report.row(name, ours, theirs, error, limit, work=size)

        latitude, longitude = (torch.rand(size) * 2 - 1) * 1.57, (torch.rand(size) * 2 - 1) * 3.14
        latitude[:10], longitude[:10] = 0.82 + 1e-4, 0.23  # neighbours: 0.0001 away
        out, other = torch.full_like(latitude, float("nan")), (0.82, 0.23)
        launch(great_circle_kernel, latitude, longitude, *other, out=out)
        error = max_error(out, torch_great_circle(latitude.double(), longitude.double(), *other))
        arguments = latitude, longitude, *other
        ours = median_ms(lambda a=arguments, out=out: launch(great_circle_kernel, *a, out=out))
        theirs = median_ms(lambda a=arguments: torch_great_circle(*a))
        # some ten roundings of numbers below 4
        report.row(f"great circle {size}", ours, theirs, error, 3e-6, work=size)

    print("in the SPIR-V listing of asin_kernel:")
    calls = [line.strip() for line in compiled.asm["spvasm"].splitlines() if "OpExtInst" in line]
    print(f"    {calls[0]}   ({len(calls)} of them, one for each vector of the block)")
    report.finish()


if __name__ == "__main__":
    main()
