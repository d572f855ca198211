"""Kernels written by hand in SPIR-V assembly, so that the runtime is tested without the emitter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from triton_spirv import Artifact, Parameter
from triton_spirv.runtime import devices, launch, program
from triton_spirv.tools import process

#: out[program] = x[program] + y[program] * scale; all parameters in one struct, pointers as 64-bit addresses
SCALED_ADD = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "scaled_add" %id
OpDecorate %id BuiltIn WorkgroupId
OpDecorate %id Constant
OpDecorate %args FuncParamAttr ByVal
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %u64 3
%input = OpTypePointer Input %v3
%global = OpTypePointer CrossWorkgroup %f32
%struct = OpTypeStruct %u64 %u64 %u64 %f32
%byval = OpTypePointer Function %struct
%address = OpTypePointer Function %u64
%number = OpTypePointer Function %f32
%type = OpTypeFunction %void %byval
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%id = OpVariable %input Input
%main = OpFunction %void None %type
%args = OpFunctionParameter %byval
%entry = OpLabel
%ids = OpLoad %v3 %id
%i = OpCompositeExtract %u64 %ids 0
%xp = OpInBoundsPtrAccessChain %address %args %c0 %c0
%yp = OpInBoundsPtrAccessChain %address %args %c0 %c1
%op = OpInBoundsPtrAccessChain %address %args %c0 %c2
%sp = OpInBoundsPtrAccessChain %number %args %c0 %c3
%xa = OpLoad %u64 %xp Aligned 8
%ya = OpLoad %u64 %yp Aligned 8
%oa = OpLoad %u64 %op Aligned 8
%scale = OpLoad %f32 %sp Aligned 4
%x = OpConvertUToPtr %global %xa
%y = OpConvertUToPtr %global %ya
%o = OpConvertUToPtr %global %oa
%xi = OpInBoundsPtrAccessChain %global %x %i
%yi = OpInBoundsPtrAccessChain %global %y %i
%oi = OpInBoundsPtrAccessChain %global %o %i
%xv = OpLoad %f32 %xi Aligned 4
%yv = OpLoad %f32 %yi Aligned 4
%p = OpFMul %f32 %yv %scale
%s = OpFAdd %f32 %xv %p
OpStore %oi %s Aligned 4
OpReturn
OpFunctionEnd
"""

