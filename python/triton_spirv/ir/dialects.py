"""The operations: one line each with the name, the operands and the assembly format.

Operands carry the dialect's own names: `x` one value, `x?` optional, `x*` any number. A few names of the
dialects are taken, by `Operation` or by Python, and read otherwise here: the `result` or `results` of
terminators are `values`, the `operands` of tt.call `arguments`, the `result` of async copies `dst`, the `in`
of arith's casts `src`.

The format is read and printed item by item (format.py):

    $x  $x*          an operand; operands between commas
    T(x) T(x*) T(*)  its type; their types; the types of all operands
    R  R*            the result's type; the results' types
    F                (operand types) -> result types
    @a  "a  @@a      an attribute: a keyword or a number; a string; a @symbol, as str
    #a  |a           integers between commas; keywords between bars, as one str
    !a               sets the unit attribute a, reads nothing
    {}               the attribute dictionary
    flags            overflow<..>, fastmath<..>, exact, nneg, ...
    caching          cacheModifier = .. evictionPolicy = ..
    (? ... )?        a part that its first item announces
    anything else    itself

Where the format gives no result type, `results` says it: an operand's name (the same type), or `pointee x`,
`i1 x` (a mask of its shape), `element x`, `i1`, `i32`, `token`, `index`. `generic` marks operations that MLIR
prints in generic form only; `custom` names a reader in syntax.py. `enums` says how the generic form's numbers
read.

`traits` say what the operation is (traits.py).

Which types operands and results have is in checks.py.

Triton 3.9 prints `{cachePolicy = #tt.cache_policy<..>}` where older versions print `cacheModifier = ..`: both
are read as the attributes `cache` and `evict`.
"""

from __future__ import annotations

from functools import cache, cached_property

from ..dataclass import dataclass
from .traits import TRAITS


@dataclass(frozen=True)
class Operand:
    """`quantity`: "" exactly one, "?" optional, "*" any number."""

    name: str
    quantity: str = ""


@dataclass(frozen=True)
class OperationSpec:
    """A line of the table, taken apart when first asked."""

    name: str
    operand_text: str
    format: str
    result_rule: str = ""
    enums: tuple[tuple[str, str], ...] = ()
    trait_text: str = ""

    @cached_property
    def traits(self) -> frozenset[str]:
        words = [word.partition("=")[0] for word in self.trait_text.split()]
        return frozenset(words).union(*(TRAITS[word] for word in words))

    @cached_property
    def written(self) -> str | None:
        """The operand through which it writes."""
        words = dict(word.partition("=")[::2] for word in self.trait_text.split())
        return words.get("writes")

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        words = self.operand_text.split()
        return tuple(Operand(w.rstrip("?*"), w[-1] if w[-1] in "?*" else "") for w in words)

    @cached_property
    def positions(self) -> dict[str, int]:
        return {operand.name: position for position, operand in enumerate(self.operands)}

    @cached_property
    def fixed(self) -> bool:
        """Whether each operand is exactly one value."""
        return not any(operand.quantity for operand in self.operands)


OPERATIONS: dict[str, OperationSpec] = {}


def _op(name: str, operands: str, format: str, results: str = "", traits: str = "", **enums: str) -> None:
    assert name not in OPERATIONS, f"two lines for {name}"
    OPERATIONS[name] = OperationSpec(name, operands, format, results, tuple(enums.items()), traits)
    with_trait.cache_clear()


def _family(names: str, operands: str, format: str, results: str = "", traits: str = "") -> None:
    for name in names.split():
        _op(name, operands, format, results, traits)


@cache
def with_trait(trait: str) -> frozenset[str]:
    """The names of all operations that have a trait."""
    return frozenset(name for name, spec in OPERATIONS.items() if trait in spec.traits)


_CAST = "$src {} : T(src) -> R"
_MEMORY = "caching {} :"
_RETURN = "$values* {} : T(values*)"

# tt: memory
_op("tt.addptr", "ptr offset", "$ptr , $offset {} : T(ptr) , T(offset)", "ptr",
    traits="offsets")
_op("tt.load", "ptr mask? other?",
    f"$ptr (? , $mask )? (? , $other )? {_MEMORY} T(ptr)", "pointee ptr", traits="loads",
    cache="cache", evict="evict", padding="padding")
