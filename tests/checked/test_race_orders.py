"""check=race against what happens before what, computed here: programs that do what a script says, in its
order, and every access of each program counts, however many there are."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from checked import launches
from checked.launches import arrays
from triton_spirv.errors import LaunchError

found = partial(launches.found, "race")

#: what a program does; where: an element of x, or a flag
READ, WRITE, ATOMIC, LOOK, RELEASE, ACQUIRE = range(1, 7)

#: accesses that race if nothing orders them
RACING = set(map(frozenset, ((WRITE,), (WRITE, READ), (WRITE, ATOMIC), (WRITE, LOOK), (READ, ATOMIC))))

Step = tuple[int, int, int]  # the program, what it does, where


@triton.jit
def scripted(script, x, o, flags, turn, rounds, WIDTH: tl.constexpr):
    """The k-th thing that a program does comes when the turn says so; turns order nothing."""
    p, i = tl.program_id(0), tl.arange(0, WIDTH)
    for k in range(rounds):
        step = script + (p * rounds + k) * 3
        when, what, where = tl.load(step), tl.load(step + 1), tl.load(step + 2)
        if what > 0:
            while tl.atomic_add(turn, 0, sem="relaxed") != when:
                pass
            if what == 1:
                tl.store(o + p * WIDTH + i, tl.load(x + where + i))
            if what == 2:
                tl.store(x + where + i, p)
            if what == 3:
                tl.atomic_add(x + where + i, 1, sem="relaxed")
            if what == 4:
                tl.store(o + p * WIDTH + i, tl.load(x + where + i, volatile=True))
            if what == 5:
                tl.atomic_xchg(flags + where, 1, sem="release")
            if what == 6:
                tl.atomic_add(flags + where, 0, sem="acquire")
            tl.atomic_add(turn, 1, sem="relaxed")


def races(steps: Sequence[Step], width: int) -> set[int]:
    """The elements of x that steps in this order race at."""
    known: dict[int, set[int]] = defaultdict(set)  # by program: the steps that come before what it does next
    released: dict[int, set[int]] = defaultdict(set)  # by flag
    accesses: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    bad = set()
    for number, (program, what, where) in enumerate(steps):
        if what == ACQUIRE:
            known[program] |= released[where]
        elif what == RELEASE:
            released[where] |= known[program]
        else:
            for element in range(where, where + width):
                if any(frozenset((what, other)) in RACING and before not in known[program]
                       for before, other, _ in accesses[element]):
                    bad.add(element)
                accesses[element].append((number, what, program))
        known[program].add(number)
    return bad


def launch(steps: Sequence[Step], width: int, programs: int) -> list[Any]:
    """What the check finds at x."""
    rounds = 64
    script = np.zeros((programs, rounds, 3), np.int32)
    used = [0] * programs
    for turn, (program, what, where) in enumerate(steps):
        script[program, used[program]] = turn, what, where
        used[program] += 1
    x, o, flags, turn = arrays(np.zeros(64, np.int32), np.zeros(programs * width, np.int32),
                               np.zeros(64, np.int32), np.zeros(1, np.int32))
    findings = found(lambda: scripted[(programs,)](*arrays(script), x, o, flags, turn, rounds, WIDTH=width))
    assert turn.numpy()[0] == len(steps) and all(finding.argument == "x" for finding in findings)
    return list(findings)


def ordered_readers(readers: Sequence[int], missing: int | None, kind: int = READ) -> list[Step]:
    """Program 0 writes; the others read, in this order; then the last program writes, behind all of them but
    one. Each flag belongs to a program."""
    last = max(readers) + 1
    steps = [(0, WRITE, 0), (0, RELEASE, 0)]
    for reader in readers:
        steps += [(reader, ACQUIRE, 0), (reader, kind, 0), (reader, RELEASE, reader)]
    steps += [(last, ACQUIRE, 0), *((last, ACQUIRE, reader) for reader in readers if reader != missing)]
    return [*steps, (last, WRITE, 0)]


@pytest.mark.parametrize("kind", [READ, ATOMIC, LOOK])
@pytest.mark.parametrize("width", [1, 32])
@pytest.mark.parametrize("readers", [3, 4, 6])
def test_one_of_many_readers(readers: int, width: int, kind: int) -> None:
    """Whichever of them it is that the write is not ordered behind."""
    order = list(range(1, readers + 1))
    assert not launch(ordered_readers(order, None, kind), width, readers + 2)
    for missing in order:
        findings = launch(ordered_readers(order, missing, kind), width, readers + 2)
        assert {frozenset((finding.program[0], finding.other.program[0])) for finding in findings} == {
            frozenset((missing, readers + 1))}


@pytest.mark.parametrize("kind", [WRITE, ATOMIC, LOOK])
def test_one_of_so_many_readers_that_they_have_a_row(kind: int) -> None:
    """Of a single element, whose state no other one has: who writes it later, or changes it by an atomic
    operation, is behind all of them; who looks at it by one need not be."""
    order = list(range(1, 31))
    last = len(order) + 1
    for missing in (None, 1, 14, 17, 30):
        steps = [*ordered_readers(order, missing)[:-1], (last, kind, 0)]
        pairs = {frozenset((finding.program[0], finding.other.program[0]))
                 for finding in launch(steps, 1, last + 1)}
        assert pairs == ({frozenset((missing, last))} if missing and kind != LOOK else set())


@pytest.mark.parametrize("width", [1, 32])
@pytest.mark.parametrize("missing", [None, 1, 2])
def test_readers_that_come_again(missing: int | None, width: int) -> None:
    """In turns, each at another clock: of each of them the last time decides."""
    steps: list[Step] = [(0, WRITE, 0), (0, RELEASE, 0), (1, ACQUIRE, 0), (2, ACQUIRE, 0)]
    for turn in range(20):
        for reader in (1, 2):
            steps += [(reader, READ, 0), (reader, RELEASE, reader if turn < 19 or reader != missing else 9)]
    steps += [(3, ACQUIRE, 0), (3, ACQUIRE, 1), (3, ACQUIRE, 2), (3, WRITE, 0)]
    findings = launch(steps, width, 4)
    assert {frozenset((finding.program[0], finding.other.program[0])) for finding in findings} == (
        {frozenset((missing, 3))} if missing else set())


def test_states_of_earlier_launches_are_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few enough to be kept, and others."""
    order = [1, 2, 3, 4]
    for kept in (1 << 18, 2):
        monkeypatch.setattr("triton_spirv.runtime.races.KEPT_STATES", kept)
        for missing in (None, 3, None, 1, None):
            assert bool(launch(ordered_readers(order, missing), 32, 6)) == (missing is not None)


