"""What drivers get wrong, and what is done about it: one table.

A quirk of drivers that can be told apart is named in `Target.quirks`, and whoever works around it asks
`target.has("...")`. The others are of drivers that cannot, or cost nothing to avoid: they are worked around
always. `test` says how it is known that a quirk may go: a test of the fault itself, which fails once a driver
is right, or one that can be tried on a new driver without the workaround. docs/notes/quirks.md is made of
this. """

from __future__ import annotations

from typing import NamedTuple

from .dataclass import dataclass

NVIDIA, LLVMPIPE, MESA, VULKAN = "NVIDIA", "llvmpipe", "Mesa", "every Vulkan driver"
INTEL_CPU, IGC, POCL = "Intel's OpenCL CPU runtime", "Intel's GPU compiler", "PoCL"

Version = tuple[int, ...]


class VulkanDriver(NamedTuple):
    """The name that a driver gives itself, and the version of Mesa that it is of; None: of other makers."""

    name: str
    mesa: Version | None = None


@dataclass(frozen=True)
class Quirk:
    """One fault.

    drivers  whose
    seen     with which versions
    wrong    what they do
    instead  what we do
    where    the files that do it, from the package's folder
    test     FILE::NAME: see above
    told     is it in `Target.quirks` of the targets that have it? Else it is worked around always, or goes by
             another field of the target
    until    of drivers of Mesa: the first version without it
    """

    name: str
    drivers: str
    seen: str
    wrong: str
    instead: str
    where: tuple[str, ...]
    test: str
    told: bool = False
    until: Version | None = None

    def applies_to(self, driver: VulkanDriver) -> bool:
        """Has a Vulkan driver this quirk?"""
        if self.drivers == MESA:
            return driver.mesa is not None and (self.until is None or driver.mesa < self.until)
        return self.drivers in (driver.name, VULKAN)


