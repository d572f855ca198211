"""Machine code of the CPU device: what its driver made of a kernel."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from triton_spirv.errors import TritonSpirvError
from triton_spirv.isa import machine_code
from triton_spirv.runtime import devices, program
from triton_spirv.spirv.line_info import with_line_info

from .test_isa import SIGNATURE, product  # noqa: F401

pytest.importorskip("capstone")


@pytest.fixture(autouse=True)
def device() -> None:
    if not any(each.kind == "cpu" for each in devices.devices()):
        pytest.skip("no CPU device")


def figures(command, source: str, *words: object) -> dict:
    done = command("stats", source, *SIGNATURE[:1],
                   "*fp32:16,*fp32:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32",
                   "-t", "host", "--json", *words)
    assert done.status == 0, done.error
    return json.loads(done.out)


def test_a_product(product: str, command, tmp_path: Path) -> None:  # noqa: F811
    found = figures(command, product, "--isa", tmp_path / "product.s")
    assert found["vector_bits"] >= 128 and 4 <= found["vector_registers"] <= 32
    assert found["stack_bytes"] >= 64 * 32 * 4  # a packed panel, at least
    hot = next(loop for loop in found["loops"] if loop["label"] == found["hot"])
    lanes = found["vector_bits"] // 32
    assert hot["macs"] == hot["counts"]["multiply-add"] * lanes
    assert sum(hot["counts"].values()) == hot["instructions"] < found["whole"]["instructions"]
    text = (tmp_path / "product.s").read_text()
    assert f"{found['hot']}:\n" in text and "vfmadd" in text


def test_to_read(product: str, command) -> None:  # noqa: F811
    done = command("stats", product, "-s", "*fp32:16,*fp32:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32")
    assert done.status == 0 and "(hot)" in done.out and "multiply-add" in done.out and "of stack" in done.out


def test_a_cached_kernel_is_looked_at_on_its_own_target(product: str, command, tmp_path: Path,  # noqa: F811
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.cli import stats

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    assert stats.usual_target("product") == stats.usual_target("x.spv") == "cpu"
    folder = tmp_path / "KEY"
    folder.mkdir()
    words = tmp_path / "product.spv"
    command("compile", product, *SIGNATURE, "-t", "host", "-e", "spv", "-o", words)
    (folder / "product.spv").write_bytes(words.read_bytes())
    artifact = {"entry": "product", "num_warps": 4, "parameters": [], "passing": "struct", "written": []}
    metadata = {"name": "product", "hash": "KEY", "artifact": artifact, "spirv_digest": "0",
                "target": {"backend": "cpu"}}
    (folder / "product.json").write_text(json.dumps(metadata))
    done = command("stats", "product", "--json")
    assert json.loads(done.out)["target"] == "cpu", done.error


def test_what_is_no_binary_of_this_driver() -> None:
    with pytest.raises(TritonSpirvError, match="driver's binary is a damaged ELF file"):
        machine_code.disassembled(b"\x7fELF\x01", "k")
    empty = struct.pack("<16s HHIQQQIHHHHHH", b"\x7fELF\x02\x01", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
    name_table = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 128, 1, 0, 0, 1, 0)
    with pytest.raises(TritonSpirvError, match="has no object file in it"):
        machine_code.disassembled(empty + name_table + b"\0", "k")


@pytest.mark.parametrize(("name", "width", "macs"), [
    ("vfmadd231ps", 512, 16), ("vfmadd231pd", 256, 4), ("vfmadd213ss", 128, 1), ("vpdpbusd", 512, 64),
    ("vpdpwssd", 512, 32), ("vfmadd231ph", 512, 32),
])
def test_multiplications(name: str, width: int, macs: int) -> None:
    assert machine_code._multiplications(name, width) == macs


LINES = """\
import triton
import triton.language as tl


@triton.jit
def two_loops(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        s += tl.exp(tl.load(x + i + k * BLOCK))
    tl.debug_barrier()
    for k in range(n):
        tl.store(o + i + k * BLOCK, s * k)
"""


def test_loops_name_the_lines_that_they_are_made_of(command, tmp_path: Path) -> None:
    source = tmp_path / "lines.py"
    source.write_text(LINES)
    words = ("stats", f"{source}::two_loops", "-s", "*fp32:16,*fp32:16,i32,16", "-t", "host")
    loops = json.loads(command(*words, "--json").out)["loops"]
    named = [set(loop["lines"]) for loop in loops if "lines" in loop]
    assert any("lines.py:10" in lines for lines in named) and any("lines.py:13" in lines for lines in named)
    assert {line for lines in named for line in lines if line.startswith("lines")} <= {
        f"lines.py:{number}" for number in range(6, 14)}
    text = command(*words).out
    assert re.search(r"^source .*lines\.py:1[03]", text, re.M)


def test_lines_change_no_figure(command, tmp_path: Path) -> None:
    """Lines are read from a second build; what is counted is the code that runs."""
    source = tmp_path / "lines.py"
    source.write_text(LINES)
    command("compile", f"{source}::two_loops", "-s", "*fp32:16,*fp32:16,i32,16", "-t", "host", "-e", "spv",
            "-o", tmp_path / "k.spv")
    words = (tmp_path / "k.spv").read_bytes()
    device = next(each for each in devices.devices() if each.kind == "cpu")
    plain = program.build(devices.open_device(device), words, "two_loops").binary()
    counted = machine_code.machine_code(words, "two_loops", marked=with_line_info(words))
    assert any(loop.lines for loop in counted.loops)
    assert counted.text == machine_code.disassembled(plain, "two_loops").text
