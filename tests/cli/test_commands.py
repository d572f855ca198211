"""The command line itself, and the commands that look around: devices, doctor, ops, completion."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from triton_spirv.cli import doctor, main
from triton_spirv.cli.output import Output, size_in_words
from triton_spirv.ir.dialects import OPERATIONS
from triton_spirv.lower import RULES

ROOT = Path(__file__).parents[2]

#: A process in which nothing is installed but Python itself: no packages, no OpenCL driver, no programs.
BARE = """
import sys
sys.prefix = sys.exec_prefix = sys.base_prefix = {empty!r}
sys.path.insert(0, {package!r})
import site
site.getuserbase = lambda: {empty!r}
import ctypes.util
ctypes.util.find_library = lambda name: None
from triton_spirv.runtime import loader
loader._library_folders = lambda: iter(())
from triton_spirv.cli.main import main
sys.exit(main({words!r}))
"""


def bare(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    text = BARE.format(empty=str(tmp_path), package=str(ROOT / "python"), words=list(words))
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "OCL_ICD_VENDORS": str(tmp_path),
                   "VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    return subprocess.run([sys.executable, "-I", "-S", "-c", text], capture_output=True, text=True,
                          timeout=60,
                          env=environment)


# ---- the command line


@pytest.mark.parametrize("name", main.COMMANDS)
def test_help_has_examples_that_are_accepted(name: str, command) -> None:
    done = command(name, "--help")
    assert done.status == 0
    examples = main.module_of(name).EXAMPLES
    assert examples and all(f"  triton-spirv {example}\n" in done.out for example in examples)
    for example in examples:
        words = example.partition(" >")[0].split()
        assert words[0] == name
        main.build_parser().parse_args([word.strip("'") for word in words])


@pytest.mark.parametrize(("words", "complaint"), [
    ((), "COMMAND"),
    (("fly",), "invalid choice: 'fly'"),
    (("ops", "--nosuch"), "unrecognized arguments: --nosuch"),
    (("ops", "tt.nosuch"), "no operation is called tt.nosuch"),
    (("ops", "--of", "nosuch.ttir"), "nosuch.ttir cannot be read"),
    (("completion", "cmd"), "invalid choice: 'cmd'"),
])
def test_bad_input_ends_with_one_line_and_status_2(words: tuple[str, ...], complaint: str, command) -> None:
    done = command(*words)
    assert done.status == 2
    assert complaint in done.error and done.error.count("\n") == 1 and not done.out


def test_version(command) -> None:
    from triton_spirv import __version__

    assert command("--version").out == f"triton-spirv {__version__}\n"


@pytest.mark.parametrize("way", [["-m", "triton_spirv", "ops", "tt.load"],
                                 ["-m", "triton_spirv.cli.main", "ops", "tt.load"]])
def test_both_ways_to_call_it(way: list[str]) -> None:
    done = subprocess.run([sys.executable, *way], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "lower/memory/load.py" in done.stdout


def test_installed_command() -> None:
    import importlib.metadata

    points = importlib.metadata.entry_points(group="console_scripts", name="triton-spirv")
    assert {point.value for point in points} == {"triton_spirv.cli.main:main"}


def test_reader_that_has_seen_enough() -> None:
    words = f"{sys.executable} -m triton_spirv ops | head -1"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("operation") and not done.stderr


# ---- what is printed where


def test_plain_where_it_is_no_terminal() -> None:
    stream = io.StringIO()
    out = Output(stream)
    out.table(("name", "count"), [("a", 1), ("bb", 22)], ["good", "bad"])
    out.line("done", "good")
    assert stream.getvalue() == "name  count\na         1\nbb       22\ndone\n"


def test_rich_where_it_is() -> None:
    pytest.importorskip("rich")
    stream = io.StringIO()
    out = Output(stream, rich=True)
    out.table(("name", "count"), [("a", 1)], ["good"])
    out.line("[brackets] stay", "bad")
    text = stream.getvalue()
    assert "\x1b[32m" in text and "[brackets] stay" in text


def test_terminal_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert Output(Terminal()).rich is not None
    monkeypatch.setenv("NO_COLOR", "1")
    assert Output(Terminal()).rich is None


def test_sizes() -> None:
    assert [size_in_words(n) for n in (512, 65536, 1536 << 20)] == ["512 B", "64 KiB", "1.5 GiB"]


# ---- devices


def test_devices(command) -> None:
    from triton_spirv.runtime.devices import devices

    if not devices():
        pytest.skip("no OpenCL device")
    facts = json.loads(command("devices", "--json").out)
    opencl = [fact for fact in facts if fact["interface"] == "opencl"]
    assert [fact["name"] for fact in opencl] == [device.name for device in devices()]
    assert sum(fact["chosen"] for fact in facts) == 1
    cpu = next(fact for fact in facts if fact["kind"] == "cpu")
    assert "SPIR-V_1.2" in cpu["spirv"] and cpu["global_bytes"] > 1 << 28 and cpu["compute_units"] > 0
    assert "f64" in cpu["abilities"] and 16 in cpu["sub_group_sizes"]
    done = command("devices", "--all")
    assert done.status == 0 and done.out.count("* ") == 1 and "cl_khr_fp64" in done.out


@pytest.mark.vulkan
def test_vulkan_devices(command, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.runtime.vulkan.devices import devices

    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "vulkan")
    facts = json.loads(command("devices", "--json").out)
    (chosen,) = [fact for fact in facts if fact["chosen"]]
    assert (chosen["interface"], chosen["index"]) == ("vulkan", "vulkan:0")
    assert devices()[0].subgroup_size in chosen["sub_group_sizes"] and "Shader" in chosen["abilities"]
    assert "* vulkan:0: " in command("devices").out


def test_devices_when_the_choice_names_none(command, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.runtime.devices import devices

    if not devices():
        pytest.skip("no OpenCL device")
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "abacus")
    done = command("devices")
    assert done.status == 1 and "'abacus' names no device" in done.out and devices()[0].name in done.out


def test_devices_without_any(tmp_path: Path) -> None:
    done = bare(tmp_path, "devices")
    assert done.returncode == 1 and "pip install intel-opencl-rt" in done.stdout, done.stderr


# ---- doctor


def test_doctor_runs_a_kernel_on_each_device(command) -> None:
    from triton_spirv.runtime.devices import devices

    if not devices():
        pytest.skip("no OpenCL device")
    found = json.loads(command("doctor", "--json").out)
    from triton_spirv.runtime.vulkan.devices import devices as vulkan_devices

    ran = [finding for finding in found if re.fullmatch(r"device (vulkan:)?\d+", finding["subject"])]
    assert len(ran) == len(devices()) + len(vulkan_devices())
    assert all("ran and was right" in finding["detail"] for finding in ran)


def test_doctor_without_running(command) -> None:
    assert "ran and was right" not in command("doctor", "--no-run").out


def test_doctor_on_a_machine_without_any_opencl(tmp_path: Path) -> None:
    """And without Triton and numpy: it says what to install, for each, and ends with status 1."""
    done = bare(tmp_path, "doctor")
    assert done.returncode == 1 and not done.stderr, done.stderr
    lines = done.stdout.splitlines()
    for subject, remedy in (("OpenCL", "pip install intel-opencl-rt intel-cmplr-lib-rt"),
                            ("numpy", "pip install numpy"), ("triton", "pip install 'triton"),
                            ("triton's backend", "install")):  # FAILED where a build left its metadata here
        at = next(n for n, line in enumerate(lines) if re.match(rf"(MISSING|FAILED) +{subject} ", line))
        assert remedy in lines[at + 1]
    assert lines[-1].endswith("problems found")


@pytest.mark.parametrize("target", ["cpu", "cpu-simt", "cpu-simt32"])
def test_the_doctors_kernel_compiles_for_every_kind_of_target(target: str) -> None:
    import triton_spirv
    from triton_spirv.cli.trial import WARPS, trial_text
    from triton_spirv.target import find_target
    from triton_spirv.tools import spirv_tools

    artifact = triton_spirv.compile(trial_text(find_target(target)), target, num_warps=WARPS)
    spirv_tools.validate(artifact.words)
    assert artifact.written == (False, False, True, False)


def test_doctor_names_what_a_device_does_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.runtime.devices import devices

    if not devices():
        pytest.skip("no OpenCL device")
    from triton_spirv.cli import trial
    wrong = trial._TEXT.replace("arith.addf", "arith.subf")
    monkeypatch.setattr(trial, "_TEXT", wrong)
    finding = doctor.tried(devices()[0])
    assert finding.state == "failed" and "wrong sum: element 1 is 0.5, not 1.5" in finding.detail


def test_doctor_sees_a_wrong_ocloc_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", "/nonexistent/ocloc")
    finding = next(finding for finding in doctor.findings(run_kernels=False) if finding.subject == "ocloc")
    assert finding.state == "failed" and "/nonexistent/ocloc" in finding.detail


# ---- ops


def test_ops(command) -> None:
    rows = json.loads(command("ops", "--json").out)
    assert [row["operation"] for row in rows] == list(OPERATIONS)
    assert {row["operation"] for row in rows if row["state"] == "rule"} == set(RULES) & set(OPERATIONS)
    missing = json.loads(command("ops", "--missing", "--json").out)
    assert missing and all(row["state"] == "none" and row["reason"] for row in missing)


def test_ops_of_a_file(command, tmp_path: Path) -> None:
    from triton_spirv.cli.trial import trial_text
    from triton_spirv.target import CPU

    path = tmp_path / "trial.ttir"
    path.write_text(trial_text(CPU))
    done = command("ops", "--of", path)
    assert done.status == 0 and "tt.store" in done.out and "0 without" in done.out
    assert "tt.dot" not in done.out
    path.write_text(trial_text(CPU).replace("tt.return", "gpu.barrier\n tt.return"))
    done = command("ops", "--of", path, "--missing")
    assert ("gpu.barrier" in RULES) or (done.status == 1 and "gpu.barrier" in done.out)


# ---- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_completion_has_every_command(shell: str, command) -> None:
    pytest.importorskip("shtab")
    done = command("completion", shell)
    assert done.status == 0 and all(name in done.out for name in main.COMMANDS)


def test_bash_completes(command, tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    script = tmp_path / "completion.bash"
    script.write_text(command("completion", "bash").out)
    ask = f"""source {script}
COMP_WORDS=(triton-spirv ops --mis) COMP_CWORD=2
_shtab_triton_spirv
echo "${{COMPREPLY[@]}}"
COMP_WORDS=(triton-spirv doc) COMP_CWORD=1
_shtab_triton_spirv
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, timeout=30, env={**os.environ})
    assert done.stdout.split() == ["--missing", "doctor"], done.stderr
