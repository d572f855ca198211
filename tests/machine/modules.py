"""Modules written by hand for the machine's own tests."""

from __future__ import annotations

from functools import cache

from handmade import assemble

OPENCL = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpCapability Int8
OpCapability Vector16
OpCapability SubgroupDispatch
OpCapability GroupNonUniform
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformArithmetic
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %in_lane %in_warp %in_group
OpExecutionMode %main LocalSize {items} 1 1
OpExecutionMode %main SubgroupSize {lanes}
OpDecorate %in_lane BuiltIn SubgroupLocalInvocationId
OpDecorate %in_warp BuiltIn SubgroupId
OpDecorate %in_group BuiltIn WorkgroupId
OpDecorate %shared Alignment 16
%void = OpTypeVoid
%bool = OpTypeBool
%i8 = OpTypeInt 8 0
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%v2 = OpTypeVector %i32 2
%v3 = OpTypeVector %i64 3
%true = OpConstantTrue %bool
{constants}
%subgroup = OpConstant %i32 3
%workgroup = OpConstant %i32 2
%device = OpConstant %i32 1
%relaxed = OpConstant %i32 0
%on_shared = OpConstant %i32 264
%on_global = OpConstant %i32 520
%on_both = OpConstant %i32 776
%acquire = OpConstant %i32 514
%release = OpConstant %i32 516
%words = OpConstant %i32 {words}
%array = OpTypeArray %i32 %words
%p_array = OpTypePointer Workgroup %array
%p_shared = OpTypePointer Workgroup %i32
%p_shared2 = OpTypePointer Workgroup %v2
%four = OpConstant %i32 4
%own = OpTypeArray %i32 %four
%p_own = OpTypePointer Function %own
%p_private = OpTypePointer Function %i32
%p_global = OpTypePointer CrossWorkgroup %i32
%p_global2 = OpTypePointer CrossWorkgroup %v2
%input = OpTypePointer Input %i32
%input3 = OpTypePointer Input %v3
%type = OpTypeFunction %void {parameter_types}
%shared = OpVariable %p_array Workgroup
%in_lane = OpVariable %input Input
%in_warp = OpVariable %input Input
%in_group = OpVariable %input3 Input
%main = OpFunction %void None %type
{parameters}
%entry = OpLabel
%held = OpVariable %p_own Function
%lane = OpLoad %i32 %in_lane
%warp = OpLoad %i32 %in_warp
%groups = OpLoad %v3 %in_group
%group64 = OpCompositeExtract %i64 %groups 0
%group = OpUConvert %i32 %group64
%base = OpIMul %i32 %warp %c{lanes}
%item = OpIAdd %i32 %base %lane
{body}
OpReturn
OpFunctionEnd
"""

#: numbers that bodies may use, as %c0 ...
NUMBERS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 32, 31, 63, 100)


@cache
def opencl(body: str, pointers: int = 1, warps: int = 1, lanes: int = 8, words: int = 64) -> bytes:
    """A kernel of `pointers` arrays of i32, %a0 ... The body may use %lane, %warp, %item, %group, %shared
    (`words` i32), %held (4 private i32), and numbers as %c5."""
    constants = "\n".join(f"%c{n} = OpConstant %i32 {n}" for n in NUMBERS)
    return assemble(OPENCL.format(
        items=warps * lanes, lanes=lanes, words=words, constants=constants, body=body,
        parameter_types=" ".join(["%p_global"] * pointers),
        parameters="\n".join(f"%a{i} = OpFunctionParameter %p_global" for i in range(pointers))), "spv1.3")
