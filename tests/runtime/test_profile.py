"""Profiling: device times by OpenCL events, names and figures by Triton's launch hooks, the table, the
trace.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
from pathlib import Path

import prepared
import pytest
from triton_spirv import racing
from triton_spirv.runtime import profile, timed_launches
from triton_spirv.runtime.profile import Profile, Timing

KERNEL = """
import numpy as np, threading
import triton, triton.language as tl
import triton_spirv

def facts(grid, metadata, arguments):
    return {"name": f"add {arguments['n']}", "flops32": arguments["n"], "bytes": 12 * arguments["n"]}

@triton.jit(launch_metadata=facts)
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    tl.store(out + i, tl.load(x + i, mask=keep) + tl.load(y + i, mask=keep), mask=keep)

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

x, y, out = (triton_spirv.zeros(1 << 16) for _ in range(3))
"""


def run(tmp_path: Path, script: str, setting: str | None) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(KERNEL + script)
    environment = {**os.environ, "TRITON_SPIRV_BACKEND": "1", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop(profile.VARIABLE, None)
    if setting is not None:
        environment[profile.VARIABLE] = setting
    done = prepared.run(path, imports=prepared.KERNELS, environment=environment)
    assert done.returncode == 0, done.stderr
    return done


LAUNCHES = """
for _ in range(3):
    add[(64,)](x, y, out, 1 << 16, BLOCK=1024)
double[(64,)](x, 1 << 16, BLOCK=1024)
add[(0,)](x, y, out, 1 << 16, BLOCK=1024)
"""


def test_table_at_the_end(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    done = run(tmp_path, LAUNCHES, "1")
    head, columns, *rows, beside = done.stderr.splitlines()
    assert head.startswith("triton-spirv: launches on ")
    heads = re.split(r"\s{2,}", columns)
    assert heads[:5] == ["kernel", "configuration", "shapes", "site", "launches"]
    assert heads[-2:] == ["Gflop/s", "GB/s"]
    table = [re.split(r"\s{2,}", row) for row in rows]
    figures = {cells[0]: {**dict(zip(heads, cells, strict=False)), "GB/s": cells[-1]} for cells in table}
    assert set(figures) == {"add 65536", "double"}
    add, double = figures["add 65536"], figures["double"]
    assert add["launches"] == "3" and double["launches"] == "1"
    assert add["configuration"] == "BLOCK=1024 num_warps=4" and add["shapes"] == "65536,65536,65536"
    assert double["shapes"] == "65536" and re.fullmatch(r"script\.py:\d+", double["site"])
    total, share = float(add["total us"]), float(add["share"].split()[0])
    assert total > 0 and share + float(double["share"].split()[0]) == pytest.approx(100, abs=0.2)
    assert re.fullmatch(r"of .* s: compile .*, build .*, launches .*, neither .*", beside)
    rate = float(add["GB/s"])
    assert rate == pytest.approx(3 * 12 * 65536 / total / 1e3, abs=0.1, rel=0.1)  # one digit of each is told


TUNED = """
@triton.autotune([triton.Config({"BLOCK": block}) for block in (256, 1024)], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

for n in (1 << 16, 1 << 12, 1 << 16):
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x[:n] if n < 1 << 16 else x, n)
"""


def test_tuning_is_told_apart(tmp_path: Path) -> None:
    """Its launches are no rows; what it took, and what compiling took, is in the trace."""
    pytest.importorskip("triton")
    script = TUNED.replace("x[:n] if n < 1 << 16 else x", "triton_spirv.zeros(n)")
    done = run(tmp_path, script, str(tmp_path / "trace.json"))
    rows = [re.split(r"\s{2,}", row) for row in done.stderr.splitlines() if row.startswith("tuned ")]
    assert {row[2]: row[4] for row in rows} == {"65536": "2", "4096": "1"}
    assert all(re.match(r"BLOCK=(256|1024) num_warps=4", row[1]) for row in rows)
    assert re.search(r"compile .*, build .*, tune .* \(\d+ launches\)", done.stderr)
    events = [event for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
              if event["ph"] == "X"]
    of_kind = {kind: [event for event in events if event["cat"] == kind]
               for kind in ("compile", "build", "tune", "tuning", "launch", "idle")}
    assert len(of_kind["tune"]) == 2 and len(of_kind["launch"]) == 3 and len(of_kind["compile"]) >= 2
    # on a busy machine the time is soon over: the winner has its least rounds, the other may leave after one
    assert len(of_kind["tuning"]) >= 2 * (racing.LEAST_ROUNDS + 1) and of_kind["build"] and of_kind["idle"]
    for event in of_kind["tuning"]:
        assert any(span["ts"] <= event["ts"] and event["ts"] + event["dur"] <= span["ts"] + span["dur"]
                   for span in of_kind["tune"])


def test_nothing_without_it(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    for setting in (None, "0"):
        assert run(tmp_path, LAUNCHES, setting).stderr == ""


def test_trace(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    threads = """
def launch():
    double[(64,)](x, 1 << 16, BLOCK=1024)