_op("tt.store", "ptr value mask?",
    f"$ptr , $value (? , $mask )? {_MEMORY} T(ptr)", traits="writes=ptr", cache="cache", evict="evict")
_op("tt.atomic_rmw", "ptr val mask?", "@atomic_rmw_op , @sem , @scope , $ptr , $val (? , $mask )? {} : F",
    traits="atomic reads writes=ptr",
    atomic_rmw_op="rmw", sem="sem", scope="scope")
_op("tt.atomic_cas", "ptr cmp val", "@sem , @scope , $ptr , $cmp , $val {} : F",
    traits="atomic reads writes=ptr", sem="sem", scope="scope")
_op("tt.atomic_poll", "ptr expected timeout?",
    "@sem , @scope , $ptr , $expected (? timeout $timeout )? {} : T(ptr) , T(expected) -> R",
    traits="atomic reads waits",
    sem="sem", scope="scope")
_op("tt.atomic_load", "ptr mask?", "@sem , @scope , $ptr (? , $mask )? {} : F",
    traits="atomic reads", sem="sem", scope="scope")
_op("tt.atomic_store", "ptr value mask?",
    "@sem , @scope , $ptr , $value (? , $mask )? {} : T(ptr)",
    traits="atomic writes=ptr", sem="sem", scope="scope")

# tt: descriptors
_op("tt.make_tensor_descriptor", "base shape* strides*",
    "$base , [ $shape* ] , [ $strides* ] {} : T(base) , R", traits="pure", padding="padding")
_op("tt.descriptor_load", "desc indices*",
    f"$desc [ $indices* ] {_MEMORY} T(desc) -> R", traits="reads", cache="cache", evict="evict")
_op("tt.descriptor_store", "desc src indices*", "$desc [ $indices* ] , $src {} : T(desc) , T(src)",
    traits="writes=desc")
_op("tt.descriptor_reduce", "desc src indices*",
    "@kind , $desc [ $indices* ] , $src {} : T(desc) , T(src)",
    traits="atomic reads writes=desc", kind="reduce_kind")
_op("tt.descriptor_gather", "desc x_offsets y_offset", "$desc [ $x_offsets , $y_offset ] {} : F",
    traits="reads")
_op("tt.descriptor_scatter", "desc x_offsets y_offset src",
    "$desc [ $x_offsets , $y_offset ] , $src {} : T(*)", traits="writes=desc")

# tt: block pointers, up to Triton 3.7
_op("tt.make_tensor_ptr", "base shape* strides* offsets*",
    "$base , [ $shape* ] , [ $strides* ] , [ $offsets* ] {} : R", traits="pure")
_op("tt.advance", "ptr offsets*", "$ptr , [ $offsets* ] {} : T(ptr)", "ptr", traits="pure")

# tt: elementwise
_family("tt.int_to_ptr tt.ptr_to_int", "src", _CAST, traits="elementwise")
_op("tt.bitcast", "src", _CAST, traits="reinterprets")
_op("tt.fp_to_fp", "src", "$src {} (? , rounding = @rounding )? : T(src) -> R",
    traits="elementwise", rounding="rounding")
_op("tt.clampf", "x min max",
    "$x , $min , $max , propagateNan = @propagateNan {} : T(x)", "x",
    traits="elementwise", propagateNan="nan")
_op("tt.precise_sqrt", "x", "$x {} : T(x)", "x", traits="precise")
_op("tt.precise_divf", "x y", "$x , $y {} : T(x)", "x", traits="precise")
_family("tt.approx_divf tt.mulhiui", "x y", "$x , $y {} : T(x)", "x", traits="elementwise")
_op("tt.extern_elementwise", "srcs*", "$srcs* {} : F", traits="elementwise")
_op("tt.elementwise_inline_asm", "args*", '"asm_string {} (? $args* : T(args*) )? -> R*')
_op("tt.map_elementwise", "srcs*", "generic", traits="maps")

# tt: views
_op("tt.splat", "src", _CAST, traits="splats")
_op("tt.unsplat", "src", "$src {} : T(src)", "element src", traits="arranges")
_op("tt.expand_dims", "src", _CAST, traits="reshapes")
_op("tt.reshape", "src",
    "$src (? allow_reorder !allow_reorder )? (? efficient_layout !efficient_layout )? {} : T(src) -> R",
    traits="reshapes")
