"""Cases of passes: IR above, below what one pass makes of it.

    python -m tests.passes.update [PART ...]    writes the lower halves anew; read `git diff` then

A file in cases/ begins with comments, one of which names pass and target:
`// pass: fetch-ahead lavapipe`, with changed fields of the target behind that.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from triton_spirv.ir import parse
from triton_spirv.ir.printer import print_module
from triton_spirv.passes.pipeline import PASSES
from triton_spirv.passes.verify import read_back, verify
from triton_spirv.target import find_target

sys.path.insert(0, str(Path(__file__).parents[1]))
from texts import Cases


def made(source: str) -> str:
    """What the pass makes of the source today; it is verified."""
    found = re.search(r"^// pass: (\S+) (\S+)((?: \S+=\d+)*)$", source, re.M)
    assert found is not None, source
    name, target, changes = found.groups()
    fields = {key: int(value) for key, value in (word.split("=") for word in changes.split())}
    module = parse(source)
    one = next(each for each in PASSES if each.name == name)
    warps = int(module.attributes.get("ttg.num-warps", 1))
    one.run(module, find_target(target).with_options(**fields), warps)
    verify(module, name)
    read_back(module, name, not one.mixes_layouts)
    return print_module(module, locations=False)


cases = Cases(Path(__file__).parent / "cases", "*.mlir", "// ---- becomes\n", made)

if __name__ == "__main__":
    cases.update(*sys.argv[1:])