#: the same with one kernel argument for each parameter
SCALED_ADD_ARGUMENTS = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "scaled_add" %id
OpDecorate %id BuiltIn WorkgroupId
OpDecorate %id Constant
%void = OpTypeVoid
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %u64 3
%input = OpTypePointer Input %v3
%global = OpTypePointer CrossWorkgroup %f32
%type = OpTypeFunction %void %global %global %global %f32
%id = OpVariable %input Input
%main = OpFunction %void None %type
%x = OpFunctionParameter %global
%y = OpFunctionParameter %global
%o = OpFunctionParameter %global
%scale = OpFunctionParameter %f32
%entry = OpLabel
%ids = OpLoad %v3 %id
%i = OpCompositeExtract %u64 %ids 0
%xi = OpInBoundsPtrAccessChain %global %x %i
%yi = OpInBoundsPtrAccessChain %global %y %i
%oi = OpInBoundsPtrAccessChain %global %o %i
%xv = OpLoad %f32 %xi Aligned 4
%yv = OpLoad %f32 %yi Aligned 4
%p = OpFMul %f32 %yv %scale
%s = OpFAdd %f32 %xv %p
OpStore %oi %s Aligned 4
OpReturn
OpFunctionEnd
"""


def store_assembly(kind: str, width: str) -> str:
    """A kernel that stores its second parameter, of SPIR-V type `kind`, through its first: struct {u64
    pointer; kind value}."""
    return f"""
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpCapability Int8
OpCapability Int16
OpCapability Float16
OpCapability Float64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "store"
OpDecorate %args FuncParamAttr ByVal
%void = OpTypeVoid
%index = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
{f'%value = {kind}' if kind not in ('OpTypeInt 32 0', 'OpTypeInt 64 0') else ''}
%global = OpTypePointer CrossWorkgroup %VALUE
%struct = OpTypeStruct %u64 %VALUE
%byval = OpTypePointer Function %struct
%address = OpTypePointer Function %u64
%field = OpTypePointer Function %VALUE
%type = OpTypeFunction %void %byval
%c0 = OpConstant %index 0
%c1 = OpConstant %index 1
%main = OpFunction %void None %type
%args = OpFunctionParameter %byval
%entry = OpLabel
%pp = OpInBoundsPtrAccessChain %address %args %c0 %c0
%vp = OpInBoundsPtrAccessChain %field %args %c0 %c1
%p = OpLoad %u64 %pp Aligned 8
%v = OpLoad %VALUE %vp Aligned {width}
%o = OpConvertUToPtr %global %p
OpStore %o %v Aligned {width}
OpReturn
OpFunctionEnd
""".replace("%VALUE", {"OpTypeInt 32 0": "%index", "OpTypeInt 64 0": "%u64"}.get(kind, "%value"))


#: error word (the hidden second member) = 2
ASSERTING = store_assembly("OpTypeInt 64 0", "8").replace("%v = OpLoad %u64 %vp Aligned 8\n", "").replace(
    "%o = OpConvertUToPtr %global %p\nOpStore %o %v Aligned 8",
    "%ep = OpLoad %u64 %vp Aligned 8\n%o = OpConvertUToPtr %word %ep\nOpStore %o %two Aligned 4").replace(
    "%c1 = OpConstant %index 1", "%c1 = OpConstant %index 1\n%two = OpConstant %index 2\n"
    "%word = OpTypePointer CrossWorkgroup %index")


def assemble(text: str, environment: str = "spv1.2") -> bytes:
    """The words of an assembly text, by the assembler of SPIR-V Tools."""
    return process.run([process.find("spirv-as"), "--target-env", environment, "-o", "-", "-"], text.encode())


STORED: dict[str, tuple[str, str]] = {
    "i1": ("OpTypeInt 8 0", "1"),
    "i8": ("OpTypeInt 8 0", "1"),
    "i16": ("OpTypeInt 16 0", "2"),
    "i32": ("OpTypeInt 32 0", "4"),
    "i64": ("OpTypeInt 64 0", "8"),
    "f16": ("OpTypeFloat 16", "2"),
    "bf16": ("OpTypeInt 16 0", "2"),
    "f32": ("OpTypeFloat 32", "4"),
    "f64": ("OpTypeFloat 64", "8"),
}


def artifact(words: bytes, entry: str, parameters: list[tuple[str, str]], **facts: Any) -> Artifact:
    """An artifact without a listing; parameters are (name, type), passed as one struct."""
    described = tuple(Parameter(name, type) for name, type in parameters)
    facts = {"passing": "struct", "written": (True,) * len(described), **facts}
    return Artifact(words, entry, described, **facts)


def scaled_add(passing: str = "struct", **facts: Any) -> Artifact:
    """out[i] = x[i] + y[i] * scale for each program i."""
    words = assemble(SCALED_ADD if passing == "struct" else SCALED_ADD_ARGUMENTS)
    parameters = [("x", "ptr"), ("y", "ptr"), ("out", "ptr"), ("scale", "f32")]
    facts = {"written": (False, False, True, False), **facts}
    return artifact(words, "scaled_add", parameters, passing=passing, **facts)


def scaled_add_by_array(kilobytes: int) -> Artifact:
    """The same, where each y goes through the last word of a private array of that size."""
    text = SCALED_ADD
    for line, more in (
            ("%c0 = OpConstant %u32 0", f"""
%words = OpConstant %u64 {kilobytes << 8}
%last = OpConstant %u64 {(kilobytes << 8) - 1}
%array = OpTypeArray %f32 %words
%private = OpTypePointer Function %array"""),
            ("%entry = OpLabel", """
%held = OpVariable %private Function"""),
            ("%yv = OpLoad %f32 %yi Aligned 4", """
%place = OpInBoundsAccessChain %number %held %last
OpStore %place %yv Volatile|Aligned 4
%again = OpLoad %f32 %place Volatile|Aligned 4""")):
        assert text.count(f"{line}\n") == 1
        text = text.replace(f"{line}\n", f"{line}{more}\n")
    words = assemble(text.replace("OpFMul %f32 %yv", "OpFMul %f32 %again"))
    return replace(scaled_add(), words=words, private_bytes=kilobytes << 10)


def store(kind: str) -> Artifact:
    """*pointer = value, of the parameter type `kind`."""
    words = assemble(store_assembly(*STORED[kind]))
    return artifact(words, "store", [("pointer", "ptr"), ("value", kind)], written=(True, False))


def asserting() -> Artifact:
    """A kernel whose second assertion always fails."""
    records = (("a.py", 1, "f", "unused", ()), ("kernel.py", 12, "checked", "x must be positive", ()))
    words = assemble(ASSERTING)
    return artifact(words, "store", [("pointer", "ptr")], hidden=("assert_buffer",), asserts=records)


def bind(made: Artifact, choice: str | None = None) -> launch.Kernel:
    """The kernel on a device, ready to launch; None: the one that launches take."""
    context = devices.open_device(devices.choose(devices.selection() if choice is None else choice))
    return launch.Kernel(context, program.build(context, made.words, made.entry), made)


def bind_vulkan(made: Artifact, device: Any) -> Any:
    """The same on a device of Vulkan's."""
    from triton_spirv.runtime.vulkan import context, launch, program

    return launch.Kernel(program.build(context.open_device(device), made.words, made))
