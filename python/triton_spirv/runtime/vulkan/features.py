"""Optional features of Vulkan that kernels can use: how a device is asked for them, and the SPIR-V
capabilities that each one allows.

A line of `FEATURES` is one structure of the query: `name: (structure type, the extension that brings it or
None, fields)`, fields as in structures.py. Every feature that is named in `CAPABILITIES` or `HOST` is
switched on where the device has it; nothing else is.
"""

from __future__ import annotations

from .structures import define

FEATURES: dict[str, tuple[int, str | None, str]] = {
    "PhysicalDeviceFeatures2": (1000059000, None, "u39, u shaderFloat64 shaderInt64 shaderInt16, u13"),
    "PhysicalDeviceVulkan11Features": (49, None, "u storageBuffer16BitAccess "
                                                 "uniformAndStorageBuffer16BitAccess storagePushConstant16, "
                                                 "u4, u variablePointersStorageBuffer variablePointers, "
                                                 "u3"),
    "PhysicalDeviceVulkan12Features": (51, None, "u2, u storageBuffer8BitAccess "
                                                 "uniformAndStorageBuffer8BitAccess storagePushConstant8 "
                                                 "shaderBufferInt64Atomics shaderSharedInt64Atomics "
                                                 "shaderFloat16 shaderInt8, u22, u scalarBlockLayout, u2, "
                                                 "u shaderSubgroupExtendedTypes, u, u hostQueryReset "
                                                 "timelineSemaphore bufferDeviceAddress, u2, "
                                                 "u vulkanMemoryModel vulkanMemoryModelDeviceScope, u4"),
    "PhysicalDeviceVulkan13Features": (53, None, "u7, u subgroupSizeControl computeFullSubgroups "
                                                 "synchronization2, u, "
                                                 "u shaderZeroInitializeWorkgroupMemory, u, "
                                                 "u shaderIntegerDotProduct maintenance4"),
    "PhysicalDeviceSubgroupSizeControlFeatures": (1000225002, "VK_EXT_subgroup_size_control",
                                                  "u subgroupSizeControl computeFullSubgroups"),
    "PhysicalDeviceShaderIntegerDotProductFeatures": (1000280000, "VK_KHR_shader_integer_dot_product",
                                                      "u shaderIntegerDotProduct"),
    "PhysicalDeviceShaderAtomicFloatFeaturesEXT": (
        1000260000, "VK_EXT_shader_atomic_float",
        "u shaderBufferFloat32Atomics shaderBufferFloat32AtomicAdd shaderBufferFloat64Atomics "
        "shaderBufferFloat64AtomicAdd shaderSharedFloat32Atomics shaderSharedFloat32AtomicAdd "
        "shaderSharedFloat64Atomics shaderSharedFloat64AtomicAdd, u4"),
    "PhysicalDeviceShaderAtomicFloat2FeaturesEXT": (
        1000273000, "VK_EXT_shader_atomic_float2",
        "u shaderBufferFloat16Atomics shaderBufferFloat16AtomicAdd shaderBufferFloat16AtomicMinMax "
        "shaderBufferFloat32AtomicMinMax shaderBufferFloat64AtomicMinMax shaderSharedFloat16Atomics "
        "shaderSharedFloat16AtomicAdd shaderSharedFloat16AtomicMinMax shaderSharedFloat32AtomicMinMax "
        "shaderSharedFloat64AtomicMinMax, u2"),
    "PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR": (
        1000336000, "VK_KHR_workgroup_memory_explicit_layout",
        "u workgroupMemoryExplicitLayout workgroupMemoryExplicitLayoutScalarBlockLayout "
        "workgroupMemoryExplicitLayout8BitAccess workgroupMemoryExplicitLayout16BitAccess"),
    "PhysicalDeviceCooperativeMatrixFeaturesKHR": (
        1000506000, "VK_KHR_cooperative_matrix", "u cooperativeMatrix cooperativeMatrixRobustBufferAccess"),
    "PhysicalDeviceShaderBfloat16FeaturesKHR": (
        1000141000, "VK_KHR_shader_bfloat16",
        "u shaderBFloat16Type shaderBFloat16DotProduct shaderBFloat16CooperativeMatrix"),
    "PhysicalDevicePipelineExecutablePropertiesFeaturesKHR": (
        1000269000, "VK_KHR_pipeline_executable_properties", "u pipelineExecutableInfo"),
    "PhysicalDeviceShaderFloatControls2Features": (
        1000528000, "VK_KHR_shader_float_controls2", "u shaderFloatControls2"),
    "PhysicalDeviceShaderSubgroupRotateFeatures": (
        1000416000, "VK_KHR_shader_subgroup_rotate", "u shaderSubgroupRotate shaderSubgroupRotateClustered"),
    "PhysicalDeviceShaderClockFeaturesKHR": (
        1000181000, "VK_KHR_shader_clock", "u shaderSubgroupClock shaderDeviceClock"),
    "PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR": (
        1000434000, "VK_KHR_shader_maximal_reconvergence", "u shaderMaximalReconvergence"),
    "PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR": (
        1000323000, "VK_KHR_shader_subgroup_uniform_control_flow", "u shaderSubgroupUniformControlFlow"),
}
for _name, (_kind, _, _fields) in FEATURES.items():
    define(_name, _kind, _fields)

