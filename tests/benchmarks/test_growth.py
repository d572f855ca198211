"""The sweeps, the scaling, the parallel compilation and the command that runs all of them yield figures;
nothing here judges them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
FOLDER = Path(__file__).parents[2] / "benchmarks"


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=290)


def figures(file: Path, script: str, *arguments: str) -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    done = run(script, "--quick", *arguments, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text())


@pytest.mark.takes_turns(2, 0)
def test_sweeps(tmp_path: Path) -> None:
    found = figures(tmp_path / "figures.json", "sweep.py", "--plot", str(tmp_path / "growth.svg"))
    assert found["run"]["add"].keys() == {"256", "4096"}
    for sides in found["compile"]["add"].values():
        assert sides["ours"]["processor"]["least"] > sides["ours"]["driver processor"]["least"] > 0
        assert sides["words"] > 100
    assert (tmp_path / "growth.svg").exists()


@pytest.mark.takes_turns(2, 1)
def test_scaling(tmp_path: Path) -> None:
    found = figures(tmp_path / "figures.json", "scaling.py", "--only", "saxpy", "--seconds", "0.01",
                    "--cores", "1,1", "--plot", str(tmp_path / "scaling.svg"))
    assert all(taken["ours"]["median"] > 0 for taken in found["1"].values())
    assert (tmp_path / "scaling.svg").exists()


@pytest.mark.takes_turns(2, 0)
def test_threads(tmp_path: Path) -> None:
    found = figures(tmp_path / "figures.json", "threads.py")
    assert all(found["64"][side][pause] > 0 for side in ("own", "driver", "torch") for pause in ("0", "2000"))


@pytest.mark.takes_turns(2, 1)
def test_parallel_compilation(tmp_path: Path) -> None:
    found = figures(tmp_path / "figures.json", "parallel_compile.py", "--processes", "0,2")
    assert all(seconds > 0 for task in ("aot", "precompile") for seconds in found[task].values())


def test_everything(tmp_path: Path) -> None:
    listed = run("everything.py", str(tmp_path), "--list")
    assert listed.returncode == 0 and "cpu.py --only attention" in listed.stdout
    assert not list(tmp_path.iterdir())
    done = run("everything.py", str(tmp_path), "--quick", "--only", "launch")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "launch.txt").read_text()
    assert text.startswith("$ python benchmarks/first_touch.py --only launch")
    assert json.loads((tmp_path / "launch.json").read_text())["launch"]
    unknown = run("everything.py", str(tmp_path), "--only", "speed")
    assert unknown.returncode == 2 and "attention" in unknown.stderr


def test_every_part_of_everything_is_a_script() -> None:
    sys.path.insert(0, str(FOLDER))
    try:
        import everything
    finally:
        sys.path.remove(str(FOLDER))
    assert all((FOLDER / part.script).is_file() for part in everything.PARTS.values())
