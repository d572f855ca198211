"""`triton-spirv selftest`: kernels with their references in numpy, and figures; no torch, no tests' folder.

    kernels   what runs
    cases     each with its numbers, and what they should be
    figures   bandwidth, products, launches
    worker    the process in which a part of it runs, and which a driver may end
"""