#: structures of the core at which version, and the extensions' structures that it replaces
CORE = {"PhysicalDeviceVulkan11Features": (1, 2), "PhysicalDeviceVulkan12Features": (1, 2),
        "PhysicalDeviceVulkan13Features": (1, 3)}
REPLACED = {"VK_EXT_subgroup_size_control": (1, 3), "VK_KHR_shader_integer_dot_product": (1, 3)}

#: without these nothing runs: addresses as arguments, 64-bit arithmetic on them, the memory model of every
#: module, one counter to wait for
REQUIRED = ("bufferDeviceAddress", "shaderInt64", "vulkanMemoryModel", "timelineSemaphore")
#: features that only the host's side uses, or that allow what needs no capability
HOST = ("timelineSemaphore", "synchronization2", "hostQueryReset", "subgroupSizeControl",
        "computeFullSubgroups", "maintenance4", "scalarBlockLayout", "shaderSubgroupExtendedTypes",
        "shaderMaximalReconvergence", "shaderSubgroupUniformControlFlow",
        "shaderZeroInitializeWorkgroupMemory", "pipelineExecutableInfo",
        "shaderBufferFloat32Atomics", "shaderBufferFloat64Atomics", "shaderSharedFloat32Atomics",
        "shaderSharedFloat64Atomics", "shaderBufferFloat16Atomics", "shaderSharedFloat16Atomics")