TABLE = (
    Quirk("joins_quotients", NVIDIA, "580 (H200)",
          "It takes quotients of different integers of 64 bits for one: the second element of two gets "
          "the `(x // 3) % 7` of the first.",
          "Integers of 64 bits are divided by way of f64, two estimates and a correction, exactly.",
          ("environment/vulkan/environment.py", "environment/glsl/integers.py"),
          "tests/lower/test_quotients.py::test_quotients_by_constants", told=True),
    Quirk("joins_conversions", NVIDIA, "580 (H100, H200)",
          "It takes the conversion to a narrower float and back for nothing.",
          "The bits of the narrow float are combined with a 0 that it does not know.",
          ("spirv/passes/joined_conversions.py",),
          "tests/environment/test_vulkan.py::test_a_narrower_float_and_back_is_rounded", told=True),
    Quirk("knows_extensions", NVIDIA, "580 (H100)",
          "It takes checks of sums of integers extended from 8 or 16 bits for an instruction that finds "
          "no overflow, and does not build comparisons of products of integers extended from 32 bits.",
          "Extended integers, and such products, have an upper bit that it does not know.",
          ("environment/vulkan/environment.py", "spirv/passes/extended_products.py"),
          "tests/environment/test_vulkan.py::test_extended_integers_with_a_hidden_bit", told=True),
    Quirk("saturates", NVIDIA, "580 (H200)",
          "In kernels that divide integers of 64 bits it computes `max(x, y) - y` of others without a sign, "
          "and whatever it takes for that, with the upper word of something else.",
          "Integers of 64 bits are subtracted in words, in which it does not see it; and added so, where an "
          "operand is `~y`, a negative number or a product by one.",
          ("spirv/passes/parted_differences.py",),
          "tests/lower/test_quotients.py::test_differences_beside_a_remainder", told=True),
    Quirk("equals_itself", NVIDIA, "580 (H200)",
          "A NaN that it computes while it compiles, 0 / 0 of numbers in the kernel, equals itself.",
          "Whether a float equals itself is asked of its bits.",
          ("spirv/passes/self_comparisons.py",),
          "tests/lower/test_not_a_number.py::test_computed_of_constants", told=True),
    Quirk("keeps_loops", NVIDIA, "580 (H100)",
          "It repeats loops of products of thousands of instructions four times, and they no longer fit "
          "into the cache for instructions. (Slow, not wrong.)",
          "Loops of products say DontUnroll.",
          ("lower/control/control_flow.py",),
          "tests/environment/test_matrices.py::"
          "test_loops_of_products_are_kept_where_the_driver_would_repeat_them", told=True),
    Quirk("carries_words", VULKAN, "NVIDIA's 580",
          "It crashes where a loop exchanges two truth values.",
          "Values of 1 and of 16 bits go from round to round of a loop as words, on every Vulkan device.",
          ("lower/control/carry.py",),
          "tests/lower/test_control_flow.py::test_carried_tensors", told=True),
    Quirk("denormals_of_fma", NVIDIA, "580 (H200)",
          "Its Fma of GLSL takes denormal numbers for 0, whatever controls are declared; sums and "
          "products that it contracts itself do not. Of what it takes for a difference it contracts "
          "nothing under float controls 2.",
          "`Target.contracts` is \"mode\": sums and products say AllowContract, and differences are written "
          "as sums of a number whose sign is flipped by bits.",
          ("runtime/vulkan/target.py", "spirv/passes/contraction.py"),
          "tests/environment/test_contraction.py::test_differences_are_what_they_were"),
    Quirk("slow_rounding_mode", NVIDIA, "580 (H200)",
          "It rounds f32 to nearest without being told; where RoundingModeRTE says so, its code for "
          "softmax is a tenth slower. (Slow, not wrong.)",
          "The mode is not declared for f32.",
          ("runtime/vulkan/target.py",),
          "tests/runtime/vulkan/test_devices.py::test_what_is_known_of_a_driver"),
    Quirk("extends_by_halves", MESA, "before 24.1.3",
          "It orders an i32 that was extended to i64 with its sign wrongly against constants: the least "
          "i32 is a positive i64.",
          "i32 becomes i64 as a pair of words.",
          ("spirv/builder.py",),
          "tests/runtime/vulkan/test_devices.py::"
          "test_old_mesa_extends_by_halves", told=True, until=(24, 1, 3)),
    Quirk("limits_of_a_type", MESA, "22.3",
          "It answers comparisons of a widened integer with the limits of its own type wrongly.",
          "They are decided when compiling, for every target.",
          ("passes/simplify.py",),
          "tests/passes/test_cases.py::test_case"),
    Quirk("folds_zeros", LLVMPIPE, "22.3 to 25.0",
          "It takes x * 0 for 0, x / 0 for anything and x + 0 for x where the zero is a constant, "
          "or found to be one (as x - x is), whatever x is.",
          "Constants that are zero, one of two equal operands of a difference, and all operands of "
          "divisions, are hidden from it.",
          ("environment/vulkan/environment.py", "spirv/builder.py"),
          "tests/lower/test_zeros.py::test_known_zeros", told=True),
    Quirk("loop_rounds", LLVMPIPE, "all (LP_MAX_TGSI_LOOP_ITERATIONS)",
          "It gives all loops of a program together 65535 rounds, and leaves them without a word.",
          "`Target.loop_rounds`: each loop notes whether it goes on; a launch with a loop that was cut "
          "short raises.",
          ("lower/control/loop_limit.py",),
          "tests/runtime/vulkan/test_loop_limit.py::test_no_loop_is_cut_silently"),
    Quirk("truncation_of_f64", LLVMPIPE, "22.3",
          "Trunc and RoundEven of f64 take every number of 2^24 and more for a whole one, where lanes "
          "fill more than the processor's widest register.",
          "f64 is truncated and rounded by Floor, on every Vulkan device.",
          ("environment/glsl/rounding.py",),
          "tests/environment/test_vulkan.py::test_functions"),
    Quirk("barrier_of_ordered_atomics", LLVMPIPE, "22.3",
          "It makes a barrier of the work-group of every ordered atomic operation, which waits for lanes "
          "that have left a loop.",
          "Loops of compare and exchange are relaxed, and stand between fences, on every device.",
          ("lower/memory/atomic.py",),
          "tests/lower/test_atomic.py::test_contended"),
    Quirk("vectorises_single_items", INTEL_CPU, "2026.22",
          "It makes vectors of work-items, though a group has one, in kernels whose addresses depend on the "
          "result of an atomic operation; where such a kernel has a loop without an end that it sees, the "
          "process ends in its pass \"vplan-vec\". Of a function that is called by its address it makes "
          "vectors, too, which takes it 10 to 500 times as long.",
          "Kernels with atomic operations, or whose programs are functions, say SubgroupSize 1.",
          ("environment/opencl/environment.py",),
          "tests/lower/test_vectorised_atomics.py::test_driver_still_crashes", told=True),
    Quirk("parts_contractions", INTEL_CPU, "2026.22",
          "It moves operations out of arms and behind shuffles, now and then a sum without its product: then "
          "they are no longer one operation. Whether it does depends on the code around, so the same kernel "
          "gave other last bits in checked mode, in vector mode and in lanes.",
          "A product and its sum are one operation, `fma`, before the driver sees them; but for those of "
          "f16.",
          ("spirv/passes/contraction.py", "environment/opencl/environment.py"),
          "tests/lower/test_contraction.py::test_driver_still_parts_them", told=True),
    Quirk("inexact_erf", INTEL_CPU, "2026.22",
          "Its error function of f32 is off by up to 4.0 units in the last place with AVX-512, and by 1.7 "
          "without.",
          "Two polynomials and an exponential, off by 1 and faster.",
          ("environment/opencl/error_function.py",),
          "tests/environment/test_error_function.py::test_driver_is_still_inexact", told=True),
    Quirk("tabulates_exp2", INTEL_CPU, "2026.22, without AVX-512",
          "For powers of two of f32 it reads a table, element by element: 0.63 ns for each on one core of a "
          "Xeon, where an exponential takes 0.37.",
          "A polynomial: 0.30 ns, off by 0.8 units in the last place instead of 0.62.",
          ("environment/opencl/exponentials.py",),
          "tests/environment/test_powers_of_two.py::test_driver_still_reads_a_table", told=True),
    Quirk("joins_sine_and_cosine", INTEL_CPU, "2026.22",
          "It takes a sine and a cosine of one number together, with other last bits than each of them has "
          "alone. A gradient of torch.compile that compares with the maximum of what it computes again finds "
          "nothing equal, and is NaN.",
          "The cosine is that of the negated number. The two then take as long as one after the other: 867 "
          "us instead of 454 for a million of f32 on one core of a Zen 4.",
          ("environment/opencl/environment.py",),
          "tests/environment/test_functions_together.py::test_driver_still_joins_two", told=True),
    Quirk("permuted_phis", INTEL_CPU, "2026.22, asked not to optimise",
          "It writes the phis of a loop with a barrier or an exchange one after the other: of `a, b = b, "
          "a` the second gets the new value of the first.",
          "Where a phi takes another phi of its block, it travels through a variable, in kernels that ask "
          "not to be optimised.",
          ("spirv/passes/permuted_phis.py",),
          "tests/lower/test_permuted_phis.py::test_driver_still_mixes_them_up"),
    Quirk("clustered_reductions", INTEL_CPU, "2026.22, asked not to optimise",
          "ClusteredReduce gives all lanes the first part's result.",
          "Parts of a sub-group are reduced by shuffles where a target leaves kernels unoptimised.",
          ("environment/opencl/lanes.py",),
          "tests/backend/test_simt.py::test_reductions_of_parts_of_a_sub_group"),
    Quirk("option_without_optimisation", INTEL_CPU, "2026.22",
          "With the build option -cl-opt-disable, lanes get wrong numbers.",
          "Large kernels for lanes ask not to be optimised by the control OptNone of their function.",
          ("environment/opencl/environment.py",),
          "tests/backend/test_simt.py::test_large_kernels_are_left_as_they_are"),
    Quirk("values_of_one_way", INTEL_CPU, "2026.22",
          "Given a module that uses a value behind the branch that made it, which no driver refuses, it "
          "computes on or ends the process.",
          "The builder refuses such a use; so does the verifier behind passes.",
          ("spirv/module.py", "spirv/passes/verify.py"),
          "tests/spirv/test_control.py::test_a_value_of_one_way_is_refused_behind_it"),
    Quirk("vectors_of_vectors", INTEL_CPU, "2026.22",
          "It does not build OpCompositeConstruct of vectors (\"Invalid insert element record\").",
          "Vectors are joined by shuffles, on every device.",
          ("lower/values/fragment.py",),
          "tests/lower/test_view.py::test_cat"),
    Quirk("remainder_of_itself", INTEL_CPU, "2026.22",
          "fmod(x, x) is x for some x that are denormal or have the least exponent of the normal ones.",
          "A remainder as large as the divisor is 0, on every OpenCL device.",
          ("environment/opencl/environment.py",),
          "tests/lower/test_elementwise.py::test_remainder_of_multiples_is_zero"),
    Quirk("spilled_masks", INTEL_CPU, "2026.22, on processors with AVX-512",
          "It widens a masked access of eight bytes to 16, and forgets to clear the other half of the mask "
          "where it keeps the mask on the stack: if the mask is a half of a comparison of 16, the access is "
          "made under the next half's mask as well, eight bytes too far.",
          "Such accesses are made as two of four bytes, for which it shifts masks.",
          ("environment/opencl/memory.py",),
          "tests/lower/test_masks_of_data.py::test_many_masks_of_runs_of_eight_bytes"),
    Quirk("halved_masks", INTEL_CPU, "2026.22, on processors with AVX or AVX2 and no AVX-512",
          "It takes a masked load of 16 elements of 32 bits apart, and reads one half without a mask, and "
          "keeps what it reads, where all of the mask of that half is known to be false.",
          "Masked accesses of more than 32 bytes are made in halves there.",
          ("environment/opencl/memory.py",),
          "tests/lower/test_masks_known_in_part.py::test_for_older_processors"),
    Quirk("scattered_rows", INTEL_CPU, "2026.22, for Intel's processors with AVX-512",
          "It makes scattering instructions of a loop of stores behind a branch, and takes the address of "
          "the first of two rows of eight elements for that of the second.",
          "Such stores are volatile, of which it makes none.",
          ("lower/memory/store.py",),
          "tests/lower/test_scattered_rows.py::test_for_intels_avx512"),
    Quirk("halves_of_addresses", INTEL_CPU, "2026.22, for processors with AVX-512",
          "Of 16 integers of 64 bits whose halves are one number each, and of which it needs one of each "
          "half, it takes the first half's for both, now and then: of loads of runs of eight elements the "
          "second had the first one's address, of rows of 32 the second row the first one's.",
          "Of runs, only the first elements' addresses are computed; where all have been, those come from "
          "registers that went by way of memory.",
          ("lower/addresses/transfers.py", "lower/walk/evaluation.py", "lower/values/fragment.py"),
          "tests/lower/test_addresses_of_runs.py::test_for_intels_avx512"),
    Quirk("traps_on_division", POCL, "6.0",
          "It makes the processor's own division of one of integers. By 0, or of the least number by -1, "
          "that ends the process, also for elements that a mask leaves out.",
          "Such divisors become 1, on CPU devices of other drivers than Intel's.",
          ("environment/opencl/division.py",),
          "tests/lower/test_elementwise.py::test_undefined_results_harm_nobody", told=True),
    Quirk("drops_wide_calls", POCL, "6.0",
          "It takes a call of a function of OpenCL's with vectors of more than 64 bytes (`max` of 16 "
          "integers of 64 bits) for one that never returns, and leaves out what follows, all stores: the "
          "function in its library has these vectors in memory.",
          "Vectors have 8 components on CPU devices of other drivers than Intel's (`Target.vector_width`).",
          ("target/known.py",),
          "tests/lower/test_quotients.py::test_differences_beside_a_remainder"),
    Quirk("exchanged_numbers", IGC, "2.40",
          "It makes reductions of its own of `x + shuffle_xor(x)`, and crashes where one step takes its x "
          "from another reduction, or from a shorter one with the same beginning.",
          "Lanes exchange integers as floats and everything else as integers, on every OpenCL device.",
          ("environment/opencl/lanes.py",),
          "tests/isa/test_every_operation.py::test_compiles"),
    Quirk("contracts_by_default", IGC, "22.43 to 26.27",
          "It contracts products and sums of which the module says nothing.",
          "Every OpenCL kernel has the execution mode ContractionOff.",
          ("environment/opencl/environment.py",),
          "tests/lower/test_math.py::test_fma_rounds_once"),
    Quirk("clock_in_64_bits", IGC, "22.43",
          "It crashes on sums and comparisons of its clock, where a device has no integers of 64 bits, "
          "and does not know OpReadClockKHR.",
          "`Target.clock_builtin`: the clock by a builtin, taken apart into two words.",
          ("environment/opencl/environment.py",),
          "tests/isa/test_every_operation.py::test_compiles"),
    Quirk("logical_not", IGC, "22.43",
          "It crashes on OpLogicalNot.",
          "OpLogicalNotEqual with true, on every device.",
          ("spirv/builder.py",),
          "tests/test_target.py::test_every_gpu_is_compiled_for_without_it"),
    Quirk("predicates_with_alignment", IGC, "26.27",
          "It drops a predicated load or store that has memory operands, without a word.",
          "They have none; what is aligned to less than its elements takes a branch.",
          ("environment/opencl/memory.py",),
          "tests/lower/test_predicated.py::test_a_mask_is_a_predicate"),
)