_op("tt.broadcast", "src", _CAST, traits="repeats")
_op("tt.trans", "src", _CAST, traits="transposes")
_family("tt.join tt.cat", "lhs rhs", "$lhs , $rhs {} : T(lhs) -> R", traits="arranges")
_op("tt.split", "src", "$src {} : T(src) -> R", "both", traits="arranges")
_op("tt.gather", "src indices", "$src [ $indices ] {} : F", traits="picks")

# ts: what passes/simplify.py writes; Triton does not know it
_op("ts.swap", "src", "$src {} : T(src)", "src", traits="view")
_family("ts.larger ts.smaller", "lhs rhs", "$lhs , $rhs {} : T(lhs)", "lhs", "extreme")

# ts: what passes/checked/ writes
_op("ts.check_word", "", "{} : R", traits="pure")
_op("ts.inside", "value first last", "$value , $first , $last {} : T(value)", "i1", "unordered")
_op("ts.report", "fine bad value", "$fine , $bad , $value {} : T(bad) , T(value)", traits="watches")
_op("ts.touch", "ptr mask?", "$ptr (? , $mask )? {} : T(ptr)", traits="watches")
_op("ts.order", "ptr mask? releases?", "$ptr (? mask $mask )? (? releases $releases )? {} : T(ptr)",
    traits="watches")
_op("ts.twice", "ptr value mask?", "$ptr , $value (? , $mask )? {} : T(ptr)", traits="watches")
_family("ts.lock ts.unlock", "", "{}", traits="watches")
_op("ts.given", "ptr mask?", "$ptr (? , $mask )? {} : T(ptr)", "i1 ptr", traits="watches")
_op("ts.give", "ptr mask?", "$ptr (? , $mask )? {} : T(ptr)", traits="watches")
_op("ts.stopped", "", "{} : R", traits="watches")

# tt: ids, ranges
_op("tt.get_program_id", "", "@axis {} : R", traits="pure", axis="dim")
_op("tt.get_num_programs", "", "@axis {} : R", traits="pure", axis="dim")
_op("tt.make_range", "", "{} : R", traits="enumerates")

# tt: over an axis
_op("tt.reduce", "srcs*", "generic", traits="reduces")
_op("tt.scan", "srcs*", "generic", traits="folds")
_family("tt.reduce.return tt.scan.return", "values*", _RETURN, traits="returns")
_op("tt.map_elementwise.return", "values*", "{} (? $values* : T(values*) )?", traits="returns")
_op("tt.histogram", "src mask?", "$src (? , $mask )? {} : T(src) -> R", traits="pure")
_op("tt.dot", "a b c",
    "$a , $b , $c (? , inputPrecision = @inputPrecision )? {} : T(a) * T(b) -> R",
    traits="product", inputPrecision="precision")
_op("tt.dot_scaled", "a b c a_scale? b_scale?",
    "$a (? scale $a_scale )? , $b (? scale $b_scale )? , $c lhs = @a_elem_type rhs = @b_elem_type {} : "
    "T(a) (? , T(a_scale) )? * T(b) (? , T(b_scale) )? -> R",
    traits="product", a_elem_type="scaled", b_elem_type="scaled")

# tt: functions, debugging
_op("tt.func", "", "custom function", traits="function")
_op("tt.return", "srcs*", "{} (? $srcs* : T(srcs*) )?", traits="returns")
_op("tt.call", "arguments*", "@@callee ( $arguments* ) {} : F", traits="calls")
_op("tt.print", "args*", '"prefix {} (? : $args* : T(args*) )?')
_op("tt.assert", "condition", '$condition , "message {} : T(condition)')
_family("tt.grid_dependency_wait tt.grid_dependency_launch_dependents", "", "{}")

