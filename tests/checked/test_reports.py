"""What becomes of findings: the file of them, what leaves them out, what ends a program, tests that fail."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import prepared
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv import CheckError, checking
from triton_spirv.check_reports import REPORT, SUPPRESS, rules
from triton_spirv.errors import UsageError


@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v, mask=i < n)


def launch(n: int = 20) -> None:
    x, o = (triton_spirv.asarray(np.ones(16, np.float32)) for _ in range(2))
    copy[(1,)](x, o, n, BLOCK=32, check="bounds")


def line_of(text: str) -> int:
    return Path(__file__).read_text().splitlines().index(text) + 1


LOAD, STORE = line_of("    v = tl.load(x + i, mask=i < n)"), line_of("    tl.store(o + i, v, mask=i < n)")


def test_the_file_has_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPORT, str(tmp_path / "found-%p.json"))
    monkeypatch.setattr("triton_spirv.check_reports._written", [])
    launch(16)
    assert not list(tmp_path.iterdir())
    for n in (17, 20):
        with pytest.raises(CheckError):
            launch(n)
    file, = tmp_path.iterdir()
    assert file.name == f"found-{os.getpid()}.json"
    assert [(each["line"], each["count"]) for each in json.loads(file.read_text())] == [
        (LOAD, 1), (STORE, 1), (LOAD, 4), (STORE, 4)]


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                       capfd: pytest.CaptureFixture[str]) -> None:
    """The findings are raised all the same, and one line says what is wrong with the file."""
    monkeypatch.setattr("triton_spirv.check_reports._written", [])
    for name, wrong in (("absent/x.json", "No such file"), ("", "Is a directory")):
        monkeypatch.setenv(REPORT, str(tmp_path / name))
        for _ in range(2):
            with pytest.raises(CheckError, match="beyond its end"):
                launch()
        said, = capfd.readouterr().err.splitlines()
        assert said.startswith(f"triton-spirv: {REPORT}: the findings are not written: ")
        assert wrong in said and repr(str(tmp_path / name)) in said
        assert not list(tmp_path.iterdir()) and not list(tmp_path.parent.glob(f"{tmp_path.name}.*"))


@pytest.mark.parametrize("text, left", [
    (f"test_reports.py:{LOAD}", [STORE]), (f"checked/test_reports.py:{STORE}, nan:test_reports.py", [LOAD]),
    (f"bounds:test_reports.py:{LOAD}", [STORE]), ("test_reports.py", []), ("bounds:test_reports.py", []),
    (f"nan:test_reports.py,reports.py,test_reports.py:{LOAD + 100}", [LOAD, STORE])])
def test_suppression(text: str, left: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUPPRESS, text)
    found = []
    try:
        launch()
    except CheckError as error:
        found = [finding.line for finding in error.findings]
    assert found == left


@pytest.mark.parametrize("name, value, said", [
    (checking.LIMIT, "many", "it is a number of findings"),
    (checking.LIMIT, "-1", "it is a number of findings"),
    (checking.TIMEOUT, "0", "it is a number of seconds, more than 0"),
    (SUPPRESS, "nam:norm.py:40", "names no check"), (SUPPRESS, "norm.py:4x", "names no check"),
    (SUPPRESS, "12", r"is not \[check:\]file\[:line\]")])
@pytest.mark.parametrize("check", ["bounds", "compiler"])
def test_wrong_values_are_refused_where_nothing_is_found(name: str, value: str, said: str, check: str,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    x, o = (triton_spirv.asarray(np.ones(16, np.float32)) for _ in range(2))
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"{name}.*{said}"):
        copy[(1,)](x, o, 16, BLOCK=16, check=check)
    copy[(1,)](x, o, 16, BLOCK=16)


@pytest.mark.parametrize("text", ["a:b:c:4", "nan:", "12", ":", "norm.py:0"])
def test_suppression_of_no_file(text: str) -> None:
    with pytest.raises(UsageError, match="is not"):
        rules(text)


@pytest.mark.parametrize("limit, launches", [(1, 1), (2, 1), (3, 3), (0, 3)])
def test_so_many_end_the_program(limit: int, launches: int) -> None:
    """Two places are found; three are never."""
    done = 0
    with checking.collected(limit) as findings:
        try:
            for _ in range(3):
                done += 1
                launch()
        except checking.TooMany as error:
            assert len(error.findings) >= limit
    assert done == launches and len(findings) == 2


def test_so_many_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the option of a launch, the variable, and the block around it, whichever says it closest."""
    x, o = (triton_spirv.asarray(np.ones(16, np.float32)) for _ in range(2))
    monkeypatch.setattr("triton_spirv.check_reports._written", [])
    monkeypatch.setenv(REPORT, str(tmp_path / "found.json"))

    def found(**options: int) -> tuple[list[int], bool]:
        with pytest.raises(CheckError) as error:
            copy[(1,)](x, o, 20, BLOCK=32, check="bounds", **options)
        return [finding.line for finding in error.value.findings], "1 more, beyond the limit of 1" in str(
            error.value)

    both, first = ([LOAD, STORE], False), ([LOAD], True)
    assert found() == found(check_limit=0) == found(check_limit=2) == found(check_limit=7) == both
    assert found(check_limit=1) == first
    with triton_spirv.checked("", limit=1):
        assert found() == first and found(check_limit=2) == both
    monkeypatch.setenv(checking.LIMIT, "1")
    assert found() == first and found(check_limit=2) == both
    with triton_spirv.checked("", limit=2):
        assert found() == both
    assert len(json.loads((tmp_path / "found.json").read_text())) == 4 * 2 + 1 + 3 + 3 + 2


