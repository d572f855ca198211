"""Modules for sub-groups of 16, small and large, so that a device's compiler is tested without the
emitter."""

from __future__ import annotations

from typing import Any

from triton_spirv.spirv import Array, Float, For, Int, Module, Pointer, Value, Vector, Void


def kernel(values: int, name: str = "heavy", lanes: int = 16, shared: int = 0, private: int = 0) -> bytes:
    """A kernel that keeps `values` floats of each lane alive over a loop: each is multiplied by its
    neighbour.

    shared: bytes of local memory that it uses; private: floats of an array that it indexes as it runs.
    """
    f32, u32, u64, v3 = Float(32), Int(32), Int(64), Vector(Int(64), 3)
    m = Module(version=(1, 3))
    m.require("Kernel")
    m.require("Addresses")
    pointer = Pointer("CrossWorkgroup", f32)
    index = m.global_variable(v3, "Input", name="id")
    m.decorate(index, "BuiltIn", "GlobalInvocationId")
    m.decorate(index, "Constant")
    interface = [index]
    function = m.function(name, Void(), [pointer, pointer, u32])
    source, target, count = function.parameters
    m.begin(m.label())
    lane = m.emit("OpCompositeExtract", m.emit("OpLoad", index, type=v3), 0, type=u64)

    def place(base: Value, number: int) -> Value:
        offset = m.emit("OpIAdd", m.emit("OpIMul", lane, m.constant(u64, values), type=u64),
                        m.constant(u64, number), type=u64)
        return m.emit("OpInBoundsPtrAccessChain", base, offset, type=pointer)

    def load(number: int) -> Value:
        return m.emit("OpLoad", place(source, number), ("Aligned", 4), type=f32)

    initial = [load(number) for number in range(values)]
    zero, one = m.constant(u32, 0), m.constant(u32, 1)
    loop = For(m, zero, count, one, carried=initial, signed=False, control="DontUnroll")
    with loop:
        mixed = [m.emit("OpFAdd", m.emit("OpFMul", value, loop.carried[number - 1], type=f32),
                        loop.carried[(number * 7 + 3) % values], type=f32)
                 for number, value in enumerate(loop.carried)]
        loop.yield_(mixed)
    results = list(loop.results)
    if private:
        results.append(_indexed(m, results[0], count, private))
    if shared:
        results.append(_exchanged(m, results[0], lane, shared, interface))
    for number, value in enumerate(results):
        m.emit("OpStore", place(target, number), value, ("Aligned", 4))
    m.emit("OpReturn")
    m.end_function()
    m.entry_point("Kernel", function, name, interface=interface)
    if lanes:
        m.execution_mode(function, "SubgroupSize", lanes)
    return m.words()


def _indexed(m: Module, value: Value, count: Value, length: int) -> Value:
    """value, by way of an array of `length` floats that is written and read at places known when running."""
    array = m.variable(Array(value.type, length))
    element, u32 = Pointer("Function", value.type), count.type

    def place(number: int) -> Value:
        offset = m.emit("OpIAdd", count, m.constant(u32, number), type=u32)
        offset = m.emit("OpUMod", offset, m.constant(u32, length), type=u32)
        return m.emit("OpInBoundsAccessChain", array, offset, type=element)

    for number in range(0, length, 7):
        m.emit("OpStore", place(number), value)
    return m.emit("OpLoad", place(7), type=value.type)


def _exchanged(m: Module, value: Value, lane: Value, size: int, interface: list[Any]) -> Value:
    """The value of the neighbouring lane, by way of `size` bytes of local memory and a barrier."""
    u32 = Int(32)
    array = m.global_variable(Array(value.type, size // 4), "Workgroup", name="slm")
    element = Pointer("Workgroup", value.type)
    number = m.emit("OpUConvert", lane, type=u32)
    mask = m.constant(u32, size // 4 - 1)

    def place(offset: int) -> Value:
        at = m.emit("OpIAdd", number, m.constant(u32, offset), type=u32)
        at = m.emit("OpBitwiseAnd", at, mask, type=u32)
        return m.emit("OpInBoundsAccessChain", array, at, type=element)

    m.emit("OpStore", place(0), value)
    workgroup = m.constant(u32, 2)
    m.emit("OpControlBarrier", workgroup, workgroup, m.constant(u32, 0x110))
    return m.emit("OpLoad", place(1), type=value.type)