# arith
_BINARY = "$lhs , $rhs flags {} : T(lhs)"
_ARITH_CAST = "$src flags {} : T(src) to R"
_op("arith.addi", "lhs rhs", _BINARY, "lhs", "ring sum")
_op("arith.subi", "lhs rhs", _BINARY, "lhs", "difference")
_op("arith.muli", "lhs rhs", _BINARY, "lhs", "times")
_family("arith.shli arith.shrsi arith.shrui", "lhs rhs", _BINARY, "lhs", "shifts")
_family(
    "arith.maxsi arith.maxui arith.minsi arith.minui arith.maximumf arith.maxnumf arith.minimumf "
    "arith.minnumf", "lhs rhs", _BINARY, "lhs", "extreme",
)
_family("arith.andi arith.ori", "lhs rhs", _BINARY, "lhs", "idempotent")
_family("arith.xori arith.addf arith.subf arith.divf arith.remf", "lhs rhs", _BINARY, "lhs", "elementwise")
_family(
    "arith.divsi arith.divui arith.ceildivsi arith.ceildivui arith.floordivsi", "lhs rhs", _BINARY, "lhs",
    "elementwise divides",
)
_family("arith.remsi arith.remui", "lhs rhs", _BINARY, "lhs", "elementwise remainder")
_op("arith.mulf", "lhs rhs", _BINARY, "lhs", "multiplies")
_op("arith.negf", "operand", "$operand flags {} : T(operand)", "operand", "elementwise")
_op("arith.extsi", "src", _ARITH_CAST, traits="elementwise widens")
_op("arith.extui", "src", _ARITH_CAST, traits="zero_extends")
_family(
    "arith.trunci arith.index_cast arith.index_castui", "src", _ARITH_CAST, traits="elementwise resizes",
)
_family(
    "arith.extf arith.truncf arith.sitofp arith.uitofp arith.convertf", "src", _ARITH_CAST,
    traits="elementwise",
)
_op("arith.bitcast", "src", _ARITH_CAST, traits="reinterprets")
_family("arith.fptosi arith.fptoui", "src", _ARITH_CAST, traits="truncates")
_family(
    "arith.scaling_extf arith.scaling_truncf",
    "src scale", "$src , $scale flags {} : T(src) , T(scale) to R", traits="elementwise",
)
_op("arith.cmpi", "lhs rhs", "@predicate , $lhs , $rhs {} : T(lhs)", "i1 lhs", "elementwise",
    predicate="cmpi")
_op("arith.cmpf", "lhs rhs", "@predicate , $lhs , $rhs flags {} : T(lhs)", "i1 lhs", "elementwise",
    predicate="cmpf")
_op("arith.select", "condition true_value false_value", "custom select", "true_value", "selects")
_op("arith.constant", "", "custom constant", traits="constant")
_family("arith.addui_extended arith.subui_extended", "lhs rhs", "$lhs , $rhs {} : T(lhs) , R", "extended lhs",
        "elementwise")
_family("arith.mulsi_extended arith.mului_extended", "lhs rhs", "$lhs , $rhs {} : T(lhs)", "both lhs",
        "elementwise")
_op("arith.flush_denormals", "operand", "$operand {} : T(operand)", "operand", "elementwise")

# math
_family(
    "math.absf math.absi math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt "
    "math.ceil math.cos math.cosh math.ctlz math.ctpop math.cttz math.erf math.erfc math.exp math.exp2 "
    "math.expm1 math.floor math.log math.log10 math.log1p math.log2 math.round math.roundeven math.rsqrt "
    "math.sin math.sinh math.sqrt math.tan math.tanh math.trunc",
    "operand", "$operand flags {} : T(operand)", "operand", "elementwise",
)
_family(
    "math.isfinite math.isinf math.isnan math.isnormal",
    "operand", "$operand flags {} : T(operand)", "i1 operand", "elementwise",
)
_family("math.atan2 math.copysign math.ipowi math.powf", "lhs rhs", _BINARY, "lhs", "elementwise")
_op("math.fpowi", "lhs rhs", "$lhs , $rhs flags {} : T(lhs) , T(rhs)", "lhs", "elementwise")
_op("math.fma", "a b c", "$a , $b , $c flags {} : T(a)", "a", "multiplies")
_op("math.clampf", "value min max", "$value to [ $min , $max ] flags {} : T(value)", "value",
    "elementwise")
_op("math.sincos", "operand", "$operand flags {} : T(operand)", "both operand", "elementwise")

