"""The table of structures against the declarations of the Vulkan headers, as the package `vulkan` has
them."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from triton_spirv.runtime.vulkan import features
from triton_spirv.runtime.vulkan.structures import STRUCTURES, make

headers = pytest.importorskip("vulkan._vulkan").ffi
constants = pytest.importorskip("vulkan")

#: newer than the headers of that package
UNKNOWN = {
    "PhysicalDeviceShaderBfloat16FeaturesKHR", "PhysicalDeviceShaderFloatControls2Features",
    "PhysicalDeviceShaderSubgroupRotateFeatures", "PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR",
}


@pytest.mark.parametrize("name", sorted(STRUCTURES.keys() - UNKNOWN))
def test_layout(name: str) -> None:
    """Size, and place and size of every member that has a name."""
    ours, theirs = STRUCTURES[name], headers.typeof(f"Vk{name}")
    assert ctypes.sizeof(ours) == headers.sizeof(theirs)
    members = {label: (place.offset, place.type) for label, place in theirs.fields}
    if "features" in members:  # the nested list of the oldest features, flat in ours
        start, nested = members["features"]
        members |= {label: (start + place.offset, place.type) for label, place in nested.fields}
    for label, _ in ours._fields_:
        if not label.startswith("_"):
            place, kind = members[label]
            assert getattr(ours, label).offset == place, label
            assert getattr(ours, label).size == headers.sizeof(kind), label


def structure_type(name: str) -> int:
    """The value of VK_STRUCTURE_TYPE_ of that name, whatever its underscores."""
    names = {label.replace("_", "").lower(): label for label in dir(constants)}
    return getattr(constants, names[f"vkstructuretype{name}".lower()])


@pytest.mark.parametrize("name", sorted(name for name in STRUCTURES if STRUCTURES[name].KIND is not None
                                        and name not in UNKNOWN))
def test_structure_type(name: str) -> None:
    assert STRUCTURES[name].KIND == structure_type(name)
    assert make(name).sType == STRUCTURES[name].KIND


def test_every_feature_is_a_member() -> None:
    """A feature that no structure has would never be found."""
    members = {label for name in features.FEATURES for label, _ in STRUCTURES[name]._fields_}
    assert features.wanted() <= members


def test_pointers_are_kept() -> None:
    values: Any = (ctypes.c_uint32 * 2)(3, 4)
    made = make("ShaderModuleCreateInfo", codeSize=8, pCode=values)
    assert made.pCode == ctypes.addressof(values) and values in made.kept
