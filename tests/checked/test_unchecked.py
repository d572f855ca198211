"""With checks off a kernel's words are those that there would be without checked mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import arrays
from triton_spirv import checking, compiler
from triton_spirv.passes import checked
from triton_spirv.passes.checked.sites import Before, Sites


@triton.jit
def normalised(x, o, lock, n, BLOCK: tl.constexpr):
    """A loop, a lock, a mask without `other`, a quotient: something for each check."""
    i, total = tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x + k * BLOCK + i, mask=i < n)
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    tl.store(o + i // n, tl.sum(total, 0) / n)
    tl.atomic_xchg(lock, 0)


def made() -> Any:
    """The kernel, compiled anew."""
    normalised.device_caches.clear()
    x, o, lock = arrays(np.ones(64, np.float32), np.zeros(64, np.float32), np.zeros(1, np.int32))
    return normalised[(1,)](x, o, lock, 4, BLOCK=16)


@pytest.mark.parametrize("target", ["", "simt"])
def test_words_without_checks(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of checked mode is asked, and what a checked kernel leaves changes nothing."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    with pytest.MonkeyPatch.context() as patched:
        def refuse(*given: Any, **named: Any) -> None:
            raise AssertionError("a kernel without checks asks for checked mode")

        for owner, name in ((Sites, "add"), (Sites, "word"), (Before, "__init__"), (compiler, "SharedRaces"),
                            *((checked, f"check_{name}") for name in ("races", "bounds", "nan", "uninit"))):
            patched.setattr(owner, name, refuse)
        before = made()
    assert "check_buffer" not in before.asm["spvasm"]
    for check in ("bounds", "lanes") if target else ("all", "race,bounds"):
        with triton_spirv.checked(check), checking.collected():
            during = made()
        assert "check_buffer" in during.asm["spvasm"] and during.asm["spv"] != before.asm["spv"]
        assert made().asm["spv"] == before.asm["spv"]
