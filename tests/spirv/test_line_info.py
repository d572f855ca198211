"""Debugging information that is made of OpLine: valid, and the module without it is the one from before."""

from __future__ import annotations

from array import array

import pytest
import triton_spirv
from triton_spirv.spirv import line_info
from triton_spirv.spirv.operands import opcode
from triton_spirv.tools import spirv_tools

KERNEL = """
module {
  tt.func private @helper(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32 loc("other.py":3:5)
    tt.return %y : f32 loc("other.py":4:5)
  }
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = tt.load %p : !tt.ptr<f32> loc("/home/me/kernel.py":7:9)
    %r = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (f32) : i32 {
      %t = tt.call @helper(%s) : (f32) -> f32 loc("/home/me/kernel.py":9:9)
      %u = arith.mulf %t, %x : f32 loc("/home/me/kernel.py":6:9)
      scf.yield %u : f32
    } loc("/home/me/kernel.py":8:5)
    tt.store %p, %r : !tt.ptr<f32> loc("/home/me/kernel.py":10:5)
    tt.return
  }
}
"""


def instructions(words: bytes) -> list[list[int]]:
    return list(line_info._instructions(array("I", words)))


def without(words: bytes) -> list[list[int]]:
    """The instructions of a module without its debugging information."""
    code, string, imports = opcode("OpExtInst"), opcode("OpString"), opcode("OpExtInstImport")
    everything = instructions(words)
    added = next(it[1] for it in everything if it[0] & 0xFFFF == imports
                 and line_info._read(it[2:]) == line_info.SET)
    named = {it[5] for it in everything if it[0] & 0xFFFF == code and it[3:5] == [added, line_info.FUNCTION]}
    return [it for it in everything
            if not ((it[0] & 0xFFFF == code and it[3] == added)
                    or (it[0] & 0xFFFF in (imports, string) and it[1] in {added, *named}))]


@pytest.mark.parametrize("target", ["cpu", "cpu-simt"])
def test_only_debugging_information_is_added(target: str) -> None:
    lanes = '"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32'
    text = KERNEL.replace("module {", f"module attributes {{{lanes}}} {{")
    words = triton_spirv.compile(text if target == "cpu-simt" else KERNEL, target).words
    made = line_info.with_line_info(words)
    spirv_tools.validate(made)
    assert without(made) == instructions(words)
    assert set(line_info.files(words)) == {"/home/me/kernel.py", "other.py"}


def test_the_scope_follows_the_file() -> None:
    """Lines of an inlined function of another file stand in a scope of that file."""
    made = instructions(line_info.with_line_info(triton_spirv.compile(KERNEL).words))
    numbers = {it[2]: it for it in made if it[0] & 0xFFFF == opcode("OpExtInst")}
    strings = {it[1]: line_info._read(it[2:]) for it in made if it[0] & 0xFFFF == opcode("OpString")}
    files = {it[1] for it in made if it[0] & 0xFFFF == opcode("OpLine")}
    assert len(files) == 2
    scope, seen = "", set()
    for it in made:
        if it[0] & 0xFFFF == opcode("OpLabel"):
            scope = ""
        elif it[0] & 0xFFFF == opcode("OpExtInst") and it[4] == line_info.SCOPE:
            where = numbers[it[5]]
            source = where[7] if where[4] == line_info.FUNCTION else where[5]
            scope = strings[numbers[source][5]]
        elif it[0] & 0xFFFF == opcode("OpLine"):
            assert scope == strings[it[1]]
            seen.add(scope)
    assert seen == {"/home/me/kernel.py", "other.py"}
    function = next(it for it in numbers.values() if it[4] == line_info.FUNCTION)
    assert function[8:10] == [6, 9]  # the first line of its file


def test_a_module_without_lines_stays() -> None:
    words = triton_spirv.compile("module {\n tt.func public @k(%p: !tt.ptr<f32>) {\n tt.return\n }\n}").words
    kept = [it for it in instructions(words) if it[0] & 0xFFFF not in (opcode("OpLine"), opcode("OpNoLine"))]
    plain = array("I", words)[:5].tobytes() + array("I", (w for it in kept for w in it)).tobytes()
    assert line_info.with_line_info(plain) == plain
