"""Cases of facts: IR above, below what is known of its values.

    python -m tests.known_facts.update [PART ...]    writes the lower halves anew; read `git diff` then
"""

from __future__ import annotations

import sys
from pathlib import Path

from triton_spirv.facts.listing import described
from triton_spirv.ir import parse

sys.path.insert(0, str(Path(__file__).parents[1]))
from texts import Cases


def made(source: str) -> str:
    """What is known of the source today."""
    return described(parse(source))


cases = Cases(Path(__file__).parent / "cases", "*.mlir", "// ---- known\n", made)

if __name__ == "__main__":
    cases.update(*sys.argv[1:])