both = [threading.Thread(target=launch) for _ in range(2)]
for thread in both: thread.start()
for thread in both: thread.join()
"""
    done = run(tmp_path, LAUNCHES + threads, str(tmp_path / "trace-%p.json"))
    (path,) = tmp_path.glob("trace-*.json")
    assert f"trace in {path}" in done.stderr
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    launches = [event for event in events if event["cat"] == "launch"]
    kernels = [event for event in events if event["cat"] == "kernel"]
    assert len(launches) == len(kernels) == 6
    assert len({event["tid"] for event in launches}) >= 2 and {event["tid"] for event in kernels} == {0}
    for launch, kernel in zip(launches, kernels, strict=True):
        assert launch["name"] == kernel["name"]
        assert 0 < kernel["dur"] <= launch["dur"]
        begin, end = launch["ts"], launch["ts"] + launch["dur"]
        assert begin <= kernel["ts"] and kernel["ts"] + kernel["dur"] <= end + 0.001
    assert kernels[0]["args"]["grid"] == [64, 1, 1] and kernels[0]["args"]["bytes"] == 12 * 65536


def test_exit_hooks_are_told_the_time(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    script = """
seen = []
triton.knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append(metadata.get()))
double[(64,)](x, 1 << 16, BLOCK=1024)
print(seen[0]["name"], seen[0]["device_ns"] > 0)
"""
    assert run(tmp_path, script, "1").stdout == "double True\n"


class Mark:
    """Each is 2 us later than the one before."""

    clock = 0

    def record(self) -> None:
        Mark.clock += 2000
        self.time = Mark.clock

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: Mark) -> float:
        return (end.time - self.time) / 1e6


def test_between_marks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = Profile()
    launch = timed_launches.between_marks(lambda x, y, z, arguments: None, "kernel", "a device", Mark, kept)
    launch(4, 1, 1, [])
    launch(0, 1, 1, [])
    kept.describe_last({"name": "named", "flops8": 100, "text": "no number"})
    (timing,) = kept.timings
    assert timing.name == "named" and timing.facts == {"flops8": 100.0} and timing.nanoseconds == 2000
    assert kept.table().startswith("triton-spirv: launches on a device\n")
    monkeypatch.setenv(profile.VARIABLE, str(tmp_path / "nosuch" / "trace.json"))
    stream = io.StringIO()
    kept.report(stream)
    assert "trace.json cannot be written" in stream.getvalue()


@pytest.mark.vulkan
def test_on_a_vulkan_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton")
    from triton_spirv.runtime.vulkan.devices import devices

    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "vulkan")
    script = "d = triton_spirv.zeros(1 << 12, device='vulkan')\ndouble[(4,)](d, 1 << 12, BLOCK=1024)\n"
    lines = run(tmp_path, script, "1").stderr.splitlines()
    assert lines[0] == f"triton-spirv: launches on {devices()[0].name}"
    name, launches, total = (re.split(r"\s{2,}", lines[2])[place] for place in (0, 4, 5))
    assert (name, launches) == ("double", "1") and float(total) > 0


def test_rows() -> None:
    kept = Profile()
    for nanoseconds in (1000, 3000, 2000):
        kept.add(Timing("a", (1, 1, 1), (0, 5000), started=10, ended=10 + nanoseconds,
                        facts={"flops": 3000.0}))
    kept.add(Timing("b", (1, 1, 1), (0, 2000)))
    first, second = kept.rows()
    assert (first["kernel"], first["launches"], first["total"], first["median"], first["least"]) == ("a", 3,
                                                                                                     6, 2, 1)
    assert first["share"] == pytest.approx(75) and first["host"] == pytest.approx(3)
    assert first["gflops"] == pytest.approx(1.5) and second["gflops"] is None
    assert Profile().table() == "triton-spirv: no launch was profiled\n"


def test_idle_time_and_what_else_there_was() -> None:
    kept = Profile()
    kept.add(Timing("k", (1, 1, 1), (1_000_000, 2_000_000)))
    kept.add(Timing("k", (1, 1, 1), (1_500_000, 2_500_000), thread=2))  # at the same time
    kept.add(Timing("k", (1, 1, 1), (2_600_000, 3_000_000)))  # too soon to call it idle
    kept.add(Timing("k", (1, 1, 1), (7_000_000, 8_000_000)))
    kept.add_span("compile", "k", 3_000_000, 5_000_000)
    idle = [event for event in kept.trace()["traceEvents"] if event.get("cat") == "idle"]
    assert [(event["ts"], event["dur"]) for event in idle] == [(3000, 4000)]
    assert kept.beside() == "of 7.0 ms: compile 2.0 ms, launches 2.9 ms, neither 2.1 ms"


SLOW_LINE = """
@triton.jit
def hot(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    y = v
    for _ in range(200):
        y = tl.sqrt(y + v * v)  # here
    tl.store(out + i, y, mask=i < n)

for _ in range(40):
    hot[(64,)](x, out, 1 << 16, BLOCK=1024)
"""


@pytest.mark.cpu_device("samples of the processor")
def test_time_by_line(tmp_path: Path) -> None:
    """The line of the loop has the most samples, and is shown with its source; or the system's refusal is."""
    said = run(tmp_path, SLOW_LINE, "lines").stderr
    if "time by line is not available: perf_event_open: " in said:
        return
    found = re.search(r"^hot: (\d+) samples, by line\n +([0-9.]+) %  script\.py:(\d+)  (.*)$", said, re.M)
    assert found, said
    text = (KERNEL + SLOW_LINE).splitlines()
    assert int(found[1]) > 20 and float(found[2]) > 50
    assert text[int(found[3]) - 1].strip() == found[4] == "y = tl.sqrt(y + v * v)  # here"


@pytest.mark.cpu_device("samples of the processor")
def test_time_by_line_where_the_system_forbids_it(tmp_path: Path) -> None:
    script = f"from triton_spirv.runtime import sampling\nsampling.PERF_EVENT_OPEN = 100_000\n{LAUNCHES}"
    said = run(tmp_path, script, "lines").stderr
    assert said.count("time by line is not available: perf_event_open: Function not implemented") == 1
    assert "add 65536" in said  # the table is there


@pytest.mark.cpu_device("samples of the processor")
def test_names_for_perf(tmp_path: Path) -> None:
    """TRITON_SPIRV_LINE_INFO=1 writes the map from which Linux's perf takes names; the kernel is the same."""
    script = f"""
import os
os.environ["TRITON_SPIRV_LINE_INFO"] = "1"
{LAUNCHES}
rows = open(f"/tmp/perf-{{os.getpid()}}.map").read().splitlines()
os.unlink(f"/tmp/perf-{{os.getpid()}}.map")
assert rows and all(int(start, 16) and int(size, 16) for start, size in (row.split()[:2] for row in rows))
names = {{row.split(maxsplit=2)[2] for row in rows}}
assert any(name.startswith("add [script.py:") for name in names), names
assert (x.numpy() == 0).all()
"""
    run(tmp_path, script, None)


def test_tree_for_proton_viewer(tmp_path: Path) -> None:
    """Hatchet's literal: below each line that launches its kernels; an autotuner's launches are left out."""
    made = run(tmp_path, LAUNCHES, str(tmp_path / "my.hatchet"))
    assert "triton-spirv: tree in " in made.stderr
    root, devices = json.loads((tmp_path / "my.hatchet").read_text())
    assert root["frame"] == {"name": "ROOT", "type": "function"} and "CPU" in devices
    kernels = {site["frame"]["name"].rpartition(":")[0]: site for site in root["children"]}
    assert kernels.keys() == {"script.py"} and len(root["children"]) == 2
    added, doubled = (site["children"][0] for site in root["children"])
    assert added["frame"]["name"].startswith("add 65536 [BLOCK=1024") and added["metrics"]["count"] == 3
    assert added["metrics"]["flops32"] == 3 << 16 and added["metrics"]["bytes"] == 36 << 16
    assert added["metrics"]["time (ns)"] > 0 and doubled["metrics"]["count"] == 1


@pytest.mark.parametrize("options, message", [
    ("", "No profiler registered for triton backend "),
    ("backend='instrumentation'", "Unknown or unsupported device type for instrumentation backend: ")])
def test_proton_refuses(tmp_path: Path, options: str, message: str) -> None:
    """docs/command.md says so of Triton 3.9; where a newer Proton starts, that page is out of date."""
    script = f"""
import triton.profiler as proton
try:
    proton.start({str(tmp_path / "session")!r}, {options})
except Exception as error:
    print("refused:", triton.__version__, error)
"""
    printed = run(tmp_path, script, None).stdout
    assert printed.startswith("refused: ") and (
        message in printed or not printed.startswith("refused: 3.9"))


@pytest.mark.parametrize("device, called", [
    pytest.param("b580", r"Intel\(R\) Arc\(TM\) B580 Graphics", id="gpu"),
    pytest.param("vulkan", ".+", id="vulkan", marks=pytest.mark.vulkan)])
def test_time_by_line_on_other_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, called: str
) -> None:
    """They are not sampled, and the report says so."""
    import simulated_gpu  # here: a run on a simulated GPU leaves files out that import it

    if device == "b580" and not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", device)
    for name, value in simulated_gpu.for_children().items() if device == "b580" else ():
        monkeypatch.setenv(name, value)
    said = run(tmp_path, LAUNCHES, "lines").stderr
    reason = rf"^time by line is not available: kernels on {called} are not sampled; only code that the CPU"
    assert len(re.findall(reason, said, re.M)) == 1, said
    assert "no samples" not in said