#: capability -> the features that it takes
CAPABILITIES: dict[str, tuple[str, ...]] = {
    "Shader": (), "Matrix": (),
    "PhysicalStorageBufferAddresses": ("bufferDeviceAddress",),
    "Int8": ("shaderInt8",), "Int16": ("shaderInt16",), "Int64": ("shaderInt64",),
    "Float16": ("shaderFloat16",), "Float64": ("shaderFloat64",),
    "StorageBuffer8BitAccess": ("storageBuffer8BitAccess",),
    "UniformAndStorageBuffer8BitAccess": ("uniformAndStorageBuffer8BitAccess",),
    "StoragePushConstant8": ("storagePushConstant8",),
    "StorageBuffer16BitAccess": ("storageBuffer16BitAccess",),
    "UniformAndStorageBuffer16BitAccess": ("uniformAndStorageBuffer16BitAccess",),
    "StoragePushConstant16": ("storagePushConstant16",),
    "VariablePointersStorageBuffer": ("variablePointersStorageBuffer",),
    "VariablePointers": ("variablePointers",),
    "VulkanMemoryModel": ("vulkanMemoryModel",),
    "VulkanMemoryModelDeviceScope": ("vulkanMemoryModelDeviceScope",),
    "Int64Atomics": ("shaderBufferInt64Atomics", "shaderSharedInt64Atomics"),
    "AtomicFloat16AddEXT": ("shaderBufferFloat16AtomicAdd", "shaderSharedFloat16AtomicAdd"),
    "AtomicFloat32AddEXT": ("shaderBufferFloat32AtomicAdd", "shaderSharedFloat32AtomicAdd"),
    "AtomicFloat64AddEXT": ("shaderBufferFloat64AtomicAdd", "shaderSharedFloat64AtomicAdd"),
    "AtomicFloat16MinMaxEXT": ("shaderBufferFloat16AtomicMinMax", "shaderSharedFloat16AtomicMinMax"),
    "AtomicFloat32MinMaxEXT": ("shaderBufferFloat32AtomicMinMax", "shaderSharedFloat32AtomicMinMax"),
    "AtomicFloat64MinMaxEXT": ("shaderBufferFloat64AtomicMinMax", "shaderSharedFloat64AtomicMinMax"),
    "WorkgroupMemoryExplicitLayoutKHR": ("workgroupMemoryExplicitLayout",),
    "WorkgroupMemoryExplicitLayout8BitAccessKHR": ("workgroupMemoryExplicitLayout8BitAccess",),
    "WorkgroupMemoryExplicitLayout16BitAccessKHR": ("workgroupMemoryExplicitLayout16BitAccess",),
    **dict.fromkeys(("DotProduct", "DotProductInputAll", "DotProductInput4x8Bit",
                     "DotProductInput4x8BitPacked"), ("shaderIntegerDotProduct",)),
    "CooperativeMatrixKHR": ("cooperativeMatrix",),
    "BFloat16TypeKHR": ("shaderBFloat16Type",), "BFloat16DotProductKHR": ("shaderBFloat16DotProduct",),
    "BFloat16CooperativeMatrixKHR": ("shaderBFloat16CooperativeMatrix",),
    "ShaderClockKHR": ("shaderSubgroupClock", "shaderDeviceClock"),
    "FloatControls2": ("shaderFloatControls2",),
    "GroupNonUniformRotateKHR": ("shaderSubgroupRotate",),
}

#: feature -> its execution mode: lanes that parted are together again behind every construct of control flow,
#: or behind those that all of a sub-group entered. A kernel asks for the first that the device has
RECONVERGENCE = {"shaderMaximalReconvergence": "MaximallyReconvergesKHR",
                 "shaderSubgroupUniformControlFlow": "SubgroupUniformControlFlowKHR"}

#: bits of subgroupSupportedOperations -> the capability of its instructions
SUBGROUP_OPERATIONS = {
    0x01: "GroupNonUniform", 0x02: "GroupNonUniformVote", 0x04: "GroupNonUniformArithmetic",
    0x08: "GroupNonUniformBallot", 0x10: "GroupNonUniformShuffle", 0x20: "GroupNonUniformShuffleRelative",
    0x40: "GroupNonUniformClustered", 0x80: "GroupNonUniformQuad",
}
#: the execution modes of floats that kernels want: what the property's name begins with, and the property
#: that says which widths may differ (None: all may)
FLOAT_CONTROLS = {
    "SignedZeroInfNanPreserve": ("shaderSignedZeroInfNanPreserveFloat", None),
    "DenormPreserve": ("shaderDenormPreserveFloat", "denormBehaviorIndependence"),
    "RoundingModeRTE": ("shaderRoundingModeRTEFloat", "roundingModeIndependence"),
}
#: VkShaderFloatControlsIndependence: only 32 bits may differ from the other two, all may, none
ONLY_32, ALL, NONE = 0, 1, 2
#: VkComponentTypeKHR -> how Triton spells the type
COMPONENTS = {0: "f16", 1: "f32", 2: "f64", 3: "i8", 4: "i16", 5: "i32", 6: "i64",
              7: "u8", 8: "u16", 9: "u32", 10: "u64", 1000141000: "bf16"}


def wanted() -> frozenset[str]:
    """Every feature that is switched on where a device has it."""
    return frozenset(HOST).union(*CAPABILITIES.values())
