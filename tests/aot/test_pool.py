"""Many jobs at once: worker processes, their ends, a dask cluster; how progress is shown."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import triton_spirv.aot as aot
from triton_spirv.aot import pool, work
from triton_spirv.aot.progress import progress
from triton_spirv.cli.trial import trial_text
from triton_spirv.target import CPU, find_target

GOOD = work.Job("trial", trial_text(CPU), CPU, {})
BAD = work.Job("broken", trial_text(CPU).replace("arith.addf", "arith.nosuch"), CPU, {})


def test_results_come_in_the_order_of_the_jobs() -> None:
    simt = find_target("cpu-simt")
    jobs = [GOOD, BAD, work.Job("lanes", trial_text(simt), simt, {})] * 2
    here = pool.run_all(jobs, processes=0)
    there = pool.run_all(iter(jobs), processes=2)
    assert [result.artifact for result in there] == [result.artifact for result in here]
    assert [result.error for result in there] == [result.error for result in here]
    assert here[0].artifact and here[1].error and "arith.nosuch" in here[1].error[1]


def test_reports() -> None:
    seen: list[tuple[str, int]] = []
    pool.run_all([GOOD, GOOD], processes=1, report=lambda job, result, done: seen.append((job.name, done)))
    assert seen == [("trial", 1), ("trial", 2)]


def test_workers_with_other_sources_are_refused() -> None:
    job = work.Job("trial", GOOD.text, CPU, {}, sources="others")
    error = pool.run_all([job], processes=1)[0].error
    assert error == ("VersionMismatch",
                     "the worker's triton-spirv differs from the caller's: install the same on "
                                        "both")


def test_scripts_need_no_main_guard(tmp_path: Path) -> None:
    """Worker processes do not run the caller's script again."""
    path = tmp_path / "script.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                    "import kernels, triton_spirv.aot as aot\nprint('once')\n"
                    "aot.compile(kernels.add, '*fp32,*fp32,*fp32,i32', processes=2, progress=False,\n"
                    "            configs=[{'BLOCK': 64}, {'BLOCK': 128}])\n")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "once\n", done.stderr


def test_failures_are_told_together(kernels) -> None:
    with pytest.raises(aot.CompilationFailed) as caught:
        aot.compile_plans([broken_plan("first"), broken_plan("second")], None, 0, None, False)
    for name in ("first", "second"):
        assert f"{name} for cpu: ParseError: " in str(caught.value)


def broken_plan(name: str) -> object:
    from triton_spirv.aot.bundle import Plan
    from triton_spirv.aot.signature import Signature

    return Plan(lambda: work.Lowered(name, BAD.text, "", {}, CPU), name, Signature({}), {}, "cpu", CPU)


# ---- a cluster


def test_dask(kernels, tmp_path: Path) -> None:
    """The same call; the workers compile, and the bundle is the same to the byte."""
    distributed = pytest.importorskip("distributed")
    request = {"configs": [{"BLOCK": 64}, {"BLOCK": 128}], "targets": ["cpu", "cpu-simt"], "progress": False}
    aot.compile(kernels.add, "*fp32:16,*fp32,*fp32,i32", out=tmp_path / "here", processes=0, **request)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        aot.compile(kernels.add, "*fp32:16,*fp32,*fp32,i32", out=tmp_path / "there", client=client, **request)
        assert client.submit(os.getpid).result() != os.getpid()
        failed = pool.run_all([GOOD, BAD], client=client)
    assert failed[0].artifact and failed[1].error
    files = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert len(files) == 4 + 2 + 2 and files == sorted(path.name for path in (tmp_path / "there").iterdir())
    for name in files:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


# ---- progress


def test_progress_in_a_log() -> None:
    stream = io.StringIO()
    good, bad = pool.run_all([GOOD, BAD], processes=0)
    with progress(2, stream) as report:
        report(GOOD, good, 1)
        report(BAD, bad, 2)
    first, second = stream.getvalue().splitlines()
    assert first.startswith("1/2 trial for cpu, ") and second.startswith("2/2 broken for cpu FAILED: ")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    (good,) = pool.run_all([GOOD], processes=0)
    with progress(1, stream) as report:
        report(GOOD, good, 1)
    assert "trial cpu" in stream.getvalue() and "100%" in stream.getvalue()