QUIRKS = {quirk.name: quirk for quirk in TABLE}

#: Those that `Target.quirks` may have.
TOLD = frozenset(quirk.name for quirk in TABLE if quirk.told)


def quirks_of(driver: VulkanDriver) -> frozenset[str]:
    """Those of a Vulkan driver that a target tells."""
    return frozenset(quirk.name for quirk in TABLE if quirk.told and quirk.applies_to(driver))


def page() -> str:
    """docs/notes/quirks.md."""
    rows = [f"| `{quirk.name}` | {quirk.drivers}, {quirk.seen} | {quirk.wrong} | {quirk.instead} "
            f"{', '.join(f'`{file}`' for file in quirk.where)} | `{quirk.test}` |" for quirk in TABLE]
    return "\n".join([HEAD, *rows]) + "\n"


HEAD = """# What drivers get wrong

For developers of triton-spirv: faults of drivers that the compiler works around. The table stands in
`python/triton_spirv/quirks.py`; this page is made of it (`python -m triton_spirv --quirks-table`).

A quirk whose name is in `Target.quirks` of a target is worked around there only. All others are worked around
on every device of their environment, or go by another field of the target, as the table says. The last column
names the test that shows when a quirk may go: run it with a new driver, and without the workaround.

| quirk | driver, and where it was seen | what it gets wrong | what we do, and where | test |
|---|---|---|---|---|"""
