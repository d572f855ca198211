"""docs/environment.md has every environment variable that the code reads, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from triton_spirv import settings, variables
from triton_spirv.cli import doctor, values
from triton_spirv.errors import UsageError

ROOT = Path(__file__).parent.parent
PACKAGES = [*(ROOT / "python").rglob("*.py"), *(ROOT / "third_party").rglob("*.py")]
TESTS = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), ROOT / ".ci" / "run"]
TABLE = "variables.py"

#: what looks like a variable of ours and is none
OTHERS = {"TRITON_SPIRV_"}


def of_ours(files: list[Path]) -> dict[str, Path]:
    """TRITON_SPIRV_... -> a file that names it."""
    found = {}
    for path in files:
        if path.name not in (TABLE, Path(__file__).name):
            for name in re.findall(r"\bTRITON_SPIRV_[A-Z_]*\b", path.read_text(encoding="utf-8")):
                found[name] = path
    return {name: path for name, path in found.items() if name not in OTHERS}


def read_in(path: Path) -> Iterator[str]:
    """What a file asks os.environ for, by a string or by a constant of the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.value, ast.Constant) for target in node.targets
                 if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        asked: ast.expr | None = None
        readers = ("os.environ.get", "os.getenv", "flag", "number")
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in readers:
            asked = node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            asked = node.slice
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
            asked = node.left
        if isinstance(asked, ast.Constant):
            yield asked.value
        elif isinstance(asked, ast.Name) and isinstance(constants.get(asked.id), str):
            yield constants[asked.id]


def test_page_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    command = "python -m triton_spirv --environment-table > docs/environment.md"
    assert page == variables.page(), f"docs/environment.md is out of date: {command}"


def test_every_variable_that_the_code_names_is_in_the_table() -> None:
    missing = {name: str(path) for name, path in of_ours(PACKAGES + TESTS).items()
               if name not in variables.names()}
    assert not missing, "python/triton_spirv/variables.py lacks these"


def test_every_variable_that_the_code_reads_is_in_the_table() -> None:
    read = {name for path in PACKAGES for name in read_in(path)}
    assert len(read) > 15
    assert read <= variables.names()


def test_every_variable_of_the_table_is_in_the_code() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in PACKAGES + TESTS if path.name != TABLE)
    assert [name for name in variables.names() if name not in texts] == []


def test_every_prefix_is_in_the_code() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in PACKAGES if path.name != TABLE)
    assert [prefix for prefix in variables.PREFIXES if f'"{prefix}"' not in texts] == []


def kinds_read() -> Iterator[tuple[str, str]]:
    """(variable, name of its kind in settings.py) of each call that reads one by its kind."""
    for path in PACKAGES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
                     and isinstance(node.value, ast.Constant) for target in node.targets
                     if isinstance(target, ast.Name)}
        for node in ast.walk(tree):
            reader = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and reader in ("flag", "number") and len(node.args) > 1:
                first, given = node.args[0], ast.unparse(node.args[1]).rpartition(".")[2]
                name = first.value if isinstance(first, ast.Constant) else constants.get(ast.unparse(first))
                if isinstance(name, str):
                    yield name, "FLAG" if reader == "flag" else given


def test_the_table_knows_the_kind_by_which_a_variable_is_read() -> None:
    found = dict(kinds_read())
    assert len(found) >= 10
    for name, kind in found.items():
        variable = variables.find(name)
        assert variable is not None and variable.kind is getattr(settings, kind), name


def test_every_trial_of_the_table_is_there() -> None:
    named = {variable.trial for group in variables.VARIABLES.values() for variable in group} - {""}
    assert named == values.TRIALS.keys()


#: variable -> a value that it cannot have
WRONG = {
    "TRITON_SPIRV_BACKEND": "nope", "TRITON_DEFAULT_BACKEND": "cpu3", "TRITON_SPIRV_DEVICE": "abacus",
    "TRITON_SPIRV_INDUCTOR": "2", "TRITON_SPIRV_INDUCTOR_KEEP": "much",
    "TRITON_SPIRV_OPENMP": "2", "TRITON_SPIRV_INDUCTOR_PRODUCTS": "2",
    "TRITON_SPIRV_CALLS": "2", "TRITON_SPIRV_CREW": "2", "TRITON_SPIRV_REPEATED": "2",
    "TRITON_SPIRV_TARGET": "pvcc", "TRITON_SPIRV_SHARED_MEMORY": "maybe",
    "TRITON_SPIRV_TRIAL": "-", "TRITON_SPIRV_PROFILE": "/dev/null/trace.json",
    "TRITON_SPIRV_LINE_INFO": "all", "TRITON_SPIRV_CHECK": "bonds", "TRITON_SPIRV_CHECK_TIMEOUT": "soon",
    "TRITON_SPIRV_CHECK_LIMIT": "some", "TRITON_SPIRV_CHECK_REPORT": "/dev/null/found.json",
    "TRITON_SPIRV_CHECK_SUPPRESS": "a:b:c:1", "TRITON_SPIRV_OPTIMISE": "fast",
    "TRITON_SPIRV_RECORD": "/dev/null/recordings", "TRITON_SPIRV_RECORD_LAUNCHES": "-1",
    "TRITON_SPIRV_DEBUG": "prnt", "TRITON_SPIRV_PRINT_EACH_THREAD": "x",
    "TRITON_SPIRV_COMPILE_SECONDS": "nan", "TRITON_SPIRV_FAULT_MESSAGE": "none",
    "TRITON_SPIRV_VULKAN_STATISTICS": "x", "TRITON_SPIRV_VULKAN_VALIDATION": "x",
    "TRITON_SPIRV_ZEBIN": "maybe", "TRITON_OCLOC_PATH": "/no/ocloc", "TRITON_SPIRV_OCLOC_TIMEOUT": "0",
    "TRITON_SPIRV_KEEP": "/dev/null/kept", "TRITON_SPIRV_SHADER_DUMP": "/dev/null/dump",
    "TRITON_CACHE_DIR": "/dev/null/cache", "TRITON_HOME": "/dev/null/home",
    "TRITON_SPIRV_CACHE_KEY_FILE": "/no/key", "TRITON_SPIRV_VULKAN_LOADER": "/no/loader.so",
    "VK_DRIVER_FILES": "/no/driver.json", "VK_ICD_FILENAMES": "/no/driver.json", "OCL_ICD_VENDORS": "/no",
    "CL_CONFIG_CPU_TARGET_ARCH": "z80", "ZE_FLAT_DEVICE_HIERARCHY": "ROUND", "TRITON_SPIRV_TOOLS": "/no",
    "TRITON_SPIRV_NEW_OCLOC": "/no/ocloc", "TRITON_SPIRV_TEST_SEED": "x",
    "TRITON_SPIRV_TEST_KERNELS": "x",
}
#: those that may hold anything
FREE = {"ZE_AFFINITY_MASK", "NO_COLOR", "TERM", "TRITON_SPIRV_TEST_VULKAN", "TRITON_SPIRV_TEST_MODES"}


