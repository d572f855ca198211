"""lower/program/debug.py: assertions that become Python exceptions, overflow checks, printing from a
kernel."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import device_print_child
import family
import numeric
import numpy as np
import prepared
import pytest
import simulated_gpu
import triton
import triton.language as tl


@triton.jit
def positive(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1)
    tl.device_assert(x > 0, "x must be positive", mask=i < n)
    tl.store(out_ptr + i, x, mask=i < n)


@triton.jit
def scalar_limit(x_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    if x != 7:
        tl.device_assert(x < 5, "below five or seven")


def line_of(text: str) -> int:
    """The line of this file that holds `text`: where the user should be led."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture(autouse=True)
def no_interpreter():
    numeric.interpreter_is_wrong("assertions are off and prints have another form")


@pytest.mark.parametrize("block", (1, 16, 1024))
def test_assertion_that_holds(run, block):
    x, out = np.arange(1, 2 * block, dtype=np.int32), numeric.poisoned(2 * block - 1, "i32")
    run(positive, 2, numeric.tensor(x, "i32"), out, len(x), block, debug=True)
    numeric.assert_same(out, x)


@pytest.mark.parametrize("block", (1, 16, 1024))
def test_assertion_that_fails(run, block):
    """The error says what, where, and the process lives on: the next launch works."""
    x, out = np.arange(1, 2 * block, dtype=np.int32), numeric.poisoned(2 * block - 1, "i32")
    x[-1] = -5
    with pytest.raises(RuntimeError, match="device-side assert") as failure:
        run(positive, 2, numeric.tensor(x, "i32"), out, len(x), block, debug=True)
    line = line_of('tl.device_assert(x > 0, "x must be')
    assert "x must be positive" in str(failure.value)
    assert f"test_debug.py:{line}" in str(failure.value) or f"line {line}" in str(failure.value)
    program, element = divmod(len(x) - 1, block)
    assert str(failure.value).endswith(f" in program ({program}, 0, 0), element ({element},)")
    x[-1] = 5
    run(positive, 2, numeric.tensor(x, "i32"), out, len(x), block, debug=True)
    numeric.assert_same(out, x)


def test_assertion_is_off_without_debug(run):
    x, out = np.array([-1, 2], np.int32), numeric.poisoned(2, "i32")
    run(positive, 1, numeric.tensor(x, "i32"), out, 2, 16)
    numeric.assert_same(out, x)


@pytest.mark.parametrize("values, fails", [([1, 2, 7, 4], False), ([1, 7, 7, 6], True)])
def test_assertion_in_a_branch(run, values, fails):
    x = numeric.tensor(values, "i32")
    if not fails:
        run(scalar_limit, 4, x, debug=True)
        return
    with pytest.raises(RuntimeError, match=r"below five or seven in program \(3, 0, 0\)$"):
        run(scalar_limit, 4, x, debug=True)


