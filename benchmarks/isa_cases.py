"""The tutorials' kernels with arguments as a launch would have them, and their TTGIR for any target."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).parent.parent / "tutorials"


@dataclass(frozen=True)
class Case:
    """A kernel of a tutorial: arguments by name, as types (":16" behind one: divisible by 16) or, for
    constexprs and arguments that are 1, as values.
    """

    name: str
    file: str
    kernel: str
    arguments: dict[str, Any]
    warps: int = 4
    stages: int = 2


F16, F32, INT, ALIGNED = "*fp16:16", "*fp32:16", "i32", "i32:16"
STRIDES = {"a_row": ALIGNED, "a_column": 1, "b_row": ALIGNED, "b_column": 1, "c_row": ALIGNED, "c_column": 1}
HEADS = {"count": ALIGNED, "scale": "fp32", "CAUSAL": False, "WIDTH": 64}

CASES = (
    Case(
        "add",
        "01-vector-add",
        "add_kernel",
        {"x_ptr": F32, "y_ptr": F32, "sum_ptr": F32, "count": ALIGNED, "BLOCK": 1024},
    ),
    Case(
        "softmax",
        "02-fused-softmax",
        "softmax_rows",
        {
            "x_ptr": F32,
            "out_ptr": F32,
            "x_stride": ALIGNED,
            "out_stride": ALIGNED,
            "rows": INT,
            "columns": ALIGNED,
            "BLOCK": 1024,
        },
    ),
    Case(
        "softmax-1",
        "02-fused-softmax",
        "softmax_rows",
        {
            "x_ptr": F32,
            "out_ptr": F32,
            "x_stride": ALIGNED,
            "out_stride": ALIGNED,
            "rows": INT,
            "columns": ALIGNED,
            "BLOCK": 1024,
        },
        warps=1,
    ),
    Case(
        "matmul",
        "03-matrix-multiplication",
        "matmul_kernel",
        dict(
            a_ptr=F16,
            b_ptr=F16,
            c_ptr=F16,
            M=ALIGNED,
            N=ALIGNED,
            K=ALIGNED,
            **STRIDES,
            ACTIVATION=None,
            BM=128,
            BN=128,
            BK=32,
            GROUP=4,
        ),
        warps=8,
    ),
    Case(
        "dropout",
        "04-low-memory-dropout",
        "seeded_dropout",
        {"x_ptr": F32, "out_ptr": F32, "count": ALIGNED, "p": "fp32", "seed": INT, "BLOCK": 1024},
    ),
    Case(
        "layer-norm",
        "05-layer-norm",
        "forward_kernel",
        {
            "x_ptr": F16,
            "y_ptr": F16,
            "w_ptr": F16,
            "b_ptr": F16,
            "mean_ptr": F32,
            "rstd_ptr": F32,
            "stride": ALIGNED,
            "columns": ALIGNED,
            "eps": "fp32",
            "BLOCK": 1024,
        },
    ),
    Case(
        "attention",
        "06-fused-attention",
        "forward_kernel",
        dict(q_ptr=F16, k_ptr=F16, v_ptr=F16, out_ptr=F16, lse_ptr=F32, **HEADS, BLOCK_Q=128, BLOCK_K=64),
        warps=8,
    ),
    Case(
        "attention-keys",
        "06-fused-attention",
        "keys_kernel",
        dict(
            q_ptr=F16,
            k_ptr=F16,
            v_ptr=F16,
            dout_ptr=F16,
            lse_ptr=F32,
            delta_ptr=F32,
            dk_ptr=F16,
            dv_ptr=F16,
            **HEADS,
            BLOCK_Q=64,
            BLOCK_K=64,
        ),
        warps=8,
    ),
    Case(
        "attention-queries",
        "06-fused-attention",
        "queries_kernel",
        dict(
            q_ptr=F16,
            k_ptr=F16,
            v_ptr=F16,
            dout_ptr=F16,
            lse_ptr=F32,
            delta_ptr=F32,
            dq_ptr=F16,
            **HEADS,
            BLOCK_Q=64,
            BLOCK_K=64,
        ),
        warps=8,
    ),
    Case(
        "persistent",
        "09-persistent-matmul",
        "persistent_kernel",
        {
            "a_ptr": F16,
            "b_ptr": F16,
            "c_ptr": F16,
            "M": ALIGNED,
            "N": ALIGNED,
            "K": ALIGNED,
            "BM": 128,
            "BN": 128,
            "BK": 32,
        },
        warps=8,
    ),
    Case(
        "descriptors",
        "09-persistent-matmul",
        "descriptor_kernel",
        {
            "a_ptr": F16,
            "b_ptr": F16,
            "c_ptr": F16,
            "M": ALIGNED,
            "N": ALIGNED,
            "K": ALIGNED,
            "BM": 128,
            "BN": 128,
            "BK": 32,
        },
        warps=8,
    ),
)


def tutorial(name: str) -> Any:
    """The module of a tutorial."""
    sys.path.insert(0, str(TUTORIALS))
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", name), TUTORIALS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def layouts(case: Case, target: Any) -> str:
    """The kernel's TTGIR for a target."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(tutorial(case.file), case.kernel)
    kernel = getattr(kernel, "fn", kernel) if not isinstance(kernel, triton.JITFunction) else kernel
    typed = {name: isinstance(kind, str) for name, kind in case.arguments.items()}
    signature = {
        name: kind.split(":")[0] if typed[name] else "constexpr" for name, kind in case.arguments.items()
    }
    attributes = {
        (i,): [["tt.divisibility", 16]]
        for i, kind in enumerate(case.arguments.values())
        if isinstance(kind, str) and kind.endswith(":16")
    }
    values = {name: value for name, value in case.arguments.items() if not typed[name]}
    source = ASTSource(kernel, signature, constexprs=values, attrs=attributes)
    made = triton.compile(
        source,
        target=GPUTarget("spirv", target.name, target.sub_group_size),
        options={"num_warps": case.warps, "num_stages": case.stages},
    )
    return str(made.asm["ttgir"])
