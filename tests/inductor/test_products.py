"""Matrix products of models: which are kernels, and that these and what is fused into them is right."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: what scripts of these tests begin with: products are kernels; `check(function, *arguments, products=...)`
#: compares with eager mode and counts the kernels that make products
CHECKING = """
import os
os.environ["TRITON_SPIRV_INDUCTOR_PRODUCTS"] = "1"
import torch
from torch.nn import functional as F
from counting import count, launched as used
count()
torch.manual_seed(0)

def check(function, *arguments, products=1, others=0, **options):
    used.clear()
    torch._dynamo.reset()
    found = torch.compile(function, backend="triton-spirv", dynamic=False, **options)(*arguments)
    # sums of up to 500 products in another order
    torch.testing.assert_close(found, function(*arguments), rtol=1e-4, atol=2e-4, equal_nan=True)
    made = sum("spirv_" in name or "tem_" in name for name in used)
    assert (made, len(used) - made) == (products, others), (used, [x.shape for x in arguments])
"""


def test_orders_and_sizes(script: Script) -> None:
    """Each order of either operand in memory, sizes that divide blocks and that do not, views that begin
    inside of a tensor, and a product with itself."""
    done = script(CHECKING + """
for m, n, k in (128, 64, 64), (100, 70, 130), (17, 300, 65), (257, 33, 500), (64, 64, 64), (320, 16, 96):
    x, y = torch.randn(m, k), torch.randn(k, n)
    for left in x, x.t().contiguous().t():
        for right in y, y.t().contiguous().t():
            check(torch.mm, left, right)

x, y = torch.randn(150, 300), torch.randn(300, 200)
check(lambda x, y: x[11:111, 7:107] @ y[3:103, 50:120], x, y)
check(lambda x: x @ x.t(), torch.randn(100, 70))
check(lambda x, y: (x * 2) @ y.sin(), torch.randn(100, 70), torch.randn(70, 90), others=2)
check(lambda x, w: F.linear(x, w), torch.randn(3, 40, 70), torch.randn(90, 70))
x = torch.randn(100, 70).view(torch.int32).clone()  # bits of another type
check(lambda x, w: x.view(torch.float32) @ w, x, torch.randn(70, 90), products=0)
check(lambda x, w: w @ x.t().view(torch.float32), x, torch.randn(90, 70), products=0)
""")
    assert done.returncode == 0, done.stderr


def test_what_is_added(script: Script) -> None:
    """A bias of any shape, factors, and one of 0, with which what is added is not looked at."""
    done = script(CHECKING + """
x, y = torch.randn(100, 70), torch.randn(70, 90)
for extra, shape in enumerate([(90,), (1, 90), (100, 1), (100, 90), (1,), ()]):
    # a kernel that has been launched before is not counted
    check(torch.addmm, torch.randn(shape), x, torch.randn(100 + extra, 90)[:70])
    x = torch.randn(100, 71 + extra)[:, :70]
bias = torch.randn(90)
check(lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=3), bias, x, y)
check(lambda b, x, y: torch.addmm(b, x, y, beta=0, alpha=2), bias + float("nan"), x, y)
check(lambda b, x, y: torch.addmm(b, x, y, alpha=0), bias, x + float("inf"), y, products=0)
""")
    assert done.returncode == 0, done.stderr


def test_work_behind_a_product(script: Script) -> None:
    """It is in the product's kernel, whether the product is a result, too, or not; of views of the result;
    sums over rows are kernels of their own."""
    done = script(CHECKING + """
x, w, b, r = torch.randn(100, 70), torch.randn(96, 70), torch.randn(96), torch.randn(100, 96)
check(lambda x, w, b, r: F.gelu(F.linear(x, w, b)) + r, x, w, b, r)

def both(x, w, b, r):
    wide = F.linear(x, w, b)
    return wide, torch.relu(wide) * r

check(both, x, w, b, r)
check(lambda x, w, b, r: F.linear(x, w, b).view(100, 8, 12).sin(), x, w, b, r)
check(lambda x, w, b, r: torch.softmax(F.linear(x, w, b) * 2, -1), x, w, b, r, others=1)
check(lambda x, w, b, r: (x @ w.t())[3:, 5:80] * 2, x, w, b, r, others=1)
check(lambda x, w, b, r: F.linear(F.relu(F.linear(x, w, b)), r), x, w, b, r, products=2)
""")
    assert done.returncode == 0, done.stderr


def test_batches(script: Script) -> None:
    done = script(CHECKING + """
