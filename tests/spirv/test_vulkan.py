"""The forms of Vulkan: explicit layout, physical storage buffers, GLSL.std.450, the Vulkan memory model."""

from __future__ import annotations

from spirv.building import I32, assert_valid, kernel, new_module
from triton_spirv.spirv import (
    Array,
    CooperativeMatrix,
    Float,
    Int,
    Pointer,
    RuntimeArray,
    Struct,
    Vector,
    Void,
    listing,
)

F32, I64 = Float(32), Int(64)


def test_a_storage_buffer() -> None:
    m = new_module("vulkan")
    numbers = Struct((I32, RuntimeArray(F32, stride=4)), offsets=(0, 4), name="Numbers", block=True,
                     member_names=("count", "values"))
    buffer = m.global_variable(numbers, "StorageBuffer", name="buffer")
    m.decorate(buffer, "DescriptorSet", 0)
    m.decorate(buffer, "Binding", 0)
    with kernel(m):
        index = m.emit("OpLoad", m.builtin("GlobalInvocationId", Vector(I32, 3)), type=Vector(I32, 3))
        index = m.emit("OpCompositeExtract", index, 0, type=I32)
        global_f32 = Pointer("StorageBuffer", F32)
        element = m.emit("OpAccessChain", buffer, m.constant(I32, 1), index, type=global_f32)
        x = m.emit("OpLoad", element, type=F32)
        m.emit("OpStore", element, m.ext("GLSL.std.450", "Exp", x, type=F32))
    assert_valid(m)
    text = listing(m)
    assert "type Numbers = block {0: i32 count, 4: [? x f32 stride 4] values}" in text
    assert "OpVariable ptr<StorageBuffer, Numbers> StorageBuffer  {DescriptorSet 0, Binding 0}" in text
    assert "%exp = OpExtInst f32 GLSL.std.450 Exp %load_1" in text


def test_push_constants_with_addresses() -> None:
    m = new_module("vulkan")
    floats = Pointer("PhysicalStorageBuffer", F32, stride=4)
    parameters = Struct((I64, Array(I32, 2, stride=4)), offsets=(0, 8), block=True)
    push = m.global_variable(parameters, "PushConstant", name="parameters")
    with kernel(m):
        address = m.emit("OpAccessChain", push, m.constant(I32, 0), type=Pointer("PushConstant", I64))
        pointer = m.emit("OpConvertUToPtr", m.emit("OpLoad", address, type=I64), type=floats)
        element = m.emit("OpPtrAccessChain", pointer, m.constant(I32, 3), type=floats)
        x = m.emit("OpLoad", element, ("Aligned", 4), type=F32)
        access = [("Aligned", 4), ("MakePointerAvailable", "Device"), "NonPrivatePointer"]
        m.emit("OpStore", element, x, access)
    m.require("VulkanMemoryModelDeviceScope")
    m.require("VariablePointers")
    assert_valid(m)


def test_workgroup_memory_and_barrier() -> None:
    m = new_module("vulkan")
    tile = m.global_variable(Array(F32, 64), "Workgroup", name="tile")
    with kernel(m):
        element = m.emit("OpAccessChain", tile, m.constant(I32, 5), type=Pointer("Workgroup", F32))
        m.emit("OpStore", element, m.constant(F32, 1))
        m.emit("OpControlBarrier", "Workgroup", "Workgroup", ["AcquireRelease", "WorkgroupMemory"])
    assert_valid(m)


def test_a_cooperative_matrix() -> None:
    m = new_module("vulkan")
    matrix = CooperativeMatrix(F32, "Subgroup", 8, 16, "MatrixAccumulatorKHR")
    with kernel(m):
        total = m.emit("OpFAdd", m.null(matrix), m.undef(matrix), type=matrix)
        m.emit("OpStore", m.variable(matrix), total)
    assert_valid(m)
    assert "SPV_KHR_cooperative_matrix" in m.requirements.extensions


def test_debug_printf() -> None:
    m = new_module("vulkan")
    with kernel(m):
        m.ext("NonSemantic.DebugPrintf", "DebugPrintf", m.string("%d"), m.constant(I32, 7), type=Void())
    assert_valid(m)
    assert 'OpExtInst void NonSemantic.DebugPrintf DebugPrintf "%d" 7' in listing(m)


def test_an_execution_mode_of_ids() -> None:
    m = new_module("vulkan")
    with kernel(m) as function:
        pass
    size = m.constant(I32, 8)
    m.execution_mode(function, "LocalSizeId", size, size, size)
    assert "{LocalSize 1 1 1, LocalSizeId 8 8 8}" in listing(m)