def test_more_states_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_spirv.runtime.races.MOST_STATES", 8)
    scripted.device_caches.clear()
    with pytest.raises(LaunchError, match="too many programs share too much memory"):
        launch(ordered_readers([1, 2, 3, 4], None), 32, 6)
    scripted.device_caches.clear()


def scripts(seed: int, programs: int, width: int) -> list[Step]:
    """Steps of a random script, two programs at a time, which come in the order of their numbers. Who writes
    releases flag 0, which all acquire; the others have a flag each, which those acquire who write, but
    sometimes for one."""
    draw = random.Random(seed)
    running, waiting = [0, 1], list(range(2, programs))
    left = [draw.randint(1, 3) for _ in range(programs)]
    writes, forgets = draw.choice([0.1, 0.2]), draw.choice([0, 1])
    others = draw.choice([[READ], [READ, LOOK], [ATOMIC], [ATOMIC, LOOK]])
    steps: list[Step] = []
    while running:
        program = draw.choice(running)
        is_write = draw.random() < writes
        where = draw.choice([0, 0, 0, 0, 1, 16]) if width > 1 else 0
        acquired = list(range(programs + 1)) if is_write else [0]
        if is_write and draw.random() < forgets:
            acquired.remove(draw.randrange(programs + 1))
        steps += [(program, ACQUIRE, flag) for flag in acquired]
        steps.append((program, WRITE if is_write else draw.choice(others), where))
        steps.append((program, RELEASE, 0 if is_write else program + 1))
        left[program] -= 1
        if not left[program]:
            running.remove(program)
            running += [waiting.pop(0)] if waiting else []
    return steps


@pytest.fixture(params=[None, 0])
def long_lists(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
               tmp_path: Path) -> Iterator[None]:
    """Lists of readers become rows when they are as long as always, or at once."""
    if request.param is not None:
        monkeypatch.setattr("triton_spirv.race_layout.LONG_LIST", request.param)
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
        monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
        scripted.device_caches.clear()
    yield
    scripted.device_caches.clear()


@pytest.mark.usefixtures("long_lists")
@pytest.mark.parametrize("width", [1, 16, 32])
def test_scripts_of_all_orders(width: int) -> None:
    verdicts = []
    for seed in range(30):
        programs = random.Random(seed).choice([5, 8, 12])
        steps = scripts(seed, programs, width)
        bad = races(steps, width)
        findings = launch(steps, width, programs)
        assert bool(findings) == bool(bad), (seed, steps, findings)
        assert {finding.index[0] for finding in findings} <= bad, (seed, steps)
        verdicts.append(bool(bad))
    assert 0 < sum(verdicts) < 30
