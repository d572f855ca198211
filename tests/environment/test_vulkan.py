"""environment/vulkan*.py: what a launcher relies on, what is refused, and the functions on the device."""

from __future__ import annotations

import re
import struct
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from environment.shaders import module, pointer
from triton_spirv.environment import Parameter
from triton_spirv.errors import LoweringError, MissingCapability
from triton_spirv.spirv import Float, Int
from triton_spirv.spirv.asm import listing
from triton_spirv.spirv.control import For
from triton_spirv.target import LAVAPIPE, VULKAN

pytestmark = pytest.mark.vulkan

LANES = LAVAPIPE.sub_group_size


# ---- arguments


@pytest.mark.parametrize("extra", [0, 20])
def test_arguments_of_every_type(launch: Any, extra: int) -> None:
    """In the push constants, and in a buffer where they are too many; narrow ones are cut out of words."""
    kinds = ["i1", "i8", "i16", "f16", "i32", "i8", "i64", "f32", "f64", "bf16"]
    given = [True, -7, -300, 1.5, -70000, 5, -(1 << 40), 0.1, 1e300, 2.0]
    parameters = [pointer("out", 64), *(Parameter(f"p{i}", kind) for i, kind in enumerate(kinds)),
                  *(Parameter(f"q{i}", "i64") for i in range(extra))]

    def body(b: Any, env: Any, values: list[Any]) -> None:
        out, *scalars = values
        for i, (kind, value) in enumerate(zip(kinds, scalars[:len(kinds)], strict=True)):
            if kind == "i1":
                value = b.select(value, b.constant(Int(32), 1), 0)
            if kind == "bf16":
                value = b.bitcast(b.shl(b.resize(value, 32), 16), Float(32))
            if kind != "f64":
                opcode = "OpConvertSToF" if isinstance(value.type, Int) else "OpFConvert"
                value = b.convert(opcode, value, Float(64))
            env.store(env.offset(out, b.constant(Int(32), i)), value)

    artifact = module(parameters, body)
    assert artifact.passing == ("buffer" if extra else "push")
    assert (struct.calcsize(artifact.struct_format) <= LAVAPIPE.push_bytes) is not bool(extra)
    out = torch.zeros(len(kinds), dtype=torch.float64)
    launch(artifact, 1, out, *given, *range(extra))
    assert out.tolist() == [float(np.float32(x)) if kind == "f32" else float(x)
                            for kind, x in zip(kinds, given, strict=True)]


# ---- refusals


def test_what_a_device_lacks_is_refused_by_name() -> None:
    with pytest.raises(MissingCapability, match="Float64"):
        module([pointer("x", 64)], lambda b, env, values: env.store(values[0], b.constant(Float(64), 1)),
               VULKAN)
    with pytest.raises(LoweringError, match="sinpi2"):
        module([pointer("x", 32)], lambda b, env, values: env.math("sinpi2", env.load(values[0], 1)))


@pytest.mark.parametrize("count, alignment, parts", [(4, 16, 1), (4, 8, 2), (4, None, 4), (2, 8, 1)])
def test_accesses_are_as_wide_as_they_are_aligned(count: int, alignment: int | None, parts: int) -> None:
    def body(b: Any, env: Any, values: list[Any]) -> None:
        env.store(values[0], env.load(values[0], count, alignment=alignment), alignment=alignment)
    from triton_spirv.tools import spirv_tools
    artifact = module([pointer("x", 32)], body)
    spirv_tools.validate(artifact.words, "vulkan1.2")
    assert spirv_tools.disassemble(artifact.words).count("OpStore") == parts


# ---- functions

#: name -> (exact, range of f32, range of f64, ulp promised in docs/vulkan.md)
FUNCTIONS: dict[str, Any] = {
    "exp": (mpmath.exp, (-104, 88), (-745, 709), 1.5),
    "exp2": (lambda x: mpmath.mpf(2) ** x, (-149, 127), (-1074, 1023), 1.5),
    "log": (mpmath.log, (0, 100), (0, 100), 1), "log2": (lambda x: mpmath.log(x, 2), (0, 4), (0, 4), 1),
    "log1p": (mpmath.log1p, (-1, 10), (-1, 10), 1), "expm1": (mpmath.expm1, (-20, 88), (-40, 709), 1.5),
    "sin": (mpmath.sin, (-1e5, 1e5), (-1e7, 1e7), 2.5), "cos": (mpmath.cos, (-1e9, 1e9), (-1e18, 1e18), 2.5),
    "tan": (mpmath.tan, (-100, 100), (-100, 100), 3.5), "tanh": (mpmath.tanh, (-10, 10), (-20, 20), 2.5),
    "asin": (mpmath.asin, (-1, 1), (-1, 1), 2.5), "atan": (mpmath.atan, (-20, 20), (-20, 20), 2),
    "sqrt": (mpmath.sqrt, (0, 1e10), (0, 1e10), 0.501),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (0, 1e3), (0, 1e3), 2),
    "erf": (mpmath.erf, (-4, 4), (-6, 6), 4), "erfc": (mpmath.erfc, (-3, 9), (-3, 26), 6),
    "tgamma": (mpmath.gamma, (0, 34), (0, 170), 4),
}


