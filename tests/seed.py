"""The numbers from which random kernels, mutated texts and samples of tests are drawn.

SEED stands here: mutated texts and samples are the same in each run. Raise it now and then, run everything,
mend what is found, and commit both. TRITON_SPIRV_TEST_SEED draws others without a commit.

KERNELS is drawn anew for each run of the tests, which prints it in its head: the first of the random kernels.
TRITON_SPIRV_TEST_KERNELS gives it, to repeat a run. What such a kernel finds becomes a plain test.
`python -m tests.property.run` and `python -m tests.fuzz.run` draw for hours.
"""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("TRITON_SPIRV_TEST_SEED") or 20261124)
#: in the environment, so that all processes of a run have one
_drawn = str(random.SystemRandom().randrange(1 << 31))
#: in the environment, so that all processes of a run have one
KERNELS = int(os.environ.setdefault("TRITON_SPIRV_TEST_KERNELS", _drawn))

if __name__ == "__main__":
    print(SEED)
