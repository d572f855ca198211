"""ISA text: what an instruction is for, what a loop does; figures of real kernels by the real ocloc."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from triton_spirv.isa import innermost_loops, measure, read
from triton_spirv.isa.mix import hottest, multiplications, transferred

needs_ocloc = pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")
NEW_OCLOC = os.environ.get("TRITON_SPIRV_NEW_OCLOC", "")
needs_new_ocloc = pytest.mark.skipif(not NEW_OCLOC,
                                     reason="needs TRITON_SPIRV_NEW_OCLOC: matrix instructions")


def one(line: str):
    (item,) = read(line).instructions
    return item


@pytest.mark.parametrize(("line", "kind"), [
    ("        dpas.8x8 (16|M0)  r60:f null:f r20:hf r12.0:hf {$1}", "matrix"),
    ("        mad (16|M0)  r4.0<1>:f r5.0<1;0>:f r6.0<1;0>:f r7.0<0>:f {F@1}", "multiply-add"),
    ("(W)     add (1|M0)  r1.0<1>:d r1.0<0;1,0>:d 8:w", "arithmetic"),
    ("        math.inv (16|M0)  r4.0<1>:f r5.0<1;1,0>:f {$2}", "math"),
    ("        mov (16|M0)  r4.0<1>:f r5.0<1;1,0>:hf", "move"),
    ("(f0.0)  sel (16|M0)  r4.0<1>:f r5.0<1;1,0>:f r6.0<1;1,0>:f", "move"),
    ("        load.ugm.d32.a64 (16|M0)  r235:1 [r132:2] {A@1,$1} // ex_desc:0x0; desc:0x4100580", "load"),
    ("        load.ugm.d32x16t.a64.ca.ca (1|M0)  null:0 [r132:1] {$1} // ex_desc:0x0; desc:0x2800",
     "prefetch"),
    ("        store.ugm.d32x4.a64 (16|M0)  [r4:2] r8:4 {$1} // ex_desc:0x0; desc:0x40", "store"),
    ("        load.slm.d16u32.a32 (16|M0)  r8:1 [r3:1] {$1} // ex_desc:0x0; desc:0x4100", "shared"),
    ("        atomic_fadd.ugm.d32.a64 (16|M0)  null:0 [r4:2] r8:1 {$1} // desc:0x0", "atomic"),
    ("(W)     send.dc0 (16|M0)  null r0 r4:4 0x0 0x020F3002 {$6} // wr:1h+4, rd:0; hword scratch block "
     "write x8",
     "spill"),
    ("(W)     send.slm (1|M0)  r3 r0 null:0 0x0 0x0210011F {$22} // wr:1+0, rd:1; fence.slm.none.group",
     "fence"),
    ("(W)     send.gtwy (1|M0)  null r3 null:0 0x0 0x02000004 {$1} // wr:1+0, rd:0; signal barrier",
     "barrier"),
    ("(W)     send.gtwy (8|M0)  null r240 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread", "end"),
    ("sendg.ugm (1|M0)  r67 r99:1  null:0  0x8803 {$2} // load_block2d.ugm.d16.a64 [src0] // $3", "load"),
    ("sendg.ugm (1|M0)  null r99:1  null:0  0x8803 {$2} // load_block2d.ugm.d16.a64 [src0]", "prefetch"),
    ("sendg.ugm (1|M0)  null r57:1  r229:4  0x8807 {$5} // rd:0 B; store_block2d.ugm.d16.a64", "store"),
    ("(W&f0.0) jmpi  _0_010 // $10", "branch"),
    ("(W)     sync.nop  null {Compacted,A@1} // $3", "wait"),
])
def test_kinds(line: str, kind: str) -> None:
    assert one(line).kind == kind


def test_parts_of_an_instruction() -> None:
    item = one("(W&~f0.1) jmpi (1|M0)  _0_015 {$1} // $1620")
    assert (item.name, item.width, item.predicate, item.targets) == ("jmpi", 1, "W&~f0.1", ("_0_015",))
    item = one("        mad (16|M0)  (le)f0.0 r4.0<1>:f r5:f r6:f r7:f // $7")
    assert (item.base, item.width, item.comment) == ("mad", 16, "$7")


@pytest.mark.parametrize(("line", "name"), [
    ("load.ugm.d32.a64 (16|M0)  r235:1 [r132:2] {$1} // ex_desc:0x0; desc:0x4100580", "load.ugm.d32.a64"),
    ("send.ugm (1|M0)  r3 r117 null:0 0x0 0x03F00283 {$7} // wr:1+0, rd:31; load_block2d.ugm.d16v.a64",
     "load_block2d.ugm.d16v.a64"),
    ("sendg.ugm (1|M0)  r67 r99:1  null:0  0x8803 {$2} // load_block2d.ugm.d16.a64 [src0] // $330",
     "load_block2d.ugm.d16.a64"),
    ("send.gtwy (1|M0)  null r3 null:0 0x0 0x02000004 {$1} // wr:1+0, rd:0; signal barrier", "send.gtwy"),
])
def test_messages(line: str, name: str) -> None:
    assert one(line).message == name


@pytest.mark.parametrize(("line", "macs"), [
    ("dpas.8x8 (16|M0)  r60:f r60:f r20:hf r12.0:hf {$1}", 16 * 8 * 8 * 2),   # 8 rows, 16 columns, 16 deep
    ("dpas.8x8 (8|M0)  r60:f r60:f r20:bf r12.0:bf {$1}", 8 * 8 * 8 * 2),
    ("dpas.8x8 (16|M0)  r60:d r60:d r20:b r12.0:b {$1}", 16 * 8 * 8 * 4),
    ("dpas.8x8 (16|M0)  r60:f r60:f r20:tf32 r12.0:tf32 {$1}", 16 * 8 * 8),
    ("dpas.8x4 (16|M0)  r60:f null:f r20:hf r12.0:hf {$1}", 16 * 8 * 4 * 2),
    ("dpas.8x1 (8|M0)  null:f null:f r20:bf r20.0:bf {$1}", 0),               # keeps the engine's caches warm
    ("mad (16|M0)  r4:f r5:f r6:f r7:f", 16),
    ("mad (16|M0)  r4:d r5:d r6:d r7:d", 0),
    ("dp4a (16|M0)  r4:d r5:d r6:d r7:d", 64),
    ("add (16|M0)  r4:f r5:f r6:f", 0),
])
def test_multiplications(line: str, macs: int) -> None:
    assert multiplications(one(line)) == macs


@pytest.mark.parametrize(("line", "size"), [
    ("load.ugm.d32.a64 (16|M0)  r235:1 [r132:2] {$1} // ex_desc:0x0; desc:0x4100580", 64),
    ("load.ugm.d32x64t.a64 (1|M0)  r4:32 [r3:1] {$1} // ex_desc:0x0; desc:0x3F00580", 32 * 64),
    ("store.ugm.d32x4.a64 (16|M0)  [r4:2] r8:4 {$1} // ex_desc:0x0; desc:0x4000580", 4 * 64),
    ("send.ugm (16|M0)  r8 r4 null:0 0x0 0x0 {$1} // wr:2+0, rd:4; load.ugm.d32x4.a64", 4 * 64),
    ("send.ugm (16|M0)  null r4 r8:4 0x0 0x0 {$1} // wr:2+4, rd:0; store.ugm.d32x4.a64", 4 * 64),
])
def test_bytes(line: str, size: int) -> None:
    assert transferred(one(line), 64) == size


NEST = """
//.kernel nest
//.thread_config numGRF=256, numAcc=8, numSWSB=32
//.spill size 128
//.RA type\tGRAPH_COLORING_RA
//.declare BuiltInR0 (0)  rf=r size=64 type=ud align=32 words (r0.0)
_main:
        mov (16|M0)  r4.0<1>:f 0x0:f