for b, m, n, k in (3, 64, 64, 64), (5, 100, 70, 90), (2, 33, 96, 130):
    x, y = torch.randn(b, m, k), torch.randn(b, k, n)
    check(torch.bmm, x, y)
    check(torch.bmm, x, y.transpose(1, 2).contiguous().transpose(1, 2))
    check(torch.bmm, x.transpose(1, 2).contiguous().transpose(1, 2), y)
    check(torch.bmm, x.transpose(0, 1).contiguous().transpose(0, 1), y)
    check(lambda x, y: torch.relu(x @ y * 0.1), x, y)
    check(lambda x, y: x @ y[:1].expand_as(y), x, y)
q = torch.randn(2, 4, 80, 64)
check(lambda q: torch.softmax(q @ q.transpose(-1, -2), -1) @ q, q, products=2, others=1)
""")
    assert done.returncode == 0, done.stderr


def test_of_16_bits(script: Script) -> None:
    """Sums are of f32. What torch computes in f32 is the reference: products of up to 8 are rounded to 11 or
    8 bits, and what is made of them once more."""
    done = script(CHECKING + """
for dtype, step in (torch.float16, 2.0 ** -10), (torch.bfloat16, 2.0 ** -7):
    for m, n, k in (100, 96, 200), (65, 300, 130):
        used.clear()
        torch._dynamo.reset()
        made = torch.randn(m, k), torch.randn(n, k) / k ** 0.5, torch.randn(n)
        x, w, b = (each.to(dtype) for each in made)
        function = lambda x, w, b: F.gelu(F.linear(x, w, b))
        found = torch.compile(function, backend="triton-spirv", dynamic=False)(x, w, b)
        assert found.dtype == dtype and len(used) == 1 and "tem_" in used[0], used
        torch.testing.assert_close(found.float(), function(x.float(), w.float(), b.float()), rtol=step,
                                   atol=4 * step)
x, y = torch.randn(3, 70, 80).half(), torch.randn(3, 80, 90).half()
used.clear()
found = torch.compile(torch.bmm, backend="triton-spirv", dynamic=False)(x, y)
assert len(used) == 1 and "tem_" in used[0], used
torch.testing.assert_close(found.float(), torch.bmm(x.float(), y.float()), rtol=2.0 ** -10, atol=2.0 ** -10)
""")
    assert done.returncode == 0, done.stderr


def test_training(script: Script) -> None:
    """Gradients of two layers: five products, of transposed operands."""
    done = script(CHECKING + """
model = torch.nn.Sequential(torch.nn.Linear(70, 130), torch.nn.GELU(), torch.nn.Linear(130, 50))
x = torch.randn(90, 70)

def gradients(step):
    model.zero_grad()
    step(x).square().mean().backward()
    return [p.grad.clone() for p in model.parameters()]

found = gradients(torch.compile(model, backend="triton-spirv"))
assert sum("spirv_" in name or "tem_" in name for name in used) == 5, used
torch.testing.assert_close(found, gradients(model), rtol=1e-4, atol=1e-5)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_launched_from_cpp(script: Script) -> None:
    done = script(CHECKING + """
used = []
from torch._inductor import config
x, w, b = torch.randn(100, 70), torch.randn(96, 70), torch.randn(96)
with config.patch(cpp_wrapper=True):
    compiled = torch.compile(lambda x, w, b: F.gelu(F.linear(x, w, b)), backend="triton-spirv")
    _, code = torch._inductor.utils.run_and_get_code(compiled, x, w, b)
assert "spirv_mm" in code[0] or "triton_tem" in code[0], code[0]
torch.testing.assert_close(compiled(x, w, b), F.gelu(F.linear(x, w, b)), rtol=1e-4, atol=1e-4)
""")
    assert done.returncode == 0, done.stderr


def test_left_to_the_library(script: Script) -> None:
    """Other types, small products, sizes that are not known, deterministic algorithms; and all of them, if
    the variable says so: it is part of the key of compiled graphs."""
    done = script(CHECKING + """
mm = lambda x, y: x @ y
check(mm, torch.randn(100, 70, dtype=torch.float64), torch.randn(70, 90, dtype=torch.float64), products=0)
check(mm, torch.randn(100, 4000), torch.randn(4000, 8), products=0)
check(mm, torch.randn(8, 4000), torch.randn(4000, 100), products=0)
check(mm, torch.randn(40, 40), torch.randn(40, 40), products=0)
check(mm, torch.randn(100, 0), torch.randn(0, 100), products=0)
x, y = torch.randn(100, 70), torch.randn(70, 90)
torch.use_deterministic_algorithms(True)
check(mm, x, y, products=0)
torch.use_deterministic_algorithms(False)
torch._dynamo.reset()
used.clear()
torch.testing.assert_close(torch.compile(mm, backend="triton-spirv", dynamic=True)(x, y), x @ y)
assert not used
from triton_spirv_inductor import library
assert library.is_slower(torch.float32, 100.0)
os.environ["TRITON_SPIRV_INDUCTOR_PRODUCTS"] = "0"
check(mm, x, y, products=0)
""")
    assert done.returncode == 0, done.stderr


