"""The comparison runs, checks its workloads, and writes its figures; it does not judge them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cpu.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--quick", "--seconds", "0.01", *arguments]
    # torch.compile would ask the compiler for each kind of vectors, and precompile headers, for one kernel
    plain = {"TORCHINDUCTOR_VEC_ISA_OK": "1", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=280, env={**os.environ, **plain})


@pytest.mark.takes_turns(2, 0)
def test_every_workload(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = run("--processor-time", "--json", str(file), "--plot", str(tmp_path / "ratios.svg"))
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text())
    assert figures["machine"]["cores"] == "1 usable"
    assert figures["limits"]["GB/s"]["median"] > 0
    for family in ("elementwise", "rows", "movement", "products", "attention"):
        assert all(taken["ours"]["median"] > 0 and "torch" in taken for taken in figures[family].values())
    assert (tmp_path / "ratios.svg").exists()


@pytest.mark.takes_turns(2, 1)
def test_peers_that_compile_or_interpret(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = run("--only", "saxpy", "--peers", "compile,interpreter", "--cores", "1", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    (taken,) = json.loads(file.read_text())["elementwise"].values()
    assert taken["interpreter"]["median"] > taken["ours"]["median"]
    assert taken["compile"]["median"] > 0 and 1e3 * taken["compile took"] > taken["compile"]["median"]


def test_instructions_of_an_older_processor(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = run("--only", "int8", "--instructions", "avx2", "--processor-time", "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(file.read_text())["machine"]["processor"].endswith("AVX2")


@pytest.mark.parametrize("arguments, message", [
    (("--peers", "tensorflow"), "there are torch, compile, numpy"),
    (("--only", "speed"), "no such workload"),
])
def test_unknown(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode != 0
    assert message in done.stderr


def test_forced_tiles(tmp_path: Path) -> None:
    """Each variant has a line, and its result was compared with torch's."""
    script, samples = SCRIPT.with_name("tiles.py"), tmp_path / "samples.txt"
    command = [sys.executable, str(script), "--sizes", "33x48x40", "--blocks", "32x32x32", "--tiles",
               "chosen,3x2", "--left", ",staged", "--seconds", "0.01", "--profile", str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" of torch") == 5 and done.stdout.count("staged") == 2
    assert "no samples" in done.stdout or samples.read_text().startswith("# f32 33x48x40 torch")
