"""valid.py: the library's verdict is that of spirv-val, and its words are shown."""

from __future__ import annotations

import pytest
import valid
from handmade import SCALED_ADD, assemble
from triton_spirv.errors import ValidationError
from triton_spirv.tools import spirv_tools


@pytest.mark.parametrize("environment", ["opencl2.2", "vulkan1.2", None])
def test_its_verdict_is_that_of_the_program(environment: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    words = assemble(SCALED_ADD)
    asked: list[str | None] = []
    validate = spirv_tools.validate
    monkeypatch.setattr(spirv_tools, "validate", lambda *given: (asked.append(given[1]), validate(*given)))
    try:
        valid.validate(words, environment)
    except ValidationError:
        assert environment == "vulkan1.2" and asked == [environment]
    else:
        assert environment != "vulkan1.2" and not asked
    assert valid.library() is not None


def test_what_is_wrong_is_said() -> None:
    broken = bytearray(assemble(SCALED_ADD))
    broken[20 + 4] = 99  # the first instruction's capability
    with pytest.raises(ValidationError, match="Invalid capability operand: 99"):
        valid.validate(bytes(broken), "opencl2.2")