def test_each_variable_has_a_wrong_value_or_is_free() -> None:
    assert WRONG.keys() | FREE == variables.names() and not WRONG.keys() & FREE


@pytest.mark.parametrize("name", WRONG)
def test_doctor_names_a_wrong_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.runtime.vulkan import library

    library.open_loader.cache_clear()
    monkeypatch.setenv(name, WRONG[name])
    (finding,) = (each for each in doctor._variables() if each.subject == name)
    library.open_loader.cache_clear()
    assert finding.state == "failed" and name in finding.detail and finding.remedy


@pytest.mark.parametrize("name, value", [
    ("TRITON_SPIRV_COMPILE_SECONDS", "0.5"), ("TRITON_SPIRV_TARGET", "host"), ("TRITON_SPIRV_DEVICE", "cpu"),
    ("TRITON_SPIRV_BACKEND", "Yes"), ("TRITON_SPIRV_ZEBIN", "auto"), ("TRITON_SPIRV_PROFILE", "lines"),
    ("TRITON_SPIRV_TARGET", "simt8"), ("TRITON_SPIRV_PROFILE", "off"), ("TRITON_SPIRV_OPTIMISE", "-masks"),
    ("TRITON_SPIRV_DEBUG", "verify,print:facts"), ("TRITON_SPIRV_CHECK", "bounds,nan")])
def test_doctor_takes_what_is_right(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    (finding,) = (each for each in doctor._variables() if each.subject == name)
    assert (finding.state, finding.detail) == ("good", value)


def test_doctor_names_a_misspelled_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVCE", "gpu")
    found = {each.subject: each for each in doctor.findings(run_kernels=False)}
    finding = found["TRITON_SPIRV_DEVCE"]
    assert finding.state == "failed" and finding.remedy == "did you mean TRITON_SPIRV_DEVICE?"


@pytest.mark.parametrize("name", [name for group in variables.VARIABLES.values() for name in
                                  (each.name for each in group if each.kind is not settings.ANYTHING)
                                  if name.startswith(variables.OURS)])
def test_a_wrong_value_is_refused_before_the_first_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the kernel is in the cache, and the value would not be used."""
    monkeypatch.setenv(name, WRONG[name])
    with pytest.raises(UsageError, match=re.escape(f"{name}={WRONG[name]!r}: use ")):
        variables.require_known_values()


def test_a_misspelled_variable_is_a_warning_before_the_first_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_PROFIL", "1")
    with pytest.warns(UserWarning, match="TRITON_SPIRV_PROFIL; did you mean TRITON_SPIRV_PROFILE?"):
        variables.require_known_values()


def test_flags_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, value in (("1", True), ("off", False), (" Yes ", True), ("FALSE", False), ("", True)):
        monkeypatch.setenv("TRITON_SPIRV_TRIAL", text)
        assert settings.flag("TRITON_SPIRV_TRIAL", True) is value
    for kind, text in ((settings.SECONDS, "-1"), (settings.SECONDS, "inf"), (settings.SOME_SECONDS, "0"),
                       (settings.COUNT, "1.5"), (settings.COUNT, "9" * 5000)):
        monkeypatch.setenv("TRITON_SPIRV_KEEP", text)
        with pytest.raises(UsageError, match=r"TRITON_SPIRV_KEEP='.*': use a"):
            settings.number("TRITON_SPIRV_KEEP", kind, 1)


def test_doctor_does_not_blame_a_driver_for_a_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", "soon")
    (found, *_) = [each for each in doctor.findings() if each.subject.startswith("device ")]
    assert found.state == "optional" and "was not tried: TRITON_SPIRV_COMPILE_SECONDS='soon'" in found.detail
