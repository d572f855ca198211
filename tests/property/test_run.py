"""The long run's own parts: its log, processes that die, shrinking. No device."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from children import End

from property import run
from property.modes import lanes_of
from property.report import page
from property.shrink import Choices, shrunk
from property.worker import program_of

WORKER = """
import argparse, json, os, time
parser = argparse.ArgumentParser()
for name in ("mode", "first", "count", "out", "current", "shrink-seconds", "deadline"):
    parser.add_argument("--" + name)
given = parser.parse_args()
for number in range(int(given.first), int(given.first) + int(given.count)):
    print(json.dumps({"begin": number}), flush=True)
    if number in (2, 5):
        open(given.current, "w").write(f"# kernel {number}")
    if number == 2:
        os._exit(9)
    if number == 5:
        time.sleep(200)
    report = {"kernel": number, "mode": given.mode, "result": "agreed", "checks": ["numpy"]}
    print(json.dumps(report), flush=True)
"""


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`entries(arguments)` makes a run with a worker that dies of kernel 2 and hangs in kernel 5."""
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)

    def made(*arguments: str) -> list[dict[str, Any]]:
        given = ["--first", "0", "--out", str(tmp_path), "--worker", str(worker), "--timeout", "8"]
        monkeypatch.setattr("sys.argv", ["run", *given, *arguments])
        run.main()
        return [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]

    return made


def test_processes_that_die_are_findings_and_the_run_goes_on(entries, tmp_path, capsys):
    found = entries("--count", "8")
    assert [e["kernel"] for e in found] == list(range(8))
    good = ["agreed"] * 2
    assert [e["result"] for e in found] == [*good, "crashed", *good, "hung", *good]
    assert (tmp_path / "crashed-vector-2.py").read_text() == "# kernel 2"
    assert (tmp_path / "hung-vector-5.py").read_text() == "# kernel 5"
    counts = "vector: 8 kernels: 6 agreed, 1 crashed, 1 hung. Comparisons that agreed: numpy 6"
    assert counts in capsys.readouterr().out


def test_a_kernel_that_triton_s_passes_never_end_with_is_none_of_ours(tmp_path):
    said = "stages.py:1: SlowCompilation: Triton's passes on layouts have worked on kernel (x.py:3) for more"
    found = [run._death("simt8", 5, End(-9, hung, text), tmp_path / "current.py")["result"]
             for hung, text in ((True, said), (True, ""), (False, said))]
    assert found == ["refused", "hung", "crashed"]


def test_several_processes_share_the_kernels_and_one_report(entries, tmp_path):
    found = entries("--count", "9", "--modes", "vector,simt8", "--jobs", "3", "--batch", "4")
    assert sorted((e["mode"], e["kernel"]) for e in found) == [(m, n) for m in ("simt8", "vector")
                                                               for n in range(9)]
    said = (tmp_path / "report.md").read_text()
    assert "18 kernels, 4 failures" in said and "vector: 9 kernels: 7 agreed, 1" in said
    assert "--modes simt8 --only 2`" in said and "# kernel 5" in said
    assert not list(tmp_path.glob("current-*"))


def test_the_report_says_what_was_refused_and_what_failed(tmp_path):
    (tmp_path / "disagreed-simt-3.py").write_text("kernel_text = 1\n")
    entries = [
        {"kernel": 1, "mode": "simt", "result": "refused", "why": "512 bytes are too many"},
        {"kernel": 2, "mode": "simt", "result": "refused", "why": "4096 bytes are too many"},
        {"kernel": 3, "mode": "simt", "result": "disagreed", "why": "p1: 3 of 4", "revision": "abc",
         "file": "disagreed-simt-3.py"},
    ]
    said = page(entries, tmp_path, "Asked for: all.")
    assert "simt, 2 times, first kernel 1: N bytes are too many" in said and "Revisions: unknown, abc" in said
    assert "### disagreed: simt, kernel 3" in said and "kernel_text = 1" in said


def test_a_run_goes_on_where_its_log_ends(entries):
    entries("--count", "2")
    found = entries("--count", "4", "--modes", "vector,simt8")
    assert [e["kernel"] for e in found if e["mode"] == "vector"] == list(range(4))
    assert len(found) == 8


@pytest.mark.parametrize("mode, lanes", [("vector", 0), ("compiler-vector", 0), ("machine-vector", 0),
                                         ("compiler-vulkan", 8), ("simt8", 8), ("simt", 16),
                                         ("machine-simt32", 32), ("machine-vulkan64", 64), ("vulkan", 8)])
def test_every_mode_has_programs_for_its_lanes(mode, lanes):
    assert lanes_of(mode) == lanes
    program, choices = program_of(5, mode=mode)
    assert program_of(5, choices.made, mode)[0].source() == program.source()


def test_draws_shrink_to_what_still_fails():
    def fails(draws: list[int]) -> bool:
        choices = Choices(draws)
        return sum(choices(0, 9) for _ in range(choices(0, 6))) >= 10

    made = shrunk([6, 9, 8, 7, 3, 2, 1], fails, 5)
    assert fails(made) and len(made) <= 3 and sum(made[1:]) == 10


def test_no_process_begins_after_the_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a batch lacks then is not run, a kernel in each of so many processes."""
    begun = []

    def batch(mode: str, first: int, count: int, arguments: Any) -> Any:
        begun.append(first)
        arguments.deadline = 0.0
        yield {"kernel": first, "mode": mode, "result": "agreed", "checks": ["numpy"]}

    monkeypatch.setattr(run, "batch", batch)
    arguments = SimpleNamespace(first=1, count=9, modes=["vector"], batch=9, jobs=1, stop=False, out=tmp_path,
                                seconds=100.0)
    assert run.run(arguments) == 0
    assert begun == [1]
