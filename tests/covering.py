"""Of a test with very many cases, an ordinary run has a sample that covers them; `--every-case` has all.

A test with several parameters has a case for every combination of their values: for three parameters of eight
values, 512. Most mistakes show in one value, or where two meet. So of a test with more than `MOST` cases

- with three parameters or more, as many cases are run as it takes for every two values of two parameters to
  meet;
- with two parameters, each value meets `PARTNERS` values of the other (all, where there are fewer).

What stands in one `parametrize` is one parameter, however many names it gives, and each of its values is run:
a list of cases, such as bugs that were found, is always run whole. Fixtures that have values, such as a
test's mode, are parameters, too.

A slow test that is marked `takes_turns(n)` is run for one in n of its cases; one without cases, with one seed
in n, which `takes_turns(n, k)` chooses, so that tests that are much alike have theirs one after the other.
`--one-in n` does that to every test.

Which cases are run is drawn with the tests' seed (seed.py): another seed runs others. Everything is run of a
test that is marked `every_case`, of a file or a test that the command line names, with `-k`, and with
`--spirv-sample`, which draws for itself.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections import defaultdict
from collections.abc import Hashable, Sequence

import pytest
from seed import SEED

MOST = 12
PARTNERS = 2

Row = tuple[Hashable, ...]


def covering(rows: Sequence[Row], seed: str) -> set[int]:
    """Numbers of the rows that are run; a row has the parameters' values in one case. Rows need not be all
    combinations: what does not occur in them is not asked for."""
    columns = [i for i in range(len(rows[0])) if len({row[i] for row in rows}) > 1] if rows else []
    if len(rows) <= MOST or len(columns) < 2:
        return set(range(len(rows)))
    if len(columns) == 2:
        return _chosen([[(i, row[i]) for i in columns] for row in rows], PARTNERS, seed)
    pairs = list(itertools.combinations(columns, 2))
    return _chosen([[(i, row[i], j, row[j]) for i, j in pairs] for row in rows], 1, seed)


def _chosen(met: Sequence[Sequence[Hashable]], times: int, seed: str) -> set[int]:
    """Rows, so that each thing that is met in some row is met in `times` chosen ones, or in all that meet it:
    always the row that adds most; of several, the first in an order that is drawn."""
    rows_of: dict[Hashable, list[int]] = defaultdict(list)
    for number, things in enumerate(met):
        for thing in things:
            rows_of[thing].append(number)
    lacks = {thing: min(times, len(rows)) for thing, rows in rows_of.items()}
    order = list(range(len(met)))
    random.Random(seed).shuffle(order)
    adds = [len(things) for things in met]
    chosen: set[int] = set()
    missing = sum(lacks.values())
    while missing:
        best = max((number for number in order if number not in chosen), key=adds.__getitem__)
        chosen.add(best)
        for thing in met[best]:
            if lacks[thing]:
                lacks[thing] -= 1
                missing -= 1
                if not lacks[thing]:
                    for number in rows_of[thing]:
                        adds[number] -= 1
    return chosen


def parameters(item: pytest.Item) -> dict[str, tuple[int, ...]]:
    """Of a case: names of each `parametrize` and each fixture with values -> which value it has, told by the
    objects, which are the same in all cases."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    left = dict(callspec.params)
    found: dict[str, tuple[int, ...]] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        together = [name for name in names if name in left]
        if together:
            found[",".join(together)] = tuple(id(left.pop(name)) for name in together)
    found.update({name: (id(value),) for name, value in left.items()})
    return found


def dropped(items: Sequence[pytest.Item], seed: int = SEED, one_in: int = 1) -> set[int]:
    """Numbers of the items that an ordinary run leaves out; of what is left, all but one in `one_in`, too."""
    tests: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, item in enumerate(items):
        name = getattr(item, "originalname", None) or item.name
        tests[item.parent.nodeid if item.parent else "", name].append(number)
    left_out: set[int] = set()
    for (parent, name), numbers in tests.items():
        item = items[numbers[0]]
        cases = [parameters(items[number]) for number in numbers]
        kept = list(range(len(numbers)))
        if (len(numbers) > MOST and not item.get_closest_marker("every_case")
                and all(case.keys() == cases[0].keys() for case in cases)):
            kept = sorted(covering([tuple(case.values()) for case in cases], f"{seed} {parent} {name}"))
        turns = item.get_closest_marker("takes_turns")
        for every in (turns.args[0] if turns else 1, one_in):
            named = turns and len(turns.args) > 1
            start = seed + (turns.args[1] if named else zlib.crc32(f"{parent} {name}".encode()))
            kept = [case for place, case in enumerate(kept) if (place + start) % every == 0]
        left_out.update({*numbers} - {numbers[case] for case in kept})
    return left_out


def is_named(item: pytest.Item, config: pytest.Config) -> bool:
    """Does the command line name this test, its class or its file?"""
    for argument in config.args:
        place, _, test = argument.partition("::")
        if config.invocation_params.dir / place == item.path:
            inside = item.nodeid.partition("::")[2]
            if not test or inside == test or inside.startswith((f"{test}[", f"{test}::")):
                return True
    return False


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true",
                     help=f"run all cases of tests that have more than {MOST}, instead of a sample that "
                          "covers them (tests/covering.py)")
    parser.addoption("--one-in", type=int, default=1, metavar="N",
                     help="of each test, run one in N of the cases that an ordinary run has; of tests without"
                          " cases, one in N")


def configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "every_case: all cases of this test are run, however many")
    config.addinivalue_line("markers", "takes_turns(n, k): of this slow test one case in n is run, others"
                                       " with another seed; k: which begins")


def apply(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out of a run what it does not need to cover its tests."""
    if config.getoption("--every-case") or config.getoption("--spirv-sample") or config.option.keyword:
        return
    sampled = [item for item in items if not is_named(item, config)]
    left_out = [sampled[number] for number in sorted(dropped(sampled, one_in=config.getoption("--one-in")))]
    if left_out:
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=left_out)
