"""Floats are computed as they are written: nothing is reordered, joined or simplified, and a product and a
sum become one operation only where enable_fp_fusion allows it."""

from __future__ import annotations

import exactness
import numeric
import numpy as np
import pytest
import torch

CASES = [pytest.param(case, dtype, fusion, id=f"{name}-{dtype}-{'fusion' if fusion else 'exact'}")
         for name, case in exactness.CASES.items() for dtype in case.dtypes
         for fusion in ((False, True) if case.fused is not None else (False,))]


@pytest.mark.parametrize("case, dtype, fusion", CASES)
def test_every_operation_rounds(run, case, dtype, fusion):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    out = exactness.launch(case, dtype, fusion, run)
    assert exactness.wrong(out, exactness.expected(case, dtype, fusion)) == 0


@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_compensated_sum(run, dtype):
    x = exactness.kahan_inputs(dtype)
    out = torch.full((exactness.COUNT,), float("nan"), dtype=numeric.DTYPES[dtype].torch)
    run(exactness.kahan_kernel, exactness.COUNT // 256, torch.from_numpy(x), out, exactness.ROUNDS,
        exactness.COUNT, 256)
    np.testing.assert_array_equal(out.numpy(), exactness.kahan_expected(x))
