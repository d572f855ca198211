"""The functions of a math library, as formulas on SPIR-V scalars: what GLSL.std.450 lacks or has with too few
bits. docs/vulkan.md says how accurate they are."""
