"""tools/count_calls.py: compiling costs no more calls than it did."""

from __future__ import annotations

import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "count_calls.py"))

#: 19,928 on 27 November 2026, of which a thousand ask whether vectors of a mask are false altogether, and
#: what of a product is left out, and 1,800 take masked vectors apart, as for processors without registers of
#: masks: a twentieth of room for what features take. Whoever needs more says why.
MOST = 20_900


def test_a_load_and_its_store_take_no_more_calls() -> None:
    found = TOOL["cost"]()
    assert found.calls <= MOST
    assert {"memory/load.py", "memory/store.py", "addresses/masks.py"} <= found.files