# scf, cf
_op("scf.for", "lower upper step init*", "custom for", traits="counts")
_op("scf.while", "init*", "custom while", traits="loops carries")
_op("scf.if", "condition", "custom if", traits="carries")
_op("scf.execute_region", "", "custom execute_region")
_op("scf.yield", "values*", "{} (? $values* : T(values*) )?", traits="terminator")
_op("scf.condition", "condition args*", "( $condition ) {} (? $args* : T(args*) )?", traits="terminator")
_op("cf.br", "dest_operands*", "custom br", traits="terminator")
_op("cf.cond_br", "condition true_dest_operands* false_dest_operands*", "custom cond_br", traits="terminator")
_op("cf.switch", "flag default_operands* case_operands*", "custom switch", traits="terminator")
_op("cf.assert", "arg", '$arg , "msg {}')

# ub, builtin, llvm, gpu
_op("ub.poison", "", "custom poison", traits="pure")
_op("ub.unreachable", "", "{}", traits="terminator")
_op("builtin.module", "", "custom module")
_op("builtin.unrealized_conversion_cast", "inputs*", "(? $inputs* : T(inputs*) )? to R* {}")
_op("llvm.intr.assume", "cond op_bundle_operands*", "custom assume")
_op("gpu.barrier", "", "custom gpu_barrier")
_family(
    "gpu.thread_id gpu.block_id gpu.block_dim gpu.grid_dim gpu.global_id gpu.cluster_id",
    "", "@dimension flags {}", "index", "pure",
)
_family("gpu.lane_id gpu.subgroup_id gpu.num_subgroups gpu.subgroup_size", "", "{} : R", traits="pure")

# ttg
_op("ttg.convert_layout", "src", _CAST, traits="converts")
_op("ttg.local_alloc", "src?", "(? $src )? {} : F")
_op("ttg.local_dealloc", "src", "$src {} : T(src)")
_op("ttg.local_load", "src token?", "$src (? token $token )? {} : T(src) -> R")
_op("ttg.local_store", "src dst", "$src , $dst {} : T(src) -> T(dst)")
_op("ttg.local_gather", "src indices token?",
    "$src [ $indices ] (? token $token )? {} : T(src) , T(indices) -> R")
_op("ttg.local_scatter", "dst values indices token?",
    "$dst [ $indices ] , $values (? token $token )? {} : T(dst) , T(indices) , T(values)")
_op("ttg.local_atomic_scatter_rmw", "dst values indices mask?",
    "@atomic_rmw_op , $dst [ $indices ] , $values (? , $mask )? {} : F",
    atomic_rmw_op="rmw")
_op("ttg.memdesc_index", "src index", "$src [ $index ] {} : T(src) -> R", traits="pure")
_op("ttg.memdesc_subslice", "src", "$src [ #offsets ] {} : T(src) -> R", traits="pure")
_family("ttg.memdesc_trans ttg.memdesc_reshape ttg.memdesc_reinterpret", "src", _CAST, traits="pure")
_op("ttg.async_wait", "asyncToken*", "(? $asyncToken* )? {}", "token")
_op("ttg.async_commit_group", "inputTokens*", "(? tokens $inputTokens* )? {}", "token")
_op("ttg.async_copy_global_to_local", "src dst mask? other?",
    f"$src , $dst (? mask $mask )? (? other $other )? {_MEMORY} T(src) -> T(dst)", "token",
    traits="reads", cache="cache", evict="evict")
_op("ttg.barrier", "", "|addrSpace {}", addrSpace="addr_space")
_op("ttg.local_barrier", "", "{}")
_op("ttg.warp_id", "", "{}", "i32", "pure")
_op("ttg.predicate_stage", "iv ub step", "$iv , $ub , $step maxStage @maxStage stage @stage {} : T(iv) -> R")
_op("ttg.mask", "pred", "generic")
_op("ttg.mask.return", "values*", _RETURN, traits="returns")
_op("ttg.fp4_to_fp", "src", _CAST, traits="pure")
_op("ttg.global_scratch_alloc", "", "{} : R")
_op("ttg.warp_specialize", "explicitCaptures*", "custom warp_specialize")
_op("ttg.warp_specialize.partitions", "explicitCaptures*", "generic")
_op("ttg.warp_yield", "values*", "(? $values* )? {} (? : T(values*) )?", traits="terminator")
_op("ttg.warp_return", "", "{}", traits="terminator")
