"""`triton-spirv selftest`: the kernels of triton_spirv_backend.selftest on a device, figures, and one file
that says it all. Each part runs in a process of its own: where a driver ends that, the report says in which
kernel, and the next kernels run in a new one."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import DeviceError, UsageError
from .output import Output

EXAMPLES = ("selftest", "selftest --device gpu", "selftest --device vulkan --only product",
            "selftest --device cpu --no-figures --json")

WORKER = "triton_spirv_backend.selftest.worker"
#: processes that a driver may end before the rest is not tried
MOST_ENDS = 8
#: state -> in words, style
STATES = {"passed": ("passed", "good"), "refused": ("refused by name", "faint"), "wrong": ("WRONG", "bad"),
          "failed": ("FAILED", "bad"), "ended": ("PROCESS ENDED", "bad"), "hung": ("HUNG", "bad"),
          "untried": ("not tried", "bad")}
#: of a kernel's machine code, in a row
CODE_FACTS = ("simd", "registers", "spilled_dwords", "code_bytes", "instructions")
#: what a report may say of where it was made
PACKAGES = ("triton-spirv", "triton", "numpy", "torch", "pyopencl", "intel-opencl-rt")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-d", "--device", default="",
                        help="cpu, gpu, gpu:1, vulkan, part of a name; default: that of TRITON_SPIRV_DEVICE")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="the file to write; default: triton-spirv-selftest.md")
    parser.add_argument("--only", default="", metavar="TEXT", help="only kernels with TEXT in their names")
    parser.add_argument("--quick", action="store_true", help="measure with small arrays only")
    parser.add_argument("--no-figures", action="store_true", help="kernels only")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS",
                        help="for one kernel; default: 300")
    parser.add_argument("--json", action="store_true", help="print the report as JSON too")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if a kernel was wrong or failed."""
    if options.device:
        os.environ["TRITON_SPIRV_DEVICE"] = options.device
    begin = time.perf_counter()
    report: dict[str, Any] = {"made_by": made_by(), "device": device_facts(), "cases": [], "figures": []}
    loud = not options.json
    if loud:
        name, *rest = (report["device"][name] for name in ("name", "interface", "platform", "driver"))
        out.line(f"{name} ({', '.join(rest)})", "head")
    names = [name for name in next(iter(worker([], 120)))["cases"] if options.only in name]
    if not names:
        raise UsageError(f"no kernel of the selftest has {options.only!r} in its name")
    for row in cases(names, options.timeout):
        report["cases"].append(row)
        if loud:
            word, style = STATES[row["state"]]
            reason = str(row.get("reason", "")).partition("\n")[0]
            out.line(f"{word:16} {row['name']:26} {row.get('seconds', 0):7.1f} s  {reason}", style)
    figures = ["figures", "small"] if options.quick else ["figures"]
    for row in worker(figures, 4 * options.timeout) if not options.no_figures else ():
        if "name" not in row:
            row = {"name": "the rest", "error": row["reason"]}
        report["figures"].append(row)
        if loud:
            out.line(f"{'':16} {figure(row)}", "bad" if "error" in row else "")
    report["seconds"] = round(time.perf_counter() - begin, 1)
    bad = [row for row in report["cases"] if row["state"] not in ("passed", "refused")]
    place = options.report or Path("triton-spirv-selftest.md")
    try:
        place.write_text(readable(report), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}") from None
    if options.json:
        out.json(report)
    else:
        count = len(report["cases"])
        out.line(f"{count - len(bad)} of {count} kernels are right, in {report['seconds']} s; {place} has "
                 "everything: attach it to an issue", "bad" if bad else "good")
    return 1 if bad else 0


# ---- the processes