_outer:
        add (16|M0)  r4.0<1>:f r4:f r5:f
_first:
        mad (16|M0)  r4.0<1>:f r5:f r6:f r7:f
(W&f0.0) jmpi  _first // back
_second:
        add (16|M0)  r4.0<1>:f r4:f r5:f
        add (16|M0)  r4.0<1>:f r4:f r5:f
        add (16|M0)  r4.0<1>:f r4:f r5:f
(W&f0.1) jmpi  _second
(W&f1.0) jmpi  _outer
(W)     send.gtwy (8|M0)  null r240 null:0 0x0 0x02000010 {EOT} // wr:1+0, rd:0; end of thread
        mov (1|M0)  null:ud 0x1:ud // a digest of the kernel, never run
"""


def test_loops() -> None:
    listing = read(NEST)
    assert (listing.kernel, listing.registers, listing.spill_bytes) == ("nest", 256, 128)
    assert listing.register_bytes == 64 and listing.allocation == "GRAPH_COLORING_RA"
    first, second = innermost_loops(listing)
    assert (first.label, first.counts) == ("_first", {"multiply-add": 1, "branch": 1})
    assert (second.label, second.instructions) == ("_second", 4)
    assert hottest([first, second]) is first  # it multiplies
    whole = measure(listing.items, listing.register_bytes)
    assert whole.instructions == 10 and whole.counts["end"] == 1  # nothing behind the end
    assert whole.per_kilomac == 10 * 1000 / 16 and hottest([]) is None


def test_matrix_share() -> None:
    text = "dpas.8x8 (16|M0)  r60:f r60:f r20:hf r12.0:hf {$1}\nadd (32|M0)  r1:d r2:d r3:d\n"
    mix = measure(read(text).items, 64)
    assert mix.matrix_cycles == 8 and mix.other_cycles == 2 and mix.matrix_share == pytest.approx(0.8)
    assert mix.messages_per_matrix == 0


# ---- real kernels


@pytest.fixture
def product(tmp_path: Path) -> str:
    """FILE.py::KERNEL of a small product."""
    pytest.importorskip("triton")
    path = tmp_path / "product.py"
    path.write_text('''
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, a_row, b_row, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, K, STEP):
        a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * b_row + n[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)
''')
    return f"{path}::product"


SIGNATURE = ("-s", "*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,16,32,32", "-w", "1")


@pytest.mark.parametrize("target", [
    pytest.param("pvc", marks=needs_new_ocloc), pytest.param("bmg", marks=needs_new_ocloc),
    pytest.param("dg2", marks=needs_new_ocloc),
    *(pytest.param(name, marks=needs_ocloc) for name in ("tgl", "pvc-2022", "dg2-2022"))])
def test_statistics_of_a_product(target: str, product: str, command, tmp_path: Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    if target in ("pvc", "bmg", "dg2"):
        monkeypatch.setenv("TRITON_OCLOC_PATH", NEW_OCLOC)
    done = command("stats", product, *SIGNATURE, "-t", target, "--json", "--isa", tmp_path / "product.asm")
    assert done.status == 0, done.error
    figures = json.loads(done.out)
    assert figures["simd_size"] == (8 if target.startswith("dg2") else 16)  # that of the matrix unit
    assert figures["grf_count"] in (128, 256) and figures["code_bytes"] > 1000
    hot = next(loop for loop in figures["loops"] if loop["label"] == figures["hot"])
    # 16 x 32 results, by the matrix engine with a whole step, or by multiply-adds of which the compiler may
    # leave a part of the step to a loop
    assert hot["macs"] % (16 * 32) == 0 and hot["macs"] > 0
    assert hot["instructions_per_kilomac"] == pytest.approx(hot["instructions"] * 1000 / hot["macs"],
                                                            abs=0.001)
    assert figures["has_dpas"] == ("matrix" in figures["whole"]["counts"]) == (target != "tgl")
    text = (tmp_path / "product.asm").read_text()
    assert read(text).kernel == "product"
    assert len(read(text).instructions) == figures["whole"]["instructions"]


@needs_ocloc
def test_statistics_to_read(product: str, command) -> None:
    done = command("stats", product, *SIGNATURE, "-t", "tgl")
    assert done.status == 0
    for part in ("(hot)", "SIMD 16", "multiplications"):
        assert part in done.out


@needs_ocloc
def test_statistics_of_a_cached_kernel_and_of_a_module(product: str, command, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    import importlib.util

    import triton.language as tl
    from triton.runtime.jit import MockTensor

    spec = importlib.util.spec_from_file_location("product_module", product.partition("::")[0])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    half, single = MockTensor(tl.float16), MockTensor(tl.float32)
    module.product.warmup(half, half, single, 64, 64, 64, 16, 32, 32, grid=(1,), num_warps=1)
    done = command("stats", "product", "-t", "tgl", "--json")
    assert done.status == 0 and json.loads(done.out)["whole"]["instructions"] > 50, done.error
    command("compile", product, *SIGNATURE, "-t", "tgl", "-e", "spv", "-o", tmp_path / "product.spv")
    again = command("stats", tmp_path / "product.spv", "-t", "tgl", "-w", 1, "--json")
    assert json.loads(again.out)["whole"]["counts"], again.error


@pytest.mark.parametrize(("words", "complaint"), [
    (("x.spv",), "x.spv cannot be read"), (("x.spv", "-t", "vulkan"),
                                           "unknown target 'vulkan': stats knows the code of cpu"),
    (("nosuch",), "no kernel 'nosuch'"), (("nosuch.py::k",), "nosuch.py is not a file"),
])
def test_bad_input(words: tuple[str, ...], complaint: str, command) -> None:
    done = command("stats", *words)
    assert done.status == 2 and complaint in done.error and done.error.count("\n") == 1
