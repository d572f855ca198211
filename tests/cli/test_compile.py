"""`triton-spirv compile`: every kind that it emits, and one line for everything that cannot be meant."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from triton_spirv.tools import spirv_tools

pytest.importorskip("triton")

KERNELS = Path(__file__).parents[1] / "aot" / "kernels.py"
ADD = (f"{KERNELS}::add", "--signature", "*fp32:16,*fp32,*fp32,i32:16,128")


@pytest.mark.parametrize(("kind", "target", "marks"), [
    ("ttir", "cpu", ["tt.func public @add", "tt.divisibility = 16"]),
    ("ttgir", "cpu-simt", ['"ttg.threads-per-warp" = 16', '"ttg.num-warps" = 8', "#ttg.blocked"]),
    ("plan", "cpu", ["plan of add for cpu\n", "walk for store kernels.py:"]),
    ("plan", "pvc", ["plan of add for pvc\n", "kernels.py:"]),
    ("spvasm", "cpu", ["; SPIR-V 1.2", "; kernels.py:11"]),
    ("spvasm", "pvc", ["SubgroupSize 16"]),
])
def test_text(kind: str, target: str, marks: list[str], command) -> None:
    done = command("compile", *ADD, "--emit", kind, "--target", target, "--num-warps", 8)
    assert done.status == 0, done.error
    for mark in marks:
        assert mark in done.out


@pytest.mark.parametrize(("asked", "printed"), [
    (["simplify", "needed-barriers"], ["// after simplify", "; after needed-barriers"]),
    (["all"], ["// after simplify", "// after single-rounds", "; after definite-assignment",
               "; after needed-barriers", "; after convergence", "; after contraction",
               "; after separated-phis"]),
])
def test_print_after(asked: list[str], printed: list[str], command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEBUG", "verify")
    words = [word for name in asked for word in ("--print-after", name)]
    done = command("compile", *ADD, "--emit", "spvasm", "--target", "cpu-simt", *words)
    assert done.status == 0, done.error
    assert [line for line in done.error.splitlines() if " after " in line] == printed
    assert done.out.startswith("; SPIR-V 1.3") and "; SPIR-V 1.3" in done.error


def test_print_after_a_pass_that_there_is_not(command) -> None:
    done = command("compile", *ADD, "--emit", "spvasm", "--print-after", "barriers")
    assert done.status != 0 and "there is no pass 'barriers'; there are simplify, order-" in done.error


def test_spv(command, tmp_path: Path) -> None:
    done = command("compile", *ADD, "--emit", "spv", "-o", tmp_path / "add.spv")
    assert done.status == 0
    spirv_tools.validate((tmp_path / "add.spv").read_bytes())


def test_bundle_of_configurations(command, tmp_path: Path) -> None:
    done = command("compile", f"{KERNELS}::add", "-s", "*fp32,*fp32,*fp32,i32", "--config",
                   "BLOCK=64,num_warps=2",
                   "--config", "BLOCK=128", "-t", "cpu", "-t", "cpu-simt", "-j", 1, "-o", tmp_path)
    assert done.status == 0 and done.out.splitlines()[0].startswith("kernel"), done.error
    assert "4/4" in done.error
    variants = json.loads((tmp_path / "bundle.json").read_text())["variants"]
    assert [variant["options"].get("num_warps") for variant in variants] == [2, 2, None, None]


def test_ir_as_input_gives_the_same_words(command, tmp_path: Path) -> None:
    """From the TTIR that it emits itself, and from TTGIR."""
    for kind, target in (("ttir", "cpu"), ("ttir", "cpu-simt"), ("ttgir", "cpu-simt")):
        source = tmp_path / f"add.{kind}"
        assert command("compile", *ADD, "--emit", kind, "-t", "cpu-simt" if kind == "ttgir" else "cpu", "-o",
                       source).status == 0
        for name, words in (("direct", ADD), ("again", (source,))):
            done = command("compile", *words, "--emit", "spv", "-t", target, "-o", tmp_path / f"{name}.spv")
            assert done.status == 0, done.error
        assert (tmp_path / "direct.spv").read_bytes() == (tmp_path / "again.spv").read_bytes(), (kind, target)


def test_bundle_of_ir(command, tmp_path: Path) -> None:
    command("compile", *ADD, "--emit", "ttir", "-o", tmp_path / "add.ttir")
    done = command("compile", tmp_path / "add.ttir", "-o", tmp_path / "bundle")
    assert done.status == 0, done.error
    (variant,) = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["variants"]
    assert variant["types"] == {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}


@pytest.mark.parametrize(("words", "complaint"), [
    ((*ADD, "--target", "abacus"), "unknown target 'abacus'; there are "),
    ((*ADD[:2], "*fp32"), "the signature has 1 item, add has 5 parameters to name: x, y, out, n, BLOCK"),
    ((*ADD[:2], "*fp99,*fp32,*fp32,i32,1"), "signature, x: '*fp99' is neither a type nor a number"),
    ((*ADD[:1],), "--signature is missing; the parameters of add are x, y, out, n, BLOCK"),
    ((f"{KERNELS}::sub", *ADD[1:]), "has no kernel 'sub'; it has add, scaled"),
    ((str(KERNELS), *ADD[1:]), "::KERNEL: it has add, scaled"),
    (("nosuch.py::add", *ADD[1:]), "nosuch.py is not a file"),
    (("nosuch.ttir",), "nosuch.ttir cannot be read"),
    (("nosuch.ttir", "--signature", "i32"), "a file of IR has its signature in it"),
    ((*ADD, "--num-warps", "3"), "num_warps must be a power of 2, got 3"),
    ((*ADD, "--num-warps", "many"), "invalid int value: 'many'"),
    ((*ADD, "--option", "num_wraps=1"), "there is no option 'num_wraps'"),
    ((*ADD, "--option", "num_warps"), "'num_warps' is not NAME=VALUE"),
    ((*ADD, "--emit", "cubin"), "invalid choice: 'cubin'"),
    ((*ADD, "--emit", "zebin"), "target cpu has no zebin"),
    ((*ADD, "--emit", "ttgir"), "target cpu has no TTGIR"),
    ((*ADD, "--emit", "spv", "-t", "cpu", "-t", "pvc"), "--emit spv writes one file"),
    ((*ADD, "--emit", "spv", "-o", "/nonexistent/add.spv"), "/nonexistent/add.spv cannot be written"),
    ((*ADD, "-o", "-"), "a bundle is a folder"),
    ((*ADD, "--grf-mode", "64"), "invalid choice: '64'"),
])
def test_bad_input_ends_with_one_line_and_status_2(words: tuple[str, ...], complaint: str, command) -> None:
    done = command("compile", *words)
    assert done.status == 2
    assert complaint in done.error and done.error.count("\n") == 1 and not done.out


def test_ttgir_of_other_lanes(command, tmp_path: Path) -> None:
    path = tmp_path / "add.ttgir"
    command("compile", *ADD, "--emit", "ttgir", "-t", "cpu-simt", "-o", path)
    for target, complaint in (("cpu-simt32", "is for warps of 16, target cpu-simt32 has 32"),
                              ("cpu", "compiles Triton IR (.ttir), not TTGIR")):
        done = command("compile", path, "-t", target, "--emit", "spv", "-o", tmp_path / "x.spv")
        assert done.status == 2 and complaint in done.error


def test_a_file_that_fails_when_it_is_run(command, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    done = command("compile", f"{tmp_path}/broken.py::add", "-s", "i32")
    assert done.status == 2 and "fails when it is run: ZeroDivisionError" in done.error


def test_a_kernel_that_does_not_compile_is_status_1(command) -> None:
    done = command("compile", f"{KERNELS}::wrong", "-s", "*i32,64", "--emit", "spv")
    assert done.status == 1 and "nosuch is not defined" in done.error


def test_without_triton_ir_still_compiles(command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    command("compile", *ADD, "--emit", "ttir", "-o", tmp_path / "add.ttir")
    for name in [name for name in sys.modules if name.startswith("triton_spirv_backend.aot")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "triton", None)
    assert command("compile", tmp_path / "add.ttir", "--emit", "spv", "-o", tmp_path / "add.spv").status == 0
    done = command("compile", *ADD, "--emit", "ttir")
    assert done.status == 2 and "needs Triton: pip install" in done.error


def test_what_cannot_be_written(command, tmp_path: Path) -> None:
    """One line, before anything is compiled."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        done = command("compile", *ADD, "-o", place)
        assert done.status == 2 and done.error.count("\n") == 1 and f"{place} cannot be written" in done.error
    (tmp_path / "bundle" / "bundle.json").mkdir(parents=True)  # in the way of a file
    done = command("compile", *ADD, "-o", tmp_path / "bundle")
    assert done.status == 2 and "cannot be written: Is a directory" in done.error


