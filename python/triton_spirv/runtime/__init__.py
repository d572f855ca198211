"""Running SPIR-V through OpenCL: devices, programs, memory, launches. Knows nothing of Triton or of how a
module came to be."""
