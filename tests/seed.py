"""The number from which random kernels, mutated texts and samples of tests are drawn.

It stands here, so that a commit which passed its tests passes them again. Raise it now and then, run
everything, mend what is found, and commit both. TRITON_SPIRV_TEST_SEED draws others without a commit;
`python -m tests.property.run` and `python -m tests.fuzz.run` draw for hours.
"""

from __future__ import annotations

import os

SEED = int(os.environ.get("TRITON_SPIRV_TEST_SEED") or 20261124)

if __name__ == "__main__":
    print(SEED)
