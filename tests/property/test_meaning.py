"""meaning.py: what a result may be, where the order of sums and their roundings decide."""

from __future__ import annotations

import numpy as np
import pytest

from property.meaning import product
from property.steps import Value


@pytest.mark.parametrize("row, column, anything", [
    ((np.inf, 1e200), (1.0, -1e200), True),  # infinite in one rounding, NaN in two
    ((np.inf, np.inf), (1.0, -1.0), False),  # NaN in any way
    ((1e200, 1.0), (1e200, 1.0), True)])
def test_products_that_overflow_beside_infinities(row, column, anything: bool) -> None:
    a, b, c = (Value(np.array(data)) for data in ([row], [[each] for each in column], [[0.0]]))
    with np.errstate(all="ignore"):
        found = product("f64", False)(a, b, c)
    assert bool(np.isinf(found.error)) == anything
