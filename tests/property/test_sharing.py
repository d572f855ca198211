"""The meanings of steps that round more than once."""

from __future__ import annotations

import numpy as np
import pytest

from property.meaning import Value, arithmetic
from property.sharing import FLOAT_LINKS, float_link

HALF = np.arange(0x7C00, dtype=np.uint16).view(np.float16)


@pytest.mark.parametrize("link", [0, 2])
def test_products_of_denormals_are_rounded(link):
    """Numpy rounds each operation of f16. Kernel 13020044: the meaning had rounded once."""
    data = np.concatenate([HALF, -HALF])
    product = (data if link == 0 else np.abs(data)) * np.float16(0.5)
    with np.errstate(over="ignore"):
        expected = data + product if link == 0 else data - product
        found = arithmetic(float_link(FLOAT_LINKS[link][1], "f16"), "f16")(Value(data)).data
    assert found.tobytes() == expected.tobytes()
