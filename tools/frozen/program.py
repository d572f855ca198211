"""A program that PyInstaller freezes: `tools/release.py --freeze` makes it and runs it."""

import numpy as np
import triton_spirv
from kernels import add

x, y, out = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32), np.zeros(1000, np.float32)
add[(1,)](*map(triton_spirv.asarray, (x, y, out)), 1000, BLOCK=1024)
assert (out == x + y).all()
print(f"a frozen program's sum is right, on {triton_spirv.devices()[0].name}")
