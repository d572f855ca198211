"""An OpenCL or Vulkan function from assembly, as the open function of a module: what passes over functions
take."""

from __future__ import annotations

from triton_spirv.spirv import Function, FunctionType, Module, Pointer
from triton_spirv.spirv.decode import Decoded, decode
from triton_spirv.spirv.passes.graph import FUNCTION_END, id_places, instruction
from triton_spirv.tools.process import find, run

#: What every case may use.
PRELUDE = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Float16
OpCapability Int64
OpCapability GroupNonUniformShuffle
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Physical64 OpenCL
OpName %kernel "kernel"
%void = OpTypeVoid
%bool = OpTypeBool
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f16 = OpTypeFloat 16
%f32 = OpTypeFloat 32
%n0 = OpConstant %i32 0
%n1 = OpConstant %i32 1
%n2 = OpConstant %i32 2
%n4 = OpConstant %i32 4
%n8 = OpConstant %i32 8
%n63 = OpConstant %i64 63
%half = OpConstant %f32 0.5
%array = OpTypeArray %i32 %n4
%private_array = OpTypePointer Function %array
%private_i32 = OpTypePointer Function %i32
%floats = OpTypePointer CrossWorkgroup %f32
%ints = OpTypePointer CrossWorkgroup %i32
%type = OpTypeFunction %void %ints %floats %i32 %bool
%kernel = OpFunction %void None %type
%p = OpFunctionParameter %ints
%q = OpFunctionParameter %floats
%n = OpFunctionParameter %i32
%c = OpFunctionParameter %bool
"""


def load(text: str) -> tuple[Module, Function, dict[int, int]]:
    """The blocks of a kernel (%p: ints, %q: floats, %n: i32, %c: bool) behind PRELUDE: the module, its open
    function, and what the numeric ids of the text are there."""
    command = [find("spirv-as"), "--preserve-numeric-ids", "--target-env", "spv1.3", "-", "-o", "-"]
    contents = decode(run(command, (PRELUDE + text + "\nOpFunctionEnd\n").encode()))
    m, ids = Module((1, 3)), dict[int, int]()
    ids |= {id: m.type_id(type) for id, type in contents.types.items()}
    for it in contents.constants.values():
        ids[it.result] = m.constant_bits(contents.types[it.type], it.words[0]).id
    ids |= {id: m.import_set(name) for id, name in contents.sets.items()}
    (body,) = contents.functions
    type = contents.types[body[0].words[1]]
    assert isinstance(type, FunctionType)
    function = m.function("kernel", type.result, type.parameters)
    for it, parameter in zip(body[1:], function.parameters, strict=False):
        ids[it.result] = parameter.id
    code = [it for it in body[1 + len(function.parameters):] if it.instruction.opcode != FUNCTION_END]
    ids |= {it.result: m.new_id() for it in code if it.result and it.name != "OpVariable"}
    for it in code:
        if it.name == "OpVariable":
            pointer = contents.types[it.type]
            assert isinstance(pointer, Pointer)
            ids[it.result] = m.variable(pointer.pointee).id
        else:
            function.instructions.append(_words(it, ids))
        if function.variables_at is None:
            function.variables_at = len(function.instructions)
    return m, function, ids


def _words(it: Decoded, ids: dict[int, int]) -> list[int]:
    head = [ids[id] for id in (it.type, it.result) if id]
    words = instruction(it.name, *head, *it.words)
    for at in id_places(words):
        words[at] = ids[words[at]]
    return words
