"""Configurations of an autotuner compiled before it times them."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
import triton_spirv
from triton_spirv.errors import UsageError
from triton_spirv.runtime import program


def even(arguments) -> bool:
    return arguments["n"] % 2 == 0


def fitting(configs, named_args, **_):
    return [config for config in configs if config.kwargs["BLOCK"] <= 4 * named_args["n"]]


@triton.autotune([triton.Config({"BLOCK": block}) for block in (32, 64, 128, 1 << 20)], ["n"],
                 prune_configs_by={"early_config_prune": fitting})
@triton.heuristics({"EVEN": even})
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK != 64, "64 will not do")
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n)
    tl.store(out_ptr + index, x + (1 if EVEN else 2), mask=index < n)


@triton.jit
def plain_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """Entry points that this process builds from words."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    for kernel in (tuned_kernel.fn.fn, plain_kernel):
        kernel.device_caches.clear()
    built = []
    words = program._from_words
    monkeypatch.setattr(program, "_from_words", lambda *a, **k: built.append(a[2]) or words(*a, **k))
    return built


@pytest.mark.parametrize("processes", (0, 2))
def test_what_the_tuner_runs_is_there(builds, processes, capsys) -> None:
    x, out = torch.arange(100.0), torch.empty(100)
    done = triton_spirv.precompile(tuned_kernel, x, out, 100, processes=processes)
    assert len(done) == 3  # one is pruned
    assert [each.error is not None for each in done] == ["64" in each.config for each in done]
    assert "64 will not do" in str(next(each.error for each in done if each.error))
    assert "3/3" in capsys.readouterr().err
    assert len(builds) == (0 if processes else 2)
    before = len(builds)
    tuned_kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, out, 100)
    assert torch.equal(out, x + 1)
    assert len(builds) == before  # the tuner's processes built none


def test_a_kernel_that_is_not_tuned(builds) -> None:
    x = torch.zeros(16)
    (only,) = triton_spirv.precompile(plain_kernel, x, BLOCK=16)
    assert only.error is None and not x.any()  # compiled, not launched
    plain_kernel[(1,)](x, BLOCK=16)
    assert x.all() and not builds


def test_what_is_no_kernel() -> None:
    with pytest.raises(UsageError, match=r"not a @triton\.jit function"):
        triton_spirv.precompile(len, 3)
