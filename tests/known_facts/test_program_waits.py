"""facts/program_waits.py: which kernels need more than one worker to be sure to end."""

from __future__ import annotations

import pytest
from triton_spirv.facts.program_waits import waits
from triton_spirv.ir import parse

POLL = "%d = tt.atomic_poll acquire, gpu, %a, %i : !tt.ptr<i32>, i32 -> i1"
SWAP = "%o = tt.atomic_cas acquire, gpu, %a, %i, %n : (!tt.ptr<i32>, i32, i32) -> i32"
LOAD = "%o = tt.load %a : !tt.ptr<i32>"
VOLATILE = "%o = tt.load %a {isVolatile = true} : !tt.ptr<i32>"
CALL = "%o = tt.call @helper(%a) : (!tt.ptr<i32>) -> i32"
WHILE = """
    scf.while : () -> () {{
      {0}
      %c = arith.cmpi eq, %o, %n : i32
      scf.condition(%c)
    }} do {{
      scf.yield
    }}"""
FOR = """
    scf.for %k = %i to %n step %i : i32 {{
      {0}
    }}"""
HELPER = """
  tt.func private @helper(%a: !tt.ptr<i32>) -> i32 {{
    %i = arith.constant 1 : i32
    {0}
    tt.return %o : i32
  }}"""


@pytest.mark.parametrize(("body", "helper", "wanted"), [
    (LOAD, "", False), (SWAP, "", False), (VOLATILE, "", False), (POLL, "", True),
    (WHILE.format(LOAD), "", False), (WHILE.format(SWAP), "", True), (WHILE.format(VOLATILE), "", True),
    (FOR.format(SWAP), "", False), (FOR.format(POLL), "", True),
    (WHILE.format(CALL), VOLATILE, True), (WHILE.format(CALL), LOAD, False), (CALL, VOLATILE, False),
])
def test_who_waits(body: str, helper: str, wanted: bool) -> None:
    text = f"""module {{{HELPER.format(helper) if helper else ""}
  tt.func public @kernel(%a: !tt.ptr<i32>, %n: i32) {{
    %i = arith.constant 1 : i32
    {body}
    tt.return
  }}
}}
"""
    assert waits(parse(text)) == wanted
