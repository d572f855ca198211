"""The listing: made for reading, the same every time, and little changed by what is put in elsewhere."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import pytest
from spirv.building import I32, kernel, new_module
from triton_spirv.spirv import Array, Bool, Float, For, Int, Module, Pointer, Vector, if_, listing
from triton_spirv.spirv.asm import scalar_text

F32 = Float(32)


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    column: int = 1


def _example(extra: bool = False) -> Module:
    m = new_module()
    global_f32 = Pointer("CrossWorkgroup", F32)
    with kernel(m, [global_f32, I32], name="total") as function:
        pointer, count = function.parameters
        m.name(pointer, "x_ptr")
        m.decorate(pointer, "FuncParamAttr", "NoAlias")
        m.location = Place("/home/me/total.py", 7)
        if extra:
            m.emit("OpStore", pointer, m.constant(F32, 4.5), ("Aligned", 4))
        loop = For(m, m.constant(I32, 0), count, m.constant(I32, 1), [m.constant(F32, 0)])
        with loop:
            m.location = Place("/home/me/total.py", 8)
            element = m.emit("OpInBoundsPtrAccessChain", pointer, loop.index, type=global_f32)
            x = m.emit("OpLoad", element, ("Aligned", 4), type=F32)
            loop.yield_([m.emit("OpFAdd", loop.carried[0], x, type=F32)])
        is_empty = m.emit("OpIEqual", count, m.constant(I32, 0), type=Bool())
        with if_(m, is_empty):
            m.ext("OpenCL.std", "printf", m.emit("OpBitcast", m.text("none\n"), type=_TEXT), type=I32)
        m.emit("OpStore", pointer, loop.results[0], ("Aligned", 4))
    m.execution_mode(function, "LocalSize", 1, 1, 1)
    return m


_TEXT = Pointer("UniformConstant", Int(8))

EXPECTED = r"""
; SPIR-V 1.2, Physical64 OpenCL
; Capability Addresses, Int8, Kernel

%var = OpVariable ptr<UniformConstant, [6 x i8]> UniformConstant "none\n"  {Constant}

kernel %total(%x_ptr: ptr<CrossWorkgroup, f32>  {FuncParamAttr NoAlias}, %arg: i32)  {LocalSize 1 1 1}
%entry:
    ; total.py:7
    OpBranch %loop
%loop:
    %phi = OpPhi i32 [0, %entry] [%iadd, %continue]
    %phi_1 = OpPhi f32 [0.0, %entry] [%fadd, %continue]
    %slessthan = OpSLessThan bool %phi %arg
    OpLoopMerge %after %continue None
    OpBranchConditional %slessthan %body %after
%body:
    ; total.py:8
    %chain = OpInBoundsPtrAccessChain ptr<CrossWorkgroup, f32> %x_ptr %phi
    %load = OpLoad f32 %chain Aligned 4
    %fadd = OpFAdd f32 %phi_1 %load
    OpBranch %continue
%continue:
    %iadd = OpIAdd i32 %phi 1
    OpBranch %loop
%after:
    %iequal = OpIEqual bool %arg 0
    OpSelectionMerge %endif None
    OpBranchConditional %iequal %then %endif
%then:
    %bitcast = OpBitcast ptr<UniformConstant, i8> %var
    %printf = OpExtInst i32 OpenCL.std printf %bitcast
    OpBranch %endif
%endif:
    OpStore %x_ptr %phi_1 Aligned 4
    OpReturn
"""


def test_a_listing_reads_like_this() -> None:
    assert listing(_example()) == EXPECTED.lstrip("\n")


def test_a_listing_is_made_of_the_words_alone() -> None:
    assert listing(_example().words()) == listing(_example())


def test_an_insertion_changes_no_other_line() -> None:
    before, after = (listing(_example(extra)).splitlines() for extra in (False, True))
    changes = [line for line in difflib.ndiff(before, after) if line[0] != " "]
    assert changes == ["+     OpStore %x_ptr 4.5 Aligned 4"]


@pytest.mark.parametrize(("type", "bits", "text"), [
    (I32, 0xFFFFFFFF, "-1"), (Bool(), 1, "true"), (F32, 0x3DCCCCCD, "0.1"), (F32, 0x80000000, "-0.0"),
    (F32, 0x7F800000, "inf"), (F32, 0x7FC00000, "nan"), (F32, 0x7FC00001, "f32:0x7fc00001"),
    (Float(16), 0x2E66, "0.1"), (Float(64), 0x3FB999999999999A, "0.1"), (F32, 1, "1e-45"),
    (Float(16, "BFloat16KHR"), 0x3DCD, "0.1"), (Float(8, "Float8E4M3EXT"), 0x38, "f8(Float8E4M3EXT):0x38"),
], ids=str)
def test_constants_are_the_shortest_text_that_reads_back(type: Int | Float, bits: int, text: str) -> None:
    assert scalar_text(type, bits) == text


def test_composites() -> None:
    m = new_module()
    with kernel(m):
        for type, value in ((Vector(F32, 4), 1), (Vector(F32, 2), (1, 2)), (Array(I32, 2), (1, 2)),
                            (Array(Int(8), 3), (1, 2, 3))):
            m.emit("OpStore", m.variable(type), m.constant(type, value))
        m.emit("OpStore", m.variable(F32), m.undef(F32))
    stores = [line.split(maxsplit=2)[2] for line in listing(m).splitlines() if "OpStore" in line]
    assert stores == ["splat(1.0)", "(1.0, 2.0)", "(1, 2)", "(1, 2, 3)", "undef"]


def test_scopes_and_semantics_have_their_names() -> None:
    m = new_module()
    with kernel(m):
        m.emit("OpMemoryBarrier", "Device", ["SequentiallyConsistent", "CrossWorkgroupMemory"])
    assert "OpMemoryBarrier Device SequentiallyConsistent|CrossWorkgroupMemory" in listing(m)


def test_what_is_not_spirv_is_refused() -> None:
    with pytest.raises(ValueError, match="not a SPIR-V module"):
        listing(b"\0" * 40)
