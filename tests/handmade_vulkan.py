"""Modules for Vulkan written by hand, so that the runtime is tested without the emitter: vector add with its
arguments pushed, or in a buffer whose address is pushed."""

from __future__ import annotations

from typing import Any

from triton_spirv import Artifact, Parameter
from triton_spirv.tools import process, spirv_tools

ADD = """
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main "add" %push %gid
OpExecutionMode %main LocalSize {threads} 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %arguments Block
OpMemberDecorate %arguments 0 Offset 0
OpMemberDecorate %arguments 1 Offset 8
OpMemberDecorate %arguments 2 Offset 16
OpMemberDecorate %arguments 3 Offset 24
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%float = OpTypeFloat 32
%v3 = OpTypeVector %int 3
%arguments = OpTypeStruct %long %long %long %int
%p_arguments = OpTypePointer {class} %arguments
%p_long_in = OpTypePointer {class} %long
%p_int_in = OpTypePointer {class} %int
%in_v3 = OpTypePointer Input %v3
%p_float = OpTypePointer PhysicalStorageBuffer %float
{types}
%gid = OpVariable %in_v3 Input
%n0 = OpConstant %int 0
%n1 = OpConstant %int 1
%n2 = OpConstant %int 2
%n3 = OpConstant %int 3
%four = OpConstant %long 4
%main = OpFunction %void None %fn
%entry = OpLabel
%g = OpLoad %v3 %gid
%i = OpCompositeExtract %int %g 0
{base}
%px = OpAccessChain %p_long_in %base %n0
%py = OpAccessChain %p_long_in %base %n1
%pz = OpAccessChain %p_long_in %base %n2
%pn = OpAccessChain %p_int_in %base %n3
%x = OpLoad %long %px {aligned8}
%y = OpLoad %long %py {aligned8}
%z = OpLoad %long %pz {aligned8}
%n = OpLoad %int %pn {aligned4}
%inside = OpULessThan %bool %i %n
OpSelectionMerge %end None
OpBranchConditional %inside %work %end
%work = OpLabel
%wide = OpUConvert %long %i
%off = OpIMul %long %wide %four
%ax = OpIAdd %long %x %off
%ay = OpIAdd %long %y %off
%az = OpIAdd %long %z %off
%qx = OpConvertUToPtr %p_float %ax
%qy = OpConvertUToPtr %p_float %ay
%qz = OpConvertUToPtr %p_float %az
%vx = OpLoad %float %qx Aligned 4
%vy = OpLoad %float %qy Aligned 4
%sum = OpFAdd %float %vx %vy
OpStore %qz %sum Aligned 4
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""
PUSH = {"class": "PushConstant", "decorations": "", "types": "%push = OpVariable %p_arguments PushConstant",
        "base": "%base = OpCopyObject %p_arguments %push", "aligned8": "", "aligned4": ""}
BUFFER = {"class": "PhysicalStorageBuffer",
          "decorations": "OpDecorate %address Block\nOpMemberDecorate %address 0 Offset 0",
          "types": "%address = OpTypeStruct %long\n%p_address = OpTypePointer PushConstant %address\n"
                   "%p_long_push = OpTypePointer PushConstant %long\n"
                   "%push = OpVariable %p_address PushConstant",
          "base": "%pa = OpAccessChain %p_long_push %push %n0\n%a = OpLoad %long %pa\n"
                  "%base = OpConvertUToPtr %p_arguments %a", "aligned8": "Aligned 8", "aligned4": "Aligned 4"}


def assembled(text: str) -> bytes:
    """The words of a listing, valid for Vulkan 1.2."""
    command = [process.find("spirv-as"), "--target-env", "vulkan1.2", "-", "-o", "-"]
    words = process.run(command, text.encode())
    spirv_tools.validate(words, "vulkan1.2")
    return words


def vector_add(passing: str = "push", threads: int = 64, **changes: Any) -> Artifact:
    """z[i] = x[i] + y[i] for i < n; parameters x, y, z, n."""
    form = PUSH if passing == "push" else BUFFER
    words = assembled(ADD.format(threads=threads, **form))
    parameters = tuple(Parameter(name, kind) for name, kind in
                       [("x", "ptr"), ("y", "ptr"), ("z", "ptr"), ("n", "i32")])
    facts: dict[str, Any] = {"passing": passing, "written": (False, False, True, False),
                             "local_size": (threads, 1, 1), "sub_group_size": 1}
    return Artifact(words, "add", parameters, **(facts | changes))