def test_measured_once(script: Script) -> None:
    """Both make the product when it is measured; a second process reads what was found, and does as it says;
    Triton's active driver stays."""
    text = """
import os
os.environ["TRITON_SPIRV_INDUCTOR_PRODUCTS"] = "auto"
import torch, triton
import triton_spirv_inductor.library as library
from torch._inductor.runtime.cache_dir_utils import cache_dir
import glob, json
measured, calls, threads = library.measured, [], torch.get_num_threads()
library.measured = lambda dtype: calls.append(dtype) or measured(dtype)
from counting import count, launched as used
count()
torch.manual_seed(0)
x, y = torch.randn(128, 128), torch.randn(128, 128)
compiled = torch.compile(lambda x, y: x @ y * FACTOR, backend="triton-spirv", dynamic=False)
torch.testing.assert_close(compiled(x, y), x @ y * FACTOR, rtol=1e-4, atol=1e-3)
path, = glob.glob(f"{cache_dir()}/triton_spirv_products_*.json")
"""
    done = script(text.replace("FACTOR", "2.0") + """
ratio = json.loads(open(path).read())["ratio"]
assert calls == [torch.float32] and torch.get_num_threads() == threads, calls
from triton_spirv_inductor.products import blocks_of, cores
_, longer = blocks_of(1, 128, 128, 128, cores())
assert ("tem_" in used[0]) == (ratio > library.FASTER * longer), (ratio, longer, used)
open(path, "w").write('{"ratio": 99.0}')
""")
    assert done.returncode == 0, done.stderr
    # of another function: the compiled graph of the first one is in the cache
    for ratio in "99.0", "0.1":
        again = script(text.replace("FACTOR", ratio) + f"""
assert not calls and len(used) == 1, (calls, used)
assert ("tem_" in used[0]) == ({ratio} > 1), used
open(path, "w").write('{{"ratio": 0.1}}')
""")
        assert again.returncode == 0, again.stderr


def test_refuses_another_word(script: Script) -> None:
    done = script("""
import torch
torch.compile(lambda x: x @ x, backend="triton-spirv")(torch.ones(64, 64))
""", TRITON_SPIRV_INDUCTOR_PRODUCTS="often")
    assert done.returncode and "use 1, 0 or auto" in done.stderr


@pytest.mark.parametrize(("sizes", "cores", "blocks"), [
    ((1, 512, 768, 768), 1, (128, 128, 64)),
    ((1, 196, 576, 192), 1, (32, 64, 64)),
    ((1, 16, 2048, 2048), 1, (16, 128, 64)),
    ((1, 256, 1152, 384), 16, (32, 64, 64)),
    ((24, 256, 256, 64), 16, (128, 128, 64)),
])
def test_blocks(sizes: tuple[int, int, int, int], cores: int, blocks: tuple[int, int, int]) -> None:
    """They fit the sizes, and all cores get some."""
    from triton_spirv_inductor.products import blocks_of

    assert tuple(blocks_of(*sizes, cores)[0].values()) == blocks


def test_too_few_programs_take_longer() -> None:
    from triton_spirv_inductor.products import blocks_of

    assert blocks_of(1, 64, 64, 4096, 1)[1] < 1.1
    assert blocks_of(1, 64, 64, 4096, 64)[1] > 4


def test_compared() -> None:
    """The least time counts, in turns."""
    from triton_spirv_inductor.library import compared

    order: list[str] = []

    def spend(name: str, steps: int) -> None:
        order.append(name)
        sum(range(steps))

    ratio = compared(lambda: spend("library", 200_000), lambda: spend("kernel", 20_000), 4)
    assert order == ["library", "kernel"] * 5
    assert ratio > 2


def test_inductors_own_kernels_with_what_is_fused(script: Script) -> None:
    """max-autotune times its kernel by itself, and with what may be fused into it."""
    done = script(CHECKING + """
from torch._inductor import config
config.test_configs.max_mm_configs = 1
x, y = torch.randn(32, 128), torch.randn(128, 64)
options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}
for function in (lambda x, y: torch.relu(x @ y), lambda x, y: (x + 1) @ y):
    torch._dynamo.reset()
    made = torch.compile(function, backend="triton-spirv", options=options)(x, y)
    torch.testing.assert_close(made, function(x, y), rtol=1e-4, atol=2e-4)
assert any("triton_tem" in name or "triton_mm" in name for name in used), used
""")
    assert done.returncode == 0, done.stderr[-3000:]
