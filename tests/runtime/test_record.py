"""Recorded launches and their repetition, in a process and a file of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl
import triton_spirv


@triton.jit
def shifted(x, y, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    tl.store(out + i, tl.load(x + i, mask=keep) * factor + tl.load(y + i, mask=keep), mask=keep)


@triton.jit
def refuses(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x + i, mask=i < n, other=0) >= 0, "negative")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recordings go here; launchers of earlier tests are forgotten, since each decides when it is made."""
    monkeypatch.setenv("TRITON_SPIRV_RECORD", str(tmp_path / "recorded"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    for kernel in (shifted, refuses):
        kernel.device_caches.clear()
    return tmp_path / "recorded"


def launch(count: int = 1) -> np.ndarray:
    """x and y lie in one allocation; out in the middle of another."""
    both = np.arange(2000, dtype=np.float32)
    whole = np.zeros(1100, np.float32)
    x, y, out = (triton_spirv.asarray(view) for view in (both[:1000], both[1000:], whole[50:1050]))
    for _ in range(count):
        shifted[(8,)](x, y, out, 1000, 0.5, BLOCK=128)
    assert (whole[50:1050] == both[:1000] * np.float32(0.5) + both[1000:]).all()
    return whole


def replay(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(place / "replay.py"), *words], capture_output=True, text=True,
                          timeout=120)


def test_recorded_and_repeated(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    launch(count=3)
    (recorded,) = place.iterdir()  # the first launch only
    assert "shifted is recorded in " in capfd.readouterr().err
    assert {path.name for path in recorded.iterdir()} == {
        "shifted.spv", "launch.json", "arguments.npz", "replay.py"}
    facts = json.loads((recorded / "launch.json").read_text())
    x, y, out, n, factor = facts["arguments"]
    assert x["memory"] == y["memory"] != out["memory"] and y["offset"] - x["offset"] == 4000
    assert (n["value"], factor["value"], facts["grid"]) == (1000, 0.5, [8, 1, 1])
    done = replay(recorded, "--repeat", "3")
    assert done.returncode == 0 and "the results are those that were recorded" in done.stdout, done.stderr
    assert "shifted, grid 8 x 1 x 1, on " in done.stdout and "median" in done.stdout


def test_arguments_that_overlap(place: Path) -> None:
    """Tensors of storages that begin and end elsewhere are one memory when they are repeated, too."""
    torch = pytest.importorskip("torch")
    block = np.arange(300, dtype=np.float32)
    x, y, out = (torch.from_numpy(block[start:start + 128]) for start in (0, 170, 90))
    right = block.copy()
    right[90:218] = block[:128] * np.float32(0.5) + block[170:298]
    shifted[(1,)](x, y, out, 128, 0.5, BLOCK=128)
    assert (block == right).all()
    (recorded,) = place.iterdir()
    facts = json.loads((recorded / "launch.json").read_text())
    assert [(one["memory"], one["offset"]) for one in facts["arguments"][:3]] == [
        ("memory0", 0), ("memory0", 680), ("memory0", 360)]
    done = replay(recorded)
    assert done.returncode == 0, done.stderr


def test_more_launches(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_RECORD_LAUNCHES", "2")
    launch(count=3)
    assert [path.name for path in sorted(place.iterdir())] == ["0001-shifted", "0002-shifted"]


def test_other_results_are_noticed(place: Path) -> None:
    launch()
    (recorded,) = place.iterdir()
    stored = dict(np.load(recorded / "arguments.npz"))
    name = next(name for name in stored if name.endswith("_after"))
    stored[name].view(np.float32)[60] += 0.25
    np.savez(recorded / "arguments.npz", **stored)
    done = replay(recorded)
    assert done.returncode == 1 and "1 of 1100 float32 differ, by up to 0.25" in done.stdout, done.stdout
    assert replay(recorded, "--tolerance", "0.3").returncode == 0


def test_a_device_that_is_not_there(place: Path) -> None:
    launch()
    (recorded,) = place.iterdir()
    done = replay(recorded, "--device", "abacus")
    assert done.returncode == 2 and done.stdout == "no device abacus\n"


def test_needs_neither_triton_nor_this_package(place: Path) -> None:
    launch()
    (recorded,) = place.iterdir()
    script = (f"import sys, runpy\nsys.modules.update(triton=None, triton_spirv=None, torch=None)\n"
              f"sys.argv = ['replay.py']\nrunpy.run_path({str(recorded / 'replay.py')!r}, "
              f"run_name='__main__')\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_launch_that_fails_is_recorded(place: Path) -> None:
    with pytest.raises(RuntimeError, match="negative"):
        refuses[(1,)](triton_spirv.asarray(np.array([1, -1], np.int32)), 2, BLOCK=16, debug=True)
    (recorded,) = place.iterdir()
    assert "device-side assert: negative in program (0, 0, 0), element (1,)" in replay(recorded).stdout


def test_what_cannot_be_recorded_still_runs(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from triton_spirv import Artifact, Parameter
    from triton_spirv.runtime import record

    seen: list[object] = []
    launch = record.recording(lambda x, y, z, arguments: seen.append(arguments), b"",
                              Artifact(b"", "bare", (Parameter("x", "ptr"),), written=(True,)), "cpu")
    launch(1, 1, 1, [4096])
    assert seen == [[4096]] and not place.exists()
    assert "bare is not recorded: argument x is a bare address" in capfd.readouterr().err


@pytest.mark.vulkan
def test_memory_of_a_device_is_not_recorded(place: Path, monkeypatch: pytest.MonkeyPatch,
                                            capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "vulkan")
    x = triton_spirv.asarray(np.arange(1000, dtype=np.float32), device="vulkan")
    out = triton_spirv.zeros(1000, device="vulkan")
    shifted[(8,)](x, x, out, 1000, 1.0, BLOCK=128)
    assert (out.numpy() == 2 * np.arange(1000)).all() and not place.exists()
    assert "argument x is in a device's memory" in capfd.readouterr().err


def test_command(place: Path) -> None:
    from triton_spirv.cli.main import main

    launch()
    assert main(["replay", str(place)]) == 0
    assert main(["replay", str(place / "0001-shifted"), "--device", "abacus"]) == 1
    assert main(["replay", str(place.parent / "cache")]) == 2


HOSTILE = "from pathlib import Path\nPath({mark!r}).write_text('ran')\n"


def test_the_command_runs_no_python_of_the_folder(place: Path, tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.cli.main import main

    launch()
    recorded, mark = place / "0001-shifted", tmp_path / "mark"
    for name in ("replay.py", "numpy.py", "pyopencl.py", "json.py", "loader.py", "sitecustomize.py"):
        (recorded / name).write_text(HOSTILE.format(mark=str(mark)))
    monkeypatch.chdir(recorded)
    monkeypatch.setenv("PYTHONPATH", str(recorded))
    assert main(["replay", "."]) == 0
    assert "the results are those that were recorded" in capsys.readouterr().out
    assert not mark.exists()
    (recorded / "replay.py").unlink()  # it is not asked for either
    assert main(["replay", str(place)]) == 0


def damaged(name: str, change: object) -> object:
    return pytest.param(name, change, id=name)


@pytest.mark.parametrize(("what", "change"), [
    damaged("spv", lambda facts: facts.update(spv="../secret.spv")),
    damaged("offset", lambda facts: facts["arguments"][0].update(offset=1 << 40)),
    damaged("negative", lambda facts: facts["arguments"][0].update(offset=-64)),
    damaged("memory", lambda facts: facts["arguments"][0].update(memory="elsewhere")),
    damaged("address", lambda facts: facts["arguments"].__setitem__(0, {"name": "x", "value": 4096})),
    damaged("struct", lambda facts: facts.update(struct_format="<999999999999x")),
    damaged("grid", lambda facts: facts.update(grid=[-1, 1, 1])),
    damaged("missing", lambda facts: facts.pop("artifact")),
])
def test_a_recording_that_reaches_beyond_itself(place: Path, what: str, change: object,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.cli.main import main

    launch()
    path = place / "0001-shifted" / "launch.json"
    facts = json.loads(path.read_text())
    change(facts)  # type: ignore[operator]
    path.write_text(json.dumps(facts))
    assert main(["replay", str(place)]) == 1
    assert "the recording is damaged" in capsys.readouterr().out


def test_pickles_are_not_read(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.cli.main import main

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, (HOSTILE.format(mark=str(tmp_path / "mark")),)

    launch()
    path = place / "0001-shifted" / "arguments.npz"
    stored = dict(np.load(path))
    stored["memory0"] = np.array([Bomb()], dtype=object)
    np.savez(path, **stored)
    assert main(["replay", str(place)]) == 1
    path.write_bytes(__import__("pickle").dumps(Bomb()))
    assert main(["replay", str(place)]) == 1
    assert not (tmp_path / "mark").exists()


def test_a_compilation_that_failed_is_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv import recordings
    from triton_spirv.cli.main import main
    from triton_spirv.target import CPU

    monkeypatch.setenv("TRITON_SPIRV_RECORD", str(tmp_path))
    text = "module {\n  tt.func public @empty() {\n    tt.return\n  }\n}\n"
    recordings.keep_compilation(text, CPU, {"num_warps": 4}, "KeyError: 'x'")
    assert main(["replay", str(tmp_path)]) == 0
    assert "empty compiles for cpu" in capsys.readouterr().out
    recordings.keep_compilation(text.replace("tt.return", "tt.nothing"), CPU, {}, "KeyError: 'x'")
    assert main(["replay", str(tmp_path / "0002-empty")]) == 1
    assert "ParseError" in capsys.readouterr().out


def test_a_folder_that_cannot_be_made(place: Path, monkeypatch: pytest.MonkeyPatch,
                                      capfd: pytest.CaptureFixture[str]) -> None:
    """The launch is made, and a line says that it is not recorded."""
    monkeypatch.setenv("TRITON_SPIRV_RECORD", "/dev/null/kept")
    launch()
    assert "shifted is not recorded: [Errno 20] Not a directory: '/dev/null/kept'" in capfd.readouterr().err