def worker(words: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """The lines that a worker writes. The last one says how it ended, if not well: {"state", "reason"}.
    seconds: for one line."""
    environment = {**os.environ, "TRITON_SPIRV_BACKEND": "1"}
    child = subprocess.Popen([sys.executable, "-m", WORKER, *(words or ["names"])], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=environment)
    lines: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []
    assert child.stdout is not None and child.stderr is not None
    readers = [threading.Thread(target=_pass_on, args=(child.stdout, lines), daemon=True),
               threading.Thread(target=lambda: errors.extend(child.stderr or ()), daemon=True)]
    for reader in readers:
        reader.start()
    try:
        while True:
            line = lines.get(timeout=seconds)
            if line is None:
                break
            if line.startswith("{"):  # kernels and drivers may print, too
                yield json.loads(line)
    except queue.Empty:
        child.kill()
        yield {"state": "hung", "reason": f"nothing for {seconds:.0f} s"}
        return
    finally:
        child.kill()
        child.wait()
        readers[1].join(5)
    if child.returncode:
        yield {"state": "ended", "reason": ended(child.returncode), "stderr": "".join(errors)[-3000:]}


def _pass_on(stream: Any, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def ended(status: int) -> str:
    """How a process ended."""
    if status >= 0:
        return f"the process ended with status {status}"
    try:
        return f"the process ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process ended by signal {-status}"


def cases(names: list[str], seconds: float) -> Iterator[dict[str, Any]]:
    """A row for each: name, state, seconds, reason, code."""
    left, ends = list(names), 0
    while left and ends < MOST_ENDS:
        current = ""
        for line in worker(["cases", *left], seconds):
            if "begins" in line:
                current = line["begins"]
            elif "name" in line:
                left.remove(line["name"])
                current = ""
                yield line
            else:
                ends += 1
                current = current or left[0]
                left.remove(current)
                yield {"name": current, **line}
                break
    for name in left:
        yield {"name": name, "state": "untried", "reason": "too many processes have ended"}


# ---- the report

def made_by() -> dict[str, Any]:
    """Versions, and the settings of this package."""
    found: dict[str, Any] = {"python": platform.python_version(), "system": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    found["settings"] = {name: value for name, value in sorted(os.environ.items())
                         if name.startswith("TRITON_SPIRV_") and "KEY" not in name}
    return found


def device_facts() -> dict[str, Any]:
    """The device that kernels will run on, as `triton-spirv devices` describes it. DeviceError: none."""
    from ..runtime import chosen_device, devices
    from ..runtime.vulkan.devices import Device as VulkanDevice
    from .devices import describe, describe_vulkan

    device = chosen_device.chosen()
    if isinstance(device, VulkanDevice):
        return describe_vulkan(device, True)
    refusal = devices.refused(device)
    if refusal:
        raise DeviceError(refusal)
    return describe(device, True)


def figure(row: dict[str, Any]) -> str:
    """One line."""
    if "error" in row:
        return f"{row['name']}: not measured: {row['error']}"
    return f"{row['name']}: {row['value']:.4g} {row['unit']} ({row['how']})"


def readable(report: dict[str, Any]) -> str:
    """The report as Markdown, with all of it as JSON at the end."""
    device, made = report["device"], report["made_by"]
    lines = [f"# Selftest of triton-spirv {made['triton-spirv']} on {device['name']}", "",
             f"{device['interface']}, {device['platform']}, driver {device['driver']}; "
             f"IP version {device['ip_version'] or 'unknown'}; {made['system']}, Python {made['python']}, "
             f"Triton {made['triton']}; {report['seconds']} s.", "", "| kernel | state | s | |",
             "|---|---|---|---|"]
    for row in report["cases"]:
        reason = str(row.get("reason", "")).replace("|", "\\|").split("\n", 1)[0]
        lines.append(f"| {row['name']} | {STATES[row['state']][0]} | {row.get('seconds', '')} | {reason} |")
    lines += ["", *(f"- {figure(row)}" for row in report["figures"]), ""]
    coded = [row for row in report["cases"] if "registers" in row.get("code", {})]
    if coded:
        lines += ["| machine code of | SIMD | registers | spilled dwords of a lane | bytes | instructions | "
                  "matrix engine |", "|---|---|---|---|---|---|---|"]
        for row in coded:
            code = row["code"]
            facts = [code[name] for name in CODE_FACTS]
            facts.append("yes" if code["matrix_engine"] else "no")
            lines.append(" | ".join(["", row["name"], *map(str, facts), ""]).strip())
        lines.append("")
    text = json.dumps(report, indent=1, sort_keys=True)
    lines += ["<details><summary>JSON</summary>", "", "```json", text, "```", "", "</details>", ""]
    return "\n".join(lines)