@triton.jit
def bounded(x_ptr, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)
    program = row * tl.num_programs(0) + tl.program_id(0)
    x = tl.load(x_ptr + program * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.device_assert(x < 100, "too large")


@pytest.mark.parametrize("shape", [(2, 2), (4, 8), (32, 16), (8, 256), (64, 128)])
def test_assertion_names_program_and_element(run, shape):
    """One that fails alone; and of several, one that fails."""
    values = np.zeros((3, 2, 2, *shape), np.int32)  # programs along z, y, x
    failing = [(2, 1, 0, shape[0] - 1, shape[1] // 2)]
    for _ in range(2):
        for place in failing:
            values[place] = 100
        with pytest.raises(RuntimeError, match="too large") as caught:
            run(bounded, (2, 2, 3), numeric.tensor(values, "i32"), *shape, debug=True)
        said = [f"in program ({x}, {y}, {z}), element ({row}, {column})" for z, y, x, row, column in failing]
        assert any(str(caught.value).endswith(text) for text in said)
        failing += [(0, 0, 1, 0, shape[1] - 1), (0, 0, 1, shape[0] - 1, 0), (2, 1, 0, 0, 0)]


@triton.jit
def far_away(x_ptr, i_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.load(i_ptr + tl.arange(0, BLOCK))
    tl.device_assert(i < 1000, "out of bounds")
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + i))


def test_assertion_ends_the_program(run):
    """What it guards is not executed: this load would end the process."""
    x, out = numeric.tensor(np.arange(1000), "i32"), numeric.poisoned(32, "i32")
    index = numeric.tensor(np.where(np.arange(32) == 20, 1 << 45, 7), "i64")
    with pytest.raises(RuntimeError, match="out of bounds"):
        run(far_away, 1, x, index, out, 32, debug=True)
    numeric.assert_same(out, numeric.array(numeric.poisoned(32, "i32")))


@triton.jit
def add_sub_mul(x_ptr, y_ptr, out_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    if KIND == "add":
        z = x + y
    elif KIND == "sub":
        z = x - y
    else:
        z = x * y
    tl.store(out_ptr + i, z)


OVERFLOWS = [
    ("add", "i32", 2**31 - 1, 1),
    ("sub", "i32", -(2**31), 1),
    ("mul", "i32", 2**16, 2**15),
    ("add", "u8", 200, 56),
    ("sub", "u32", 1, 2),
    ("mul", "i16", 256, 128),
    ("add", "i8", -128, -1),
    ("sub", "i8", 127, -1),
    ("mul", "u8", 16, 16),
    ("add", "i16", 2**15 - 1, 1),
    ("sub", "u16", 0, 1),
    ("add", "u32", 2**32 - 1, 1),
    ("mul", "u32", 2**16, 2**16),
]


@pytest.mark.parametrize("kind, dtype, x, y", OVERFLOWS)
def test_overflow_is_found(run, kind, dtype, x, y):
    """sanitize_overflow with debug: the operation is named. Without debug the same launch wraps."""
    kind_of = numeric.DTYPES[dtype].values
    left, right = np.full(32, 1, kind_of), np.full(32, 1, kind_of)
    out = numeric.poisoned(32, dtype)

    def launch(**options: bool) -> None:
        x, y = numeric.tensor(left, dtype), numeric.tensor(right, dtype)
        run(add_sub_mul, 1, x, y, out, kind, 32, **options)

    launch(debug=True, sanitize_overflow=True)
    left[20], right[20] = x, y
    with pytest.raises(RuntimeError, match=f"overflow detected for operation {kind}"):
        launch(debug=True, sanitize_overflow=True)
    launch()
    with np.errstate(over="ignore"):
        numeric.assert_same(out, {"add": np.add, "sub": np.subtract, "mul": np.multiply}[kind](left, right))


LIMITS = [
    ("add", "i8", -100, -28), ("add", "u8", 200, 55), ("sub", "i16", -(2**15) + 5, 5),
    ("mul", "u16", 257, 255), ("sub", "u32", 7, 7), ("mul", "i32", -(2**16), 2**15),
    ("add", "i64", 2**62, 2**62 - 1),
]


@pytest.mark.parametrize("kind, dtype, x, y", LIMITS)
def test_results_at_the_limits_are_no_overflow(run, kind, dtype, x, y):
    kind_of = numeric.DTYPES[dtype].values
    left, right, out = np.full(32, x, kind_of), np.full(32, y, kind_of), numeric.poisoned(32, dtype)
    operands = numeric.tensor(left, dtype), numeric.tensor(right, dtype)
    run(add_sub_mul, 1, *operands, out, kind, 32, debug=True, sanitize_overflow=True)
    wanted = {"add": x + y, "sub": x - y, "mul": x * y}[kind]
    numeric.assert_same(out, np.full(32, wanted, kind_of))


# ---- printing


#: text alone has no index
LINE = re.compile(r"pid \((\d+), (\d+), (\d+)\)(?: idx \(([\d, ]*)\))? ?(.*)")


@functools.cache
def lines_of_child(mode: str) -> list[tuple[str, ...]]:
    """Every line that the child printed: three numbers of the program, index or None, text."""
    more = simulated_gpu.for_children() if mode in simulated_gpu.MODES else {}
    result = prepared.python([device_print_child.__file__], environment={**os.environ, **more})
    assert result.returncode == 0, result.stderr
    return [m.groups() for line in result.stdout.splitlines() if (m := LINE.match(line.strip()))]


def printed(mode: str) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    """What the child printed: (program, index, text) once each, in order of program and index."""
    return sorted(
        (tuple(map(int, (x, y, z))), tuple(int(i) for i in (index or "").split(",") if i.strip()), text)
        for x, y, z, index, text in set(lines_of_child(mode))
    )


def printed_with(mode: str, prefix: str) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    """The same of one prefix, without the prefix."""
    lines = printed(mode)
    start = f"{prefix}: "
    return [(pid, index, text.removeprefix(start)) for pid, index, text in lines if text.startswith(start)]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("dtype", device_print_child.VECTORS)
def test_print_vector(mode, dtype):
    """`pid (x, y, z) idx (i) prefix: value`, signed and unsigned, floats with six decimals."""
    lines, kind = printed_with(mode, dtype), float if dtype[0] == "f" else int
    if dtype == "f64" and mode in (family.NAME, *simulated_gpu.WITHOUT_DOUBLES):
        return  # the child has seen it refused
    assert [index for _, index, _ in lines] == [(i,) for i in range(4)]
    assert [kind(text) for _, _, text in lines] == device_print_child.VECTORS[dtype].astype(kind).tolist()


def test_print_hex(mode):
    expected = ["0x80000000", "0xffffffff", "0x00000000", "0x7fffffff"]
    assert [text for _, _, text in printed_with(mode, "hex")] == expected


def test_print_block(mode):
    lines = printed_with(mode, "block")
    assert [(index, int(text)) for _, index, text in lines] == [((i // 4, i % 4), i) for i in range(16)]


def test_print_scalar(mode):
    """Perhaps once per lane, with an empty index or the lane's: each program's value is there."""
    lines = printed_with(mode, "scalar")
    assert {(pid, text) for pid, _, text in lines} == {((i, 0, 0), str(i)) for i in range(3)}


def test_how_often_lines_are_printed(mode):
    """A scalar once per program where one work-item runs it, else once per thread, as on a GPU; an element of
    a tensor once, whatever else holds it; text like a scalar."""
    from triton_spirv_backend.targets import current_target, emitter_target

    texts = [line[-1] for line in lines_of_child(mode)]
    target = current_target()
    each = 4 * target.warp_size if emitter_target(target).lanes else 1
    assert [texts.count(f"scalar: {program}") for program in range(3)] == [each] * 3
    assert [text.strip() for text in texts].count("only text") == 4 * each
    assert texts.count("each thread: 7") == 2 * target.warp_size  # the launch asks for it
    assert all(texts.count(f"block: {element}") == 1 for element in range(16))
    assert texts.count("pair: (operand 0) 3") == texts.count("pair: (operand 1) 30") == 1


def test_print_text(mode):
    pids = {pid for pid, _, text in printed(mode) if text.strip() == "only text"}
    assert pids == {(x, 0, z) for x in range(2) for z in range(2)}


def test_print_two_operands(mode):
    """Each with its index; which operand it is stands before the value."""
    values = {(index, int(text.rsplit(" ", 1)[1])) for _, index, text in printed(mode) if "pair" in text}
    assert values == {((i,), i) for i in range(4)} | {((i,), 10 * i) for i in range(4)}


def test_print_in_a_branch(mode):
    lines = printed_with(mode, "large")
    assert {(pid, text) for pid, _, text in lines} == {((i, 0, 0), str(i)) for i in (3, 4)}


@triton.jit
def static(x_ptr, N: tl.constexpr):
    tl.static_print("compiled for", N)
    tl.store(x_ptr, N)


def test_static_print(run, capfd):
    """Printed by the compiler, once per specialisation."""
    run(static, 1, numeric.poisoned(1, "i32"), 123457)
    assert "compiled for 123457" in capfd.readouterr().out
