"""Keywords of enumerations by number, as the generic form `<{cache = 1 : i32}>` has them."""

from __future__ import annotations

ENUMS: dict[str, dict[int, str]] = {
    "cache": {1: "none", 2: "ca", 3: "cg", 4: "wb", 5: "cs", 6: "wt", 7: "cv"},
    "evict": {1: "evict_normal", 2: "evict_first", 3: "evict_last"},
    "sem": {1: "relaxed", 2: "acquire", 3: "release", 4: "acq_rel"},
    "scope": {1: "gpu", 2: "cta", 3: "sys"},
    "rmw": dict(enumerate("and or xor add fadd max min umax umin exch".split(), 1)),
    "reduce_kind": dict(enumerate("add min max inc dec and or xor".split(), 1)),
    "dim": {0: "x", 1: "y", 2: "z"},
    "rounding": {0: "rtz", 1: "rtne"},
    "nan": {0: "none", 0xFFFF: "all"},
    "precision": dict(enumerate("tf32 tf32x3 ieee bf16x3 bf16x6".split())),
    "scaled": dict(enumerate("e4m3 e5m2 e2m3 e3m2 e2m1 bf16 fp16".split())),
    "padding": {1: "zero", 2: "nan"},
    "cmpi": dict(enumerate("eq ne slt sle sgt sge ult ule ugt uge".split())),
    "cmpf": dict(enumerate("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())),
    "gpu_dim": {0: "x", 1: "y", 2: "z"},
    "addr_space": {0: "none", 1: "local", 2: "global_read", 4: "global_write", 8: "tensor_read",
                   16: "tensor_write", 31: "all"},
}
