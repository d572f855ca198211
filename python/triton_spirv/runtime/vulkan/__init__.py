"""Running SPIR-V through Vulkan: devices and what they offer, memory, pipelines, launches, device arrays.

Everything goes through ctypes on the Vulkan loader (`libvulkan.so.1`): a launch is a handful of calls with
plain integers, and what drivers report today (bfloat16, float controls 2) is newer than the headers that
Python bindings carry. `structures.py` holds the few structures this takes, checked by a test against such a
binding.
"""
