"""The builder: its words validate, needs follow from use, mistakes are refused where they are made."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from spirv.building import I32, assert_valid, kernel, new_module
from triton_spirv.errors import MissingCapability
from triton_spirv.spirv import (
    Array,
    Bool,
    Float,
    Int,
    Module,
    Opaque,
    Pointer,
    Struct,
    Type,
    Vector,
    Void,
    listing,
)
from triton_spirv.spirv.control import IfElse
from triton_spirv.tools import disassemble

F32, F32x16 = Float(32), Vector(Float(32), 16)
GLOBAL_F32 = Pointer("CrossWorkgroup", F32)


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    column: int


def test_a_kernel_of_everything_validates() -> None:
    m = new_module()
    helper = m.function("twice", F32, [F32], control="Inline")
    m.begin(m.label())
    m.emit("OpReturnValue", m.emit("OpFAdd", *helper.parameters * 2, type=F32))
    m.end_function()
    with kernel(m, [Pointer("CrossWorkgroup", F32x16), F32]) as function:
        pointer, factor = function.parameters
        m.location = Place("/home/me/kernel.py", 3, 7)
        x = m.emit("OpLoad", pointer, ("Aligned", 64), type=F32x16)
        y = m.ext("OpenCL.std", "fma", x, m.constant(F32x16, 2), x, type=F32x16)
        m.decorate(y, "FPFastMathMode", ["NotNaN", "NotInf"])
        first = m.emit("OpCompositeExtract", y, 0, type=F32)
        doubled = m.emit("OpFunctionCall", helper.value, first, type=F32)
        m.location = Place("/home/me/kernel.py", 4, 7)
        m.emit("OpControlBarrier", "Workgroup", "Workgroup", ["AcquireRelease", "WorkgroupMemory"])
        total = m.emit("OpFMul", doubled, factor, type=F32)
        z = m.emit("OpCompositeInsert", total, y, 0, type=F32x16)
        m.emit("OpStore", pointer, z, ["Volatile", ("Aligned", 64)])
        shuffled = m.emit("OpVectorShuffle", y, y, 0, 17, 2, 19, type=Vector(F32, 4))
        m.ext("OpenCL.std", "vstoren", shuffled, m.constant(Int(64), 0), _bitcast(m, pointer), type=Void())
    m.execution_mode(function, "SubgroupSize", 16)
    m.decorate(function.parameters[0], "Alignment", 64)
    m.name(pointer, "pointer")
    assert_valid(m)


def test_a_function_that_is_left_unoptimised() -> None:
    m = new_module()
    with kernel(m) as function:
        m.variable(I32)
    before = len(function.body())
    m.leave_unoptimised(function)
    assert_valid(m)
    assert len(function.body()) == before
    text = disassemble(m.words())
    assert "OpCapability OptNoneEXT" in text and "OpFunction %void OptNoneEXT" in text


def test_words_can_be_made_twice() -> None:
    m = new_module()
    with kernel(m):
        m.variable(I32)
    assert m.words() == m.words()


def test_variables_and_phis_go_to_the_head_of_their_block() -> None:
    m = new_module()
    with kernel(m) as function:
        entry = m.block
        other = m.label()
        m.emit("OpBranch", other)
        m.begin(other)
        one = m.constant(I32, 1)
        late = m.emit("OpIAdd", one, one, type=I32)
        variable = m.variable(I32, one)
        m.emit("OpStore", variable, late)
        phi = m.phi(I32)
        m.add_incoming(phi, one, entry)
    assert_valid(m)
    heads = [line.split()[0] for line in listing(m).splitlines() if line]
    assert heads[3:] == ["%entry:", "%var", "OpBranch", "%block:", "%phi", "%iadd", "OpStore", "OpReturn"]
    assert function.instructions and m.instruction_count == len(function.body())


def test_what_is_emitted_at_the_entry_serves_every_block() -> None:
    m = new_module()
    with kernel(m):
        variable = m.variable(I32)
        condition = m.emit("OpIEqual", m.constant(I32, 1), m.constant(I32, 2), type=Bool())
        branch = IfElse(m, condition)
        with branch.then():
            with m.at_entry():
                early = m.emit("OpLoad", variable, type=I32)
            branch.yield_([])
        with branch.otherwise():
            m.emit("OpStore", variable, early)    # made while another arm was open
            branch.yield_([])
    assert_valid(m)
    heads = [line.split()[0] for line in listing(m).splitlines() if line]
    assert heads[3:7] == ["%entry:", "%var", "%load", "%iequal"]
    with pytest.raises(RuntimeError, match="needs a function"), m.at_entry():
        pass


def test_lines_are_written_where_they_change_and_in_every_block() -> None:
    m = new_module()
    with kernel(m):
        one = m.constant(I32, 1)
        m.location = Place("a.py", 1, 1)
        m.emit("OpIAdd", one, one, type=I32)
        m.location = Place("a.py", 1, 1)
        m.emit("OpIAdd", one, one, type=I32)
        label = m.label()
        m.emit("OpBranch", label)
        m.begin(label)
        m.emit("OpIAdd", one, one, type=I32)
        m.location = None
    assert_valid(m)
    text = disassemble(m.words())
    assert text.count("OpLine") == 2 and text.count("OpNoLine") == 1 and text.count("OpString") == 1


def test_what_is_asked_for_twice_is_there_once() -> None:
    m = new_module()
    with kernel(m, [F32]) as function:
        for _ in range(2):
            m.decorate(function.parameters[0], "FuncParamAttr", "NoCapture")
            m.execution_mode(function, "LocalSize", 8, 1, 1)
            m.builtin("GlobalInvocationId", Vector(Int(64), 3))
            assert m.import_function("f", F32, [F32]) is m.import_function("f", F32, [F32])
            m.ext("OpenCL.std", "exp", function.parameters[0], type=F32)
    text = disassemble(m.words())
    for once in ("NoCapture", "OpExecutionMode ", "BuiltIn", "Import\n", "OpExtInstImport", "OpTypeVoid"):
        assert text.count(once) == 1, once
    with pytest.raises(TypeError, match="f is imported already, as f32 "):
        m.import_function("f", I32, [F32])


def test_imports_and_exports() -> None:
    m = new_module()
    callee = m.import_function("__devicelib_expf", F32, [F32])
    function = m.function("f", F32, [F32])
    m.begin(m.label())
    m.emit("OpReturnValue", m.emit("OpFunctionCall", callee, function.parameters[0], type=F32))
    m.end_function()
    m.export(function)
    assert_valid(m)
    text = listing(m)
    assert 'import f32 %__devicelib_expf(%arg: f32)  {LinkageAttributes "__devicelib_expf" Import}' in text


@pytest.mark.parametrize("width", [32, 64])
def test_switch_literals_are_as_wide_as_the_selector(width: int) -> None:
    m = new_module()
    with kernel(m, [Int(width)]) as function:
        case, default, merge = m.label(), m.label(), m.label()
        m.emit("OpSelectionMerge", merge, "None")
        m.emit("OpSwitch", function.parameters[0], default, (-1, case), (7, case))
        for label in (case, default):
            m.begin(label)
            m.emit("OpBranch", merge)
        m.begin(merge)
    assert_valid(m)
    assert f"OpSwitch %arg %block_1 [{2**width - 1}, %block] [7, %block]" in listing(m)


def test_masks_put_parameters_in_the_order_of_their_bits() -> None:
    m = new_module()
    with kernel(m, [Pointer("CrossWorkgroup", I32)]) as function:
        m.emit("OpLoad", function.parameters[0], [("Aligned", 4), "Nontemporal", "Volatile"], type=I32)
    assert_valid(m)
    assert "Volatile|Aligned|Nontemporal 4" in disassemble(m.words())


# Capabilities

@pytest.mark.parametrize(("type", "capability"), [
    (Int(8), "Int8"), (Int(64), "Int64"), (Float(16), "Float16"), (Float(64), "Float64"),
    (F32x16, "Vector16"), (Pointer("Generic", F32), "GenericPointer"),
    (Float(16, "BFloat16KHR"), "BFloat16TypeKHR"), (Vector(GLOBAL_F32, 4), "MaskedGatherScatterINTEL"),
], ids=str)
def test_types_bring_their_capabilities(type: Type, capability: str) -> None:
    m = new_module()
    m.type_id(type)
    assert m.requirements.has(capability)
    message = f"needs the capability {capability}; the target has Addresses, Kernel"
    with pytest.raises(MissingCapability, match=message):
        new_module(capabilities=["Kernel", "Addresses"]).type_id(type)


def test_a_capability_for_storage_is_enough_if_it_is_asked_for() -> None:
    m = new_module(capabilities=["Kernel", "Addresses", "Float16Buffer"])
    m.require("Float16Buffer")
    with kernel(m, [Pointer("CrossWorkgroup", Float(16))]):
        pass
    assert_valid(m)


@pytest.mark.parametrize("width", [32, 64])
def test_float_atomics_need_the_capability_of_their_width(width: int) -> None:
    m = new_module()
    type = Float(width)
    with kernel(m, [Pointer("CrossWorkgroup", type), type]) as function:
        pointer, value = function.parameters
        m.emit("OpAtomicFAddEXT", pointer, "Device", "None", value, type=type)
    assert_valid(m, "spv1.2")
    assert f"AtomicFloat{width}AddEXT" in m.requirements.capabilities
    assert "SPV_EXT_shader_atomic_float_add" in m.requirements.extensions
    assert not m.requirements.has("AtomicFloat16AddEXT")


def test_alternatives_take_what_the_target_has() -> None:
    everything = new_module()
    _add_across_subgroup(everything)
    assert "Groups" in everything.requirements.capabilities
    with pytest.raises(MissingCapability, match="OpGroupFAdd needs the capability Groups"):
        _add_across_subgroup(new_module(capabilities=["Kernel", "Addresses"]))
    fast = new_module(capabilities=["Kernel", "Addresses", "FPFastMathModeINTEL"])
    with kernel(fast, [F32]) as function:
        total = fast.emit("OpFAdd", *function.parameters * 2, type=F32)
        fast.decorate(total, "FPFastMathMode", "AllowContractFastINTEL")
    assert "FPFastMathModeINTEL" in fast.requirements.capabilities
    assert list(fast.requirements.extensions) == ["SPV_INTEL_fp_fast_math_mode"]
    assert_valid(fast)


def test_newer_instructions_are_refused() -> None:
    m = new_module()
    with kernel(m, [F32]) as function:
        with pytest.raises(MissingCapability, match=r"needs SPIR-V 1\.3, the module is SPIR-V 1\.2"):
            m.emit("OpGroupNonUniformFAdd", "Subgroup", "Reduce", function.parameters[0], type=F32)
    newer = Module(version=(1, 3))
    with kernel(newer, [F32]) as function:
        newer.emit("OpGroupNonUniformFAdd", "Subgroup", "Reduce", function.parameters[0], type=F32)
    assert_valid(newer, "spv1.3")


def test_an_opencl_module_does_not_become_a_shader() -> None:
    m = new_module()
    with kernel(m, [F32]) as function:
        with pytest.raises(MissingCapability, match="OpDPdx needs the capability Shader"):
            m.emit("OpDPdx", function.parameters[0], type=F32)


# Refusals

REFUSALS = {
    "OpLoad: operand Pointer .* wants a Value, a Label or a type, not 3":
        lambda m, x: m.emit("OpLoad", 3, type=F32),
    "Module.constant makes one of a number":
        lambda m, x: m.emit("OpFAdd", x, 1.0, type=F32),
    "OpFAdd: operand Operand .* is missing":
        lambda m, x: m.emit("OpFAdd", x, type=F32),
    "OpFAdd takes 2 operands, 3 are given":
        lambda m, x: m.emit("OpFAdd", x, x, x, type=F32),
    "OpFAdd: the result is i32, an operand is f32":
        lambda m, x: m.emit("OpFAdd", x, x, type=I32),
    "OpFAdd has a result: type= is missing":
        lambda m, x: m.emit("OpFAdd", x, x),
    "OpReturn has no result, type=f32 is given":
        lambda m, x: m.emit("OpReturn", type=F32),
    "OpFOrdLessThan: the operands are f32 and <4 x f32>":
        lambda m, x: m.emit("OpFOrdLessThan", x, m.constant(Vector(F32, 4), 0), type=Bool()),
    "OpFOrdLessThan: the operands are f32, the result is i32":
        lambda m, x: m.emit("OpFOrdLessThan", x, x, type=I32),
    "OpStore: the pointer is ptr<Function, i32>, the value is f32":
        lambda m, x: m.emit("OpStore", m.variable(I32), x),
    "OpLoad: f32 is no pointer":
        lambda m, x: m.emit("OpLoad", x, type=F32),
    "OpSelect: the result is f32, the condition is f32":
        lambda m, x: m.emit("OpSelect", x, x, x, type=F32),
    "OpShiftLeftLogical: the result is i32, the base is f32":
        lambda m, x: m.emit("OpShiftLeftLogical", x, x, type=I32),
    "OpConvertFToS: f32 to f32; it is for Float to Int":
        lambda m, x: m.emit("OpConvertFToS", x, type=F32),
    "OpBitcast: f32 has 32 bits, i64 has 64":
        lambda m, x: m.emit("OpBitcast", x, type=Int(64)),
    "OpCompositeConstruct: f32, f32 do not make <3 x f32>":
        lambda m, x: m.emit("OpCompositeConstruct", x, x, type=Vector(F32, 3)),
    "OpCompositeConstruct: f32, f32 do not make {f32, i32}":
        lambda m, x: m.emit("OpCompositeConstruct", x, x, type=Struct((F32, I32))),
    "OpCompositeExtract: <4 x f32> has no element":
        lambda m, x: m.emit("OpCompositeExtract", m.constant(Vector(F32, 4), 0), 4, type=F32),
    "OpCompositeExtract: the element of .* is f32, the result is i32":
        lambda m, x: m.emit("OpCompositeExtract", m.constant(Array(F32, 4), 0), 3, type=I32),
    "OpFunctionCall: f is f32 .f32.; it is called as f32 .f32, f32.":
        lambda m, x: m.emit("OpFunctionCall", m.import_function("f", F32, [F32]), x, x, type=F32),
    "OpAtomicIAdd: the pointer is ptr<Function, i32>, the value is f32":
        lambda m, x: m.emit("OpAtomicIAdd", m.variable(I32), "Device", "None", x, type=F32),
    "OpBranchConditional: the condition is f32":
        lambda m, x: m.emit("OpBranchConditional", x, m.label(), m.label()),
    "OpPhi: it is i32, the incoming value is f32":
        lambda m, x: m.add_incoming(m.phi(I32), x, m.label()),
    "OpLoad: operand MemoryAccess: Aligned: operand LiteralInteger: is missing":
        lambda m, x: m.emit("OpLoad", m.variable(I32), "Aligned", type=I32),
    "no enumerant 'MemoryAccess.Alined'; it has MemoryAccess.Aligned":
        lambda m, x: m.emit("OpLoad", m.variable(I32), ("Alined", 4), type=I32),
    "Module.variable puts it into the entry block":
        lambda m, x: m.emit("OpVariable", "Function", type=Pointer("Function", I32)),
    "OpDecorate is not for Module.emit":
        lambda m, x: m.emit("OpDecorate", x, "NoContraction"),
    "wants a tuple of 2, not 3":
        lambda m, x: m.emit("OpSwitch", m.constant(I32, 1), m.label(), 3),
    "does not fit into a literal of 32 bits":
        lambda m, x: m.emit("OpCompositeExtract", x, 1 << 40, type=F32),
    "LinkageAttributes: operand Name .* wants a str, not 3":
        lambda m, x: m.decorate(x, "LinkageAttributes", 3, "Export"),
    "exp takes 1 operands, 2 are given":
        lambda m, x: m.ext("OpenCL.std", "exp", x, x, type=F32),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_mistakes_are_refused_where_they_are_made(message: str) -> None:
    m = new_module()
    with kernel(m, [F32]) as function:
        with pytest.raises(TypeError, match=message):
            REFUSALS[message](m, function.parameters[0])


def test_functions_and_blocks_come_in_order() -> None:
    m = new_module()
    with pytest.raises(RuntimeError, match="a block needs a function"):
        m.begin(m.label())
    with pytest.raises(RuntimeError, match="no function is open"):
        m.end_function()
    m.function("f", Void(), [])
    with pytest.raises(RuntimeError, match="OpReturn needs an open block"):
        m.emit("OpReturn")
    with pytest.raises(RuntimeError, match="function f has no block"):
        m.end_function()
    m.begin(m.label())
    with pytest.raises(RuntimeError, match="has no terminator"):
        m.begin(m.label())
    with pytest.raises(RuntimeError, match="has no terminator"):
        m.end_function()
    with pytest.raises(RuntimeError, match="function f is open"):
        m.words()
    m.emit("OpReturn")
    assert m.terminated
    m.end_function()


def test_an_opaque_type_is_its_instruction() -> None:
    m = new_module()
    m.type_id(Opaque("OpTypeEvent"))
    assert "OpTypeEvent" in disassemble(m.words())


def _bitcast(m: Module, pointer: object) -> object:
    return m.emit("OpBitcast", pointer, type=GLOBAL_F32)


def _add_across_subgroup(m: Module) -> None:
    with kernel(m, [F32]) as function:
        m.emit("OpGroupFAdd", "Subgroup", "Reduce", function.parameters[0], type=F32)
    assert_valid(m)


def test_types_of_a_target_that_computes_with_them() -> None:
    """A target that has Float16 gets it, though loads and stores are all that a narrower one would allow."""
    for offered, expected in ((["Float16"], True), ([], False)):
        m = Module(version=(1, 5), addressing="PhysicalStorageBuffer64", memory_model="Vulkan",
                   capabilities=["Shader", "VulkanMemoryModel", "PhysicalStorageBufferAddresses",
                                 "StorageBuffer16BitAccess", *offered])
        m.require("StorageBuffer16BitAccess")
        m.type_id(Float(16))
        assert m.requirements.has("Float16") is expected
