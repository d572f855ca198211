"""covering.py: an ordinary run's sample of a test with many cases covers it, and is the same everywhere."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import covering
import pytest
from seed import SEED

HERE = Path(__file__).parent
SIZES = [(5, 4, 8), (2, 4, 4, 4), (1, 12, 2, 2), (3, 3, 3, 1, 3), (13,), (1, 13), (2, 6), (9, 8), (13, 13)]


def product(sizes: tuple[int, ...]) -> list[covering.Row]:
    return list(itertools.product(*(range(size) for size in sizes)))


def pairs(rows: list[covering.Row]) -> set[object]:
    return {((i, row[i]), (j, row[j])) for row in rows for i, j in itertools.combinations(range(len(row)), 2)}


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", ("1", "2"))
def test_covers(sizes: tuple[int, ...], seed: str) -> None:
    rows = product(sizes)
    chosen = [rows[number] for number in covering.covering(rows, seed)]
    several = [size for size in sizes if size > 1]
    if len(several) > 2:
        assert pairs(chosen) == pairs(rows)
        assert len(chosen) < len(rows) and len(chosen) <= 2 * max(a * b for a in several for b in several)
    elif len(several) < 2 or len(rows) <= covering.MOST:
        assert chosen == rows
    else:
        met = defaultdict(set)
        for pair in pairs(chosen):
            for one, other in (pair, pair[::-1]):
                met[one].add(other)
        assert len(met) == sum(sizes) and len(chosen) < len(rows)
        assert all(len(others) >= covering.PARTNERS for others in met.values())


def test_what_does_not_occur_is_not_asked_for() -> None:
    """A list with holes: all that is there is met, rows that say a thing alone are all run."""
    rows = [row for row in product((4, 4, 4)) if sum(row) % 5]
    chosen = [rows[number] for number in covering.covering(rows, "1")]
    assert pairs(chosen) == pairs(rows)
    alone = [(i, i, i) for i in range(30)]
    assert covering.covering(alone, "1") == set(range(30))
    assert covering.covering([], "1") == set()


def test_the_seed_decides() -> None:
    rows = product((6, 6, 6))
    once, again, other = (covering.covering(rows, seed) for seed in "112")
    assert once == again != other
    assert len(set().union(*(covering.covering(rows, str(seed)) for seed in range(60)))) == len(rows)


TESTS = '''
import pytest
@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b, c", [(i, i % 2) for i in range(5)])
@pytest.mark.parametrize("d", ["x", "y", "z"])
def test_large(a, b, c, d): pass

@pytest.mark.every_case
@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b", range(4))
@pytest.mark.parametrize("c", range(4))
def test_marked(a, b, c): pass

@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(2))
@pytest.mark.parametrize("c", range(2))
def test_small(a, b, c): pass

@pytest.mark.parametrize("a, b, c", [(i, i % 3, i % 2) for i in range(40)])
def test_list(a, b, c): pass

@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("a", range(10))
def test_turns(a): pass

@pytest.mark.takes_turns(2)
def test_turn(): pass

@pytest.fixture(params=range(5))
def mode(request): return request.param

@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("b", range(5))
def test_fixture(a, b, mode): pass
'''

CONFTEST = f'''
import sys
sys.path.insert(0, {str(HERE)!r})
import covering
def pytest_addoption(parser):
    covering.add_option(parser)
    parser.addoption("--spirv-sample")
def pytest_configure(config):
    covering.configure(config)
def pytest_collection_modifyitems(config, items):
    covering.apply(config, items)
'''
LARGE, FIXTURE, REST = 60, 125, 64 + 12 + 40 + 10 + 1


@pytest.fixture
def collected(tmp_path: Path):
    """`collected(arguments)` -> names of the tests that pytest takes of TESTS, in a folder of their own."""
    (tmp_path / "pytest.ini").write_text("[pytest]")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/test_it.py").write_text(TESTS)

    def run(*arguments: str, **variables: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-q", "--co", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200,
                              env={**os.environ, "PYTEST_ADDOPTS": "", **variables})
        assert done.returncode == 0, done.stdout + done.stderr
        return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]

    return run


def test_what_is_run(collected) -> None:
    names = collected()
    count = {kind: sum(name.startswith(f"test_{kind}[") for name in names)
             for kind in ("large", "marked", "small", "list", "fixture")}
    assert count["marked"] == 64 and count["small"] == 12 and count["list"] == 40
    assert 20 <= count["large"] < 35 and 25 <= count["fixture"] < 50
    assert {name.split("-")[1] for name in names if name.startswith("test_large")} == set("01234")
    assert names == collected("sub"), "a folder is no test"
    assert set(names) != set(collected(TRITON_SPIRV_TEST_SEED=str(SEED + 1)))


def test_turns(collected) -> None:
    """Each has its turn, with one seed in n."""
    runs = [collected(TRITON_SPIRV_TEST_SEED=str(SEED + add)) for add in range(3)]
    turns = [{name for name in names if name.startswith("test_turns")} for names in runs]
    assert sum(map(len, turns)) == len(set().union(*turns)) == 10 and {len(each) for each in turns} == {3, 4}
    assert {"test_turn" in names for names in runs} == {True, False}
    third = collected("--one-in", "3")
    assert len(runs[0]) / 3 - 3 < len(third) < len(runs[0]) / 3 + 3 and set(third) < set(runs[0])


@pytest.mark.parametrize("arguments, number", [
    (["--every-case"], LARGE + FIXTURE + REST), (["sub/test_it.py"], LARGE + FIXTURE + REST),
    (["sub/test_it.py::test_large"], LARGE), (["sub/test_it.py::test_large[x-4-0-3]"], 1),
    (["sub/test_it.py::test_large[x-3-1-3]", "sub/test_it.py::test_fixture"], FIXTURE + 1),
    (["-k", "x"], None), (["--spirv-sample", "3"], LARGE + FIXTURE + REST)])
def test_what_is_asked_for_is_run(collected, arguments: list[str], number: int | None) -> None:
    names = collected(*arguments)
    assert len(names) == number if number is not None else sum("test_large[x" in name for name in names) == 20


def test_workers_agree(collected, tmp_path: Path) -> None:
    """xdist refuses workers whose tests differ."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "sub"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=200,
                          env={**os.environ, "PYTEST_ADDOPTS": ""})
    assert done.returncode == 0 and f"{len(collected())} passed" in done.stdout, done.stdout
