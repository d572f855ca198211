"""Byte ranges that live as long as something may read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from triton_spirv.ir import Operation, parse
from triton_spirv.lower.values.allocation import Arena, Range, last_use


def test_ranges_overlap_where_they_share_a_byte() -> None:
    assert Range(0, 4).overlaps(Range(3, 5)) and Range(3, 5).overlaps(Range(0, 4))
    assert not Range(0, 4).overlaps(Range(4, 8))


def test_the_first_gap_is_taken() -> None:
    arena = Arena(16)
    first, second, third = (arena.take(size) for size in (16, 40, 8))
    assert [first, second, third] == [Range(0, 16), Range(16, 56), Range(64, 72)]
    arena.give_back(second)
    assert arena.take(41) == Range(16, 57)
    assert (arena.in_use, arena.high) == (72, 72)
    arena.give_back(third)
    assert (arena.in_use, arena.high) == (57, 72)


def test_ranges_may_take_turns() -> None:
    arena = Arena(16)
    first = arena.take(40)
    arena.give_back(first)
    second = arena.take(40, after=first.end, limit=100)
    assert second == Range(48, 88)
    arena.give_back(second)
    assert arena.take(40, after=second.end, limit=100) == Range(0, 40), "there is no third"


@given(st.lists(st.one_of(st.integers(1, 200), st.none()), max_size=60), st.randoms())
def test_what_lives_at_once_lies_apart(sizes: list[int | None], random: object) -> None:
    arena = Arena(16)
    taken: list[Range] = []
    for size in sizes:
        if size is None:
            if taken:
                arena.give_back(taken.pop(random.randrange(len(taken))))  # type: ignore[attr-defined]
            continue
        made = arena.take(size)
        assert made.start % 16 == 0 and made.end - made.start == size
        assert not any(made.overlaps(other) for other in taken)
        taken.append(made)


PROGRAM = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%n: i32) {
    %x = arith.constant dense<1.0> : tensor<16xf32, #b>
    %m = ttg.local_alloc %x : (tensor<16xf32, #b>) -> !ttg.memdesc<16xf32, #shared, #smem, mutable>
    %v = ttg.memdesc_subslice %m [0] : !ttg.memdesc<16xf32, #shared, #smem, mutable> -> \
!ttg.memdesc<8xf32, #shared, #smem, mutable, 16>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %w = ttg.local_load %v : !ttg.memdesc<8xf32, #shared, #smem, mutable, 16> -> tensor<8xf32, #b>
    }
    %y = ttg.local_load %m : !ttg.memdesc<16xf32, #shared, #smem, mutable> -> tensor<16xf32, #b>
    %z = arith.addf %y, %y : tensor<16xf32, #b>
    %u = math.exp %z : tensor<16xf32, #b>
    tt.return
  }
}
"""


def operations() -> dict[str, Operation]:
    return {op.name: op for op in parse(PROGRAM).walk()}


def test_views_and_loops_keep_a_buffer_alive() -> None:
    ops = operations()
    view = ops["ttg.memdesc_subslice"]
    assert last_use(view.results[0], lambda op: False) is ops["scf.for"]
    alloc = ops["ttg.local_alloc"]
    last = last_use(alloc.results[0], lambda op: False)
    assert last is not None and last.name == "ttg.local_load" and last.parent is alloc.parent


def test_operations_that_read_later_pass_it_on() -> None:
    ops = operations()
    alloc = ops["ttg.local_alloc"].results[0]
    assert last_use(alloc, lambda op: op.name == "ttg.local_load") is ops["arith.addf"]
    assert last_use(alloc, lambda op: op.name in ("ttg.local_load", "arith.addf")) is ops["math.exp"]