def test_variants_are_told_apart(command, tmp_path: Path) -> None:
    """By their options; those with the same words share a file."""
    done = command("compile", f"{KERNELS}::add", "-s", "*fp32,*fp32,*fp32,i32,128", "--config", "num_warps=2",
                   "--config", "num_warps=8", "-t", "cpu", "-t", "cpu-simt", "-j", 0, "-o", tmp_path)
    assert done.status == 0 and "num_warps=2" in done.out and "num_warps=8" in done.out, done.error
    variants = json.loads((tmp_path / "bundle.json").read_text())["variants"]
    files = {target: {variant["spv"] for variant in variants if variant["target"] == target}
             for target in ("cpu", "cpu-simt")}
    assert len(files["cpu"]) == 1 and len(files["cpu-simt"]) == 2  # one work-item runs a program on a CPU
    assert {path.name for path in tmp_path.glob("*.spv")} == files["cpu"] | files["cpu-simt"]
    for header in tmp_path.glob("*.h"):
        assert next(iter(files["cpu"])) in header.read_text()


def test_an_interrupted_compilation_says_nothing(tmp_path: Path) -> None:
    """Ctrl-C goes to all processes of the terminal; no worker answers with a traceback. There is work for
    longer than a busy machine takes to look for workers and to interrupt them."""
    configs = [word for size in range(200)
               for word in ("--config", f"BLOCK={2 ** (size % 5 + 10)},num_stages={size}")]
    source = f"{Path(__file__).parents[1] / 'aot' / 'kernels.py'}::add"
    process = subprocess.Popen(
        [sys.executable, "-m", "triton_spirv", "compile", source, "-s", "*fp32,*fp32,*fp32,i32", *configs,
         "-j", "2", "-o", str(tmp_path / "out")], stderr=subprocess.PIPE, text=True, start_new_session=True)
    workers: list[str] = []
    for _ in range(600):  # the front end has children, too: the `uname` of platform.processor()
        children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True,
                                  text=True, check=False).stdout.splitlines()
        workers = [child.split()[0] for child in children if "triton_spirv.workers" in child]
        if workers or process.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said and "KeyboardInterrupt" not in said, said
    assert workers and not any(Path(f"/proc/{worker}").exists() for worker in workers)
