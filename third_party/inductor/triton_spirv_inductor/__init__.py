"""torch's half of triton-spirv: Inductor, the compiler of torch.compile, writes Triton kernels for the CPU.

A distribution of its own with three entry points: Triton finds a backend named `cpu` here (compiler.py,
driver.py), without which Inductor writes C++; torch.compile finds the backend "triton-spirv" (dynamo.py);
and torch calls autoload.py when it is imported. Users call `triton_spirv.inductor.enable()`, which is
switching.py.
"""
