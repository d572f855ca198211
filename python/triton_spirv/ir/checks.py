"""What the verifier asks of an operation's operands and results: the last column of the table in dialects.py.

    x:int            elements of x are of that kind: int (or index), fixed (no index), float, number,
                     bool (i1), i64, ptr, memdesc
    x=y              the type of x is y's, or `pointee(y)`, `i1(y)`, `element(y)`
    x~y              x and y have the same shape and the same encoding
    ends:tt.func     a terminator, of regions of the operations named

where x and y are operands or `result`. What else an operation wants is a function in verify_rules.py or
verify_regions.py.
"""

from __future__ import annotations

_FAMILIES: dict[str, str] = {
    "tt.addptr": "ptr:ptr offset:int offset~ptr",
    "tt.load": "ptr:ptr mask=i1(ptr) other=pointee(ptr)",
    "tt.store tt.atomic_store": "ptr:ptr value=pointee(ptr) mask=i1(ptr)",
    "tt.atomic_rmw": "ptr:ptr val=pointee(ptr) mask=i1(ptr) result=val",
    "tt.atomic_cas": "ptr:ptr cmp=pointee(ptr) val=cmp result=val",
    "tt.atomic_poll": "ptr:ptr expected=pointee(ptr) timeout:int",
    "tt.atomic_load": "ptr:ptr mask=i1(ptr) result=pointee(ptr)",
    "tt.int_to_ptr": "src:i64 result:ptr src~result",
    "tt.ptr_to_int": "src:ptr result:i64 src~result",
    "tt.bitcast": "src~result",
    "tt.fp_to_fp arith.extf arith.truncf arith.convertf": "src:float result:float src~result",
    "tt.clampf": "x:float min=x max=x",
    "tt.precise_sqrt": "x:float",
    "tt.precise_divf tt.approx_divf": "x:float y=x",
    "tt.mulhiui": "x:fixed y=x",
    "tt.splat": "src=element(result)",
    "tt.join tt.cat": "rhs=lhs",
    "ts.swap": "src:number",
    "ts.check_word": "result:fixed",
    "ts.inside": "first:fixed last=first",
    "ts.report": "fine:bool bad:bool value:number value~bad",
    "ts.touch ts.given ts.give": "ptr:ptr mask=i1(ptr)",
    "ts.order": "ptr:ptr mask=i1(ptr) releases=i1(ptr)",
    "ts.twice": "ptr:ptr value=pointee(ptr) mask=i1(ptr)",
    "tt.reduce.return": "ends:tt.reduce",
    "tt.scan.return": "ends:tt.scan",
    "tt.map_elementwise.return": "ends:tt.map_elementwise",
    "tt.histogram": "src:int mask=i1(src) result:int",
    "tt.dot tt.dot_scaled": "a:number b:number c=result",
    "tt.return": "ends:tt.func",
    "tt.assert": "condition:bool",
    "arith.addi arith.subi arith.muli arith.divsi arith.divui arith.remsi arith.remui arith.ceildivsi "
    "arith.ceildivui arith.floordivsi arith.andi arith.ori arith.xori arith.shli arith.shrsi "
    "arith.shrui arith.maxsi arith.maxui arith.minsi arith.minui arith.cmpi arith.addui_extended "
    "arith.subui_extended arith.mulsi_extended arith.mului_extended math.ipowi":
    "lhs:int rhs=lhs",
    "arith.addf arith.subf arith.mulf arith.divf arith.remf arith.maximumf arith.maxnumf "
    "ts.larger ts.smaller arith.minimumf arith.minnumf arith.cmpf math.atan2 math.copysign math.powf":
    "lhs:float rhs=lhs",
    "arith.negf arith.flush_denormals math.absf math.acos math.acosh math.asin math.asinh math.atan "
    "math.atanh math.cbrt math.ceil math.cos math.cosh math.erf math.erfc math.exp math.exp2 "
    "math.expm1 math.floor math.log math.log10 math.log1p math.log2 math.round math.roundeven "
    "math.rsqrt math.sin math.sinh math.sqrt math.tan math.tanh math.trunc math.isfinite math.isinf "
    "math.isnan math.isnormal math.sincos":
    "operand:float",
    "arith.extsi arith.extui arith.trunci": "src:fixed result:fixed src~result",
    "arith.index_cast arith.index_castui": "src:int result:int src~result",
    "arith.sitofp arith.uitofp": "src:fixed result:float src~result",
    "arith.fptosi arith.fptoui": "src:float result:fixed src~result",
    "arith.bitcast": "src:number result:number src~result",
    "math.absi math.ctlz math.ctpop math.cttz": "operand:fixed",
    "math.fpowi": "lhs:float rhs:int rhs~lhs",
    "math.fma": "a:float b=a c=a",
    "math.clampf": "value:float min=value max=value",
    "scf.yield": "ends:scf.for,scf.while,scf.if,scf.execute_region",
    "scf.condition": "ends:scf.while",
    "cf.br cf.cond_br ub.unreachable": "ends:tt.func,tt.map_elementwise,scf.execute_region",
    "cf.switch": "flag:int ends:tt.func,tt.map_elementwise,scf.execute_region",
    "cf.assert": "arg:bool",
    "llvm.intr.assume": "cond:bool",
    "ttg.local_dealloc ttg.local_load": "src:memdesc",
    "ttg.local_store": "dst:memdesc",
    "ttg.local_gather": "src:memdesc indices:int",
    "ttg.local_scatter": "dst:memdesc indices:int",
    "ttg.memdesc_index": "src:memdesc index:int result:memdesc",
    "ttg.memdesc_subslice ttg.memdesc_trans ttg.memdesc_reshape ttg.memdesc_reinterpret":
    "src:memdesc result:memdesc",
    "ttg.mask.return": "ends:ttg.mask",
    "ttg.warp_yield": "ends:ttg.warp_specialize",
    "ttg.warp_return": "ends:ttg.warp_specialize,ttg.warp_specialize.partitions",
}

#: operation -> the words of its checks
CHECKS: dict[str, str] = {name: words for names, words in _FAMILIES.items() for name in names.split()}
assert len(CHECKS) == sum(len(names.split()) for names in _FAMILIES), "two lines of checks for one operation"
