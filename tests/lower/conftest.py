"""What a kernel asks the machine of tests/machine to fetch."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from machine import imported, launch


@pytest.fixture(scope="module")
def watched():
    """Counts of the addresses that the machine is asked to fetch, by (space, locality); "to write" behind the
    space where they are to be written."""
    found: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)

    def fetch(p, it, number, match):
        pointer, *numbers = it.words[1:]
        writes, locality, _ = (int(p.constants[number][0, 0]) for number in numbers)
        key = f"{match[1]} to write" if writes else match[1], locality
        return lambda w: found[key].update(w.whole(pointer).ravel().tolist())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "_programs", {})  # those that were decoded for others fetch nothing
        patch.delitem(imported.FUNCTIONS, r"llvm\.prefetch\..*")
        patch.setitem(imported.FUNCTIONS, r"llvm\.prefetch\.(.*)", fetch)
        yield found


@pytest.fixture
def fetched(watched):
    """The same, of one test."""
    watched.clear()
    return watched