def ulps(made: np.ndarray, exact: list[Any]) -> float:
    """The largest error, in units of the last place of the exact result."""
    info, worst = np.finfo(made.dtype), 0.0
    for value, wanted in zip(made.tolist(), exact, strict=True):
        exponent = max(mpmath.frexp(wanted)[1] - 1, info.minexp) if wanted else info.minexp
        worst = max(worst, float(abs(mpmath.mpf(value) - wanted) / mpmath.mpf(2) ** (exponent - info.nmant)))
    return worst


@pytest.mark.parametrize("rounded", [LAVAPIPE.rounded, frozenset()], ids=["device", "corrected"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(launch: Any, name: str, bits: int, rounded: frozenset[str]) -> None:
    """`corrected`: as on a device whose division and root are not exact, with steps that put them right."""
    exact, *ranges, promised = FUNCTIONS[name]
    low, high = ranges[bits == 64]
    dtype = np.float32 if bits == 32 else np.float64
    x = np.random.default_rng(1).uniform(low, high, 256).astype(dtype)
    target = LAVAPIPE.with_options(rounded=rounded)

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        env.store(env.offset(values[1], i), env.math(name, env.load(env.offset(values[0], i), 1)))

    out = torch.zeros(len(x), dtype=torch.float32 if bits == 32 else torch.float64)
    launch(module([pointer("x", bits), pointer("y", bits)], body, target), len(x) // LANES,
           torch.from_numpy(x), out)
    with mpmath.workdps(60):
        assert ulps(out.numpy(), [exact(mpmath.mpf(value)) for value in x.tolist()]) <= promised


@pytest.mark.parametrize("name", ["exp", "exp2", "exp10"])
def test_exponentials_by_instruction(launch: Any, name: str) -> None:
    """On a device whose Exp2 is trusted."""
    edge = {"exp": 88.72, "exp2": 127.99, "exp10": 38.53}[name]
    special = [0.0, -0.0, 1e-30, edge, 1.02 * edge, -2 * edge, 3e38, np.inf, -np.inf, np.nan]
    x = np.concatenate([np.linspace(-1.1 * edge, edge, 128 - len(special)), special]).astype(np.float32)
    target = LAVAPIPE.with_options(accurate=frozenset({"Exp2"}))

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        env.store(env.offset(values[1], i), env.math(name, env.load(env.offset(values[0], i), 1)))

    out = torch.zeros(len(x))
    artifact = module([pointer("x", 32), pointer("y", 32)], body, target)
    launch(artifact, len(x) // LANES, torch.from_numpy(x), out)
    with np.errstate(all="ignore"):
        exact = {"exp": np.exp, "exp2": np.exp2, "exp10": lambda v: 10.0 ** v}[name](x.astype(np.float64))
        np.testing.assert_allclose(out.numpy(), exact.astype(np.float32), rtol=1e-6, atol=2.0 ** -148)


@pytest.mark.parametrize("way", ["at once", "by a vector", "by memory", "by a loop", "by the round before"])
def test_a_narrower_float_and_back_is_rounded(launch: Any, way: str) -> None:
    """Also on a device whose compiler would take the two conversions for nothing."""
    x = np.random.default_rng(4).uniform(-7e4, 7e4, 64 * LANES).astype(np.float32)
    target = LAVAPIPE.with_options(joins_conversions=True)

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        narrow = env.narrow(env.load(env.offset(values[0], i), 1), Float(16))
        if way == "by a vector":
            narrow = b.extract(b.construct([narrow, b.constant(Float(16), 1)]), 0)
        elif way == "by memory":
            env.store(env.offset(values[2], i), narrow)
            narrow = env.load(env.offset(values[2], i), 1)
        elif way == "by a loop":
            bounds = [b.constant(Int(32), bound) for bound in (0, 3, 1)]
            with For(b.module, *bounds, carried=[b.constant(Float(16), 0)]) as loop:
                loop.yield_([narrow])
            narrow = loop.results[0]
        elif way == "by the round before":  # which stores behind the load
            bounds = [b.constant(Int(32), bound) for bound in (0, 2, 1)]
            with For(b.module, *bounds, carried=[b.constant(Float(32), 0)]) as loop:
                before = env.load(env.offset(values[2], i), 1)
                loop.yield_([b.convert("OpFConvert", before, Float(32))])
                env.store(env.offset(values[2], i), narrow)
            env.store(env.offset(values[1], i), loop.results[0])
            return
        env.store(env.offset(values[1], i), b.convert("OpFConvert", narrow, Float(32)))

    out = torch.zeros(len(x))
    parameters = [pointer("x", 32), pointer("y", 32), pointer("z", 16)]
    artifact = module(parameters, body, target)
    between = listing(artifact.words).split("OpFConvert f16")[1].split("OpFConvert f32")[0]
    assert "OpBitwiseOr" in between  # so that it does not see that they belong together
    launch(artifact, len(x) // LANES, torch.from_numpy(x), out, torch.zeros(len(x), dtype=torch.float16))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out.numpy(), x.astype(np.float16).astype(np.float32))


def test_what_was_narrow_before_is_not_hidden() -> None:
    """A float of 16 bits that comes from memory, and one that goes there."""
    def body(b: Any, env: Any, values: list[Any]) -> None:
        wide = b.convert("OpFConvert", env.load(values[0], 1), Float(32))
        env.store(values[0], env.narrow(b.binary("OpFMul", wide, wide), Float(16)))

    target = LAVAPIPE.with_options(joins_conversions=True)
    assert "OpBitwiseOr" not in listing(module([pointer("x", 16)], body, target).words)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("narrow", "wide"), [(8, 16), (8, 32), (16, 32), (16, 64)])
def test_extended_integers_with_a_hidden_bit(launch: Any, narrow: int, wide: int, signed: bool) -> None:
    words = np.random.default_rng(5).integers(0, 1 << 32, 8 * LANES, dtype=np.uint32)
    target = LAVAPIPE.with_options(knows_extensions=True)

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        part = b.resize(env.load(env.offset(values[0], i), 1), narrow)
        env.store(env.offset(values[1], i), b.resize(b.resize(part, wide, signed), 64, signed))

    out = torch.zeros(len(words), dtype=torch.int64)
    artifact = module([pointer("x", 32, Int), pointer("y", 64, Int)], body, target)
    assert "OpBitwiseOr" in listing(artifact.words)
    launch(artifact, len(words) // LANES, torch.from_numpy(words.view(np.int32)), out)
    kind = np.dtype(f"{'i' if signed else 'u'}{narrow // 8}")
    np.testing.assert_array_equal(out.numpy(), words.astype(kind).astype(np.int64))


@pytest.mark.parametrize("way", ["at once", "by a vector", "by a loop"])
def test_products_of_extended_integers_with_a_hidden_bit(launch: Any, way: str) -> None:
    """Of 32 bits, whose product a check of overflow compares with 2^32."""
    powers = np.random.default_rng(6).integers(0, 33, (2, 8 * LANES))
    x, y = np.clip((1 << powers) - np.arange(8 * LANES) % 2, 0, (1 << 32) - 1).astype(np.uint32)
    target = LAVAPIPE.with_options(knows_extensions=True)

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        left, right = (b.resize(env.load(env.offset(value, i), 1), 64, signed=False) for value in values[:2])
        if way == "by a vector":
            both = b.construct([left, right])
            product = b.extract(b.imul(both, b.shuffle(both, both, [1, 0])), 1)
        elif way == "by a loop":
            bounds = [b.constant(Int(32), bound) for bound in (0, 3, 1)]
            with For(b.module, *bounds, carried=[b.constant(Int(64), 0)]) as loop:
                loop.yield_([left])
            product = b.imul(loop.results[0], right)
        else:
            product = b.imul(left, right)
        beyond = b.select(b.compare("OpUGreaterThan", product, (1 << 32) - 1), b.constant(Int(32), 1), 0)
        env.store(env.offset(values[2], i), product)
        env.store(env.offset(values[3], i), beyond)

    product, beyond = torch.zeros(len(x), dtype=torch.int64), torch.zeros(len(x), dtype=torch.int32)
    parameters = [pointer(name, bits, Int) for name, bits in zip("xyzw", (32, 32, 64, 32), strict=True)]
    artifact = module(parameters, body, target)
    made, hidden = re.search(r"(%\w+) = OpIMul (?:<2 x )?i64.*\n.* = OpBitwiseOr \S.*?(%\w+) %",
                             listing(artifact.words)).groups()  # type: ignore[union-attr]
    assert made == hidden
    operands = [torch.from_numpy(v.view(np.int32)) for v in (x, y)]
    launch(artifact, len(x) // LANES, *operands, product, beyond)
    exact = x.astype(np.uint64) * y
    np.testing.assert_array_equal(product.numpy().view(np.uint64), exact)
    np.testing.assert_array_equal(beyond.numpy(), exact >> 32 != 0)


def test_products_of_other_integers_are_as_they_are() -> None:
    """Addresses are made of them."""
    def body(b: Any, env: Any, values: list[Any]) -> None:
        left, right = (env.load(env.offset(values[0], b.constant(Int(32), k)), 1) for k in range(2))
        signed, unsigned = b.resize(left, 64), b.resize(right, 64, signed=False)
        env.store(values[1], b.imul(b.imul(signed, unsigned), b.imul(unsigned, 12)))

    target = LAVAPIPE.with_options(knows_extensions=True)
    parameters = [pointer("x", 32, Int), pointer("y", 64, Int)]
    assert "OpBitwiseOr" not in listing(module(parameters, body, target).words)


@pytest.mark.parametrize("bits", [32, 64])
def test_division_is_rounded_correctly(launch: Any, bits: int) -> None:
    """By arithmetic alone, denormals and overflow included: the same bits as numpy."""
    dtype, whole = (np.float32, np.uint32) if bits == 32 else (np.float64, np.uint64)
    random = np.random.default_rng(2)
    x, y = (random.integers(0, 1 << (bits - 1), 2048, dtype=whole).view(dtype) for _ in range(2))
    x[:1024], y[:1024] = (random.uniform(0.5, 2, 1024).astype(dtype) for _ in range(2))
    target = LAVAPIPE.with_options(rounded=frozenset())

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        n, d = (env.load(env.offset(value, i), 1) for value in values[:2])
        env.store(env.offset(values[2], i), env.divide(n, d))

    out = torch.zeros(len(x), dtype=torch.float32 if bits == 32 else torch.float64)
    launch(module([pointer(name, bits) for name in "xyz"], body, target), len(x) // LANES,
           torch.from_numpy(x.copy()), torch.from_numpy(y.copy()), out)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out.numpy(), x / y)


@pytest.mark.parametrize("rounding", ["RTE", "RTZ"])
def test_narrowing_by_bits(launch: Any, rounding: str) -> None:
    """f32 to f16 where the device promises no rounding mode: every exponent, ties, denormals, overflow."""
    random = np.random.default_rng(3)
    x = np.concatenate([random.integers(0, 1 << 32, 1024, dtype=np.uint32).view(np.float32),
                        random.uniform(-7e4, 7e4, 512).astype(np.float32),
                        (random.integers(0, 1 << 12, 504) * 2.0 ** -25).astype(np.float32),
                        np.array([0, -0.0, 65504, 65519, 65520, 1e-8, np.inf, -np.inf], np.float32)])
    target = LAVAPIPE.with_options(float_controls=frozenset())

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.iadd(b.imul(env.program_id(0), LANES), env.lane_id())
        narrow = env.narrow(env.load(env.offset(values[0], i), 1), Float(16), rounding)
        env.store(env.offset(values[1], i), narrow)

    out = torch.zeros(len(x), dtype=torch.float16)
    artifact = module([pointer("x", 32), pointer("y", 16)], body, target)
    launch(artifact, len(x) // LANES, torch.from_numpy(x), out)
    made = out.numpy()
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float16)
    if rounding == "RTE":
        np.testing.assert_array_equal(made, nearest)
        return
    finite = np.isfinite(x)
    below = np.nextafter(nearest, np.float16(0))
    too_far = np.abs(nearest.astype(np.float64)) > np.abs(x.astype(np.float64))
    np.testing.assert_array_equal(made[finite], np.where(too_far, below, nearest)[finite])