def test_a_launch_ends_the_program_at_its_limit() -> None:
    x, o = (triton_spirv.asarray(np.ones(16, np.float32)) for _ in range(2))
    with checking.collected() as findings:
        with pytest.raises(checking.TooMany):
            copy[(1,)](x, o, 20, BLOCK=32, check="bounds", check_limit=2)
        copy[(1,)](x, o, 21, BLOCK=32, check="bounds")
    assert len(findings) == 2


@pytest.mark.parametrize("limit", [-1, "many"])
def test_limits_that_are_none(limit: object, monkeypatch: pytest.MonkeyPatch) -> None:
    x, o = (triton_spirv.asarray(np.ones(16, np.float32)) for _ in range(2))
    with pytest.raises(UsageError, match=r"check_limit is .*; it is a number of findings"):
        copy[(1,)](x, o, 20, BLOCK=32, check="bounds", check_limit=limit)
    monkeypatch.setenv(checking.LIMIT, str(limit))
    with pytest.raises(UsageError, match=f"{checking.LIMIT} is .*; it is a number of findings"):
        launch()


TESTS = '''
import numpy as np, pytest, triton, triton.language as tl, triton_spirv

@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.sqrt(tl.load(x + i, mask=i < n, other=0)), mask=i < n)

@pytest.mark.parametrize("n", [16, 17])
@pytest.mark.parametrize("value", [1, -1])
def test_copy(n, value):
    x, o = (triton_spirv.asarray(np.full(16, value, np.float32)) for _ in range(2))
    copy[(1,)](x, o, n, BLOCK=32)
'''


def test_tests_fail(tmp_path: Path) -> None:
    (tmp_path / "test_copy.py").write_text(TESTS)

    def failed(*options: str) -> set[str]:
        words = ["-m", "pytest", "-p", "triton_spirv.pytest", "-p", "no:cacheprovider", "-rf", *options,
                 "test_copy.py"]
        env = {name: value for name, value in os.environ.items() if name != "TRITON_SPIRV_CHECK"}
        done = prepared.python(words, environment=env, folder=tmp_path)
        lines = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        assert all("CheckError" in line for line in lines), done.stdout
        return {line.split("[")[1].split("]")[0] for line in lines}

    assert failed("--triton-spirv-check") == {"1-17", "-1-16", "-1-17"}
    assert failed("--triton-spirv", "--triton-spirv-check=bounds") == {"1-17", "-1-17"}
    # the first test that fails is the last one
    assert failed("--triton-spirv-check=bounds", "--triton-spirv-check-limit=1") == {"1-17"}
    assert failed("--triton-spirv-check=bounds", "--triton-spirv-check-limit=100") == {"1-17", "-1-17"}
