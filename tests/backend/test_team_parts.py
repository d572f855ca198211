"""Into which launches a team divides a grid: by functions that only note what they are asked for."""

from __future__ import annotations

import ctypes
import itertools
from math import prod

import pytest
from triton_spirv.runtime import launch_code, machine_code
from triton_spirv.runtime.team_code import Team

pytestmark = pytest.mark.skipif(not machine_code.has_code(), reason="machine code of x86-64 under Linux")

Grid = tuple[int, int, int]
#: programs of a launch: where they begin, and how many there are, along each axis
Piece = tuple[Grid, Grid]

DATA = bytes(range(8))
MEMBER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
TRIPLE = ctypes.POINTER(ctypes.c_uint64 * 3)


def pieces(grid: Grid, members: int, called: bool = False) -> list[Piece]:
    """The launches of a grid, by members that come one by one; or the programs that they call."""
    made: list[Piece] = []
    turn = [0]

    @ctypes.CFUNCTYPE(None, MEMBER, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
    def parallel(member, data, count, flags):
        for turn[0] in range(members):
            member(data)

    @ctypes.CFUNCTYPE(ctypes.c_int)
    def number():
        return turn[0]

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p)
    def set_argument(kernel, index, size, value):
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, TRIPLE, TRIPLE)
    def enqueue(queue, kernel, dimensions, offsets, sizes):
        assert dimensions == 3 and [x >> 32 for x in offsets[0]] == list(grid)
        begin = tuple(x & 0xFFFFFFFF for x in offsets[0])
        made.append((begin, tuple(sizes[0])))
        return 0

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_uint] * 6)
    def program(arguments, *places):
        assert ctypes.string_at(arguments, 8) == DATA and places[3:] == grid
        made.append((places[:3], (1, 1, 1)))

    def address(function) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value

    words = (ctypes.c_uint64 * 3)()  # of running kernels, of the gate, and a size
    where = ctypes.addressof(words)
    make = launch_code.maker()
    assert make is not None
    team = Team(address(parallel), address(number), 0, [1] * members)
    call = make(launch_code.Block(where, where + 16, address(set_argument), address(enqueue), 1, 8, 1,
                                  where + 16, 1 << 40, 0, where + 8, grid, [], team=team,
                                  program=address(program) if called else 0))
    assert call(DATA) >= 0
    return made


def in_order(begin: Grid, sizes: Grid) -> list[Grid]:
    """The programs of a piece, x before y before z."""
    z, y, x = (range(b, b + s) for b, s in zip(reversed(begin), reversed(sizes), strict=True))
    return [(i, j, k) for k, j, i in itertools.product(z, y, x)]


GRIDS = [(1, 1, 1), (4, 4, 1), (8, 8, 1), (1, 3, 5), (2, 2, 2), (3, 1, 7), (64, 2, 1), (2, 64, 1), (9, 1, 1),
         (5, 63, 2), (7, 8, 9), (200, 1, 3)]


@pytest.mark.parametrize("members", (2, 3, 8, 16, 64))
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_each_program_is_in_one_piece(grid: Grid, members: int) -> None:
    programs = [place for begin, sizes in pieces(grid, members)
                for place in itertools.product(*(range(b, b + s) for b, s in zip(begin, sizes, strict=True)))]
    assert sorted(programs) == sorted(itertools.product(*map(range, grid)))
    assert [begin for begin, _ in pieces(grid, members, called=True)] == [
        place for begin, sizes in pieces(grid, members) for place in in_order(begin, sizes)]


@pytest.mark.parametrize("members", (2, 3, 8, 16, 64))
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_no_piece_is_more_than_a_member_gets(grid: Grid, members: int) -> None:
    """Of the axis that is long enough by itself, else of the two longest: a product's grid is square."""
    long = [size for size in grid if size >= 4 * members]
    dealt = long[-1] if long else prod(sorted(grid)[1:])
    most = -(-dealt // members) * (prod(grid) // dealt)
    assert max(prod(sizes) for _, sizes in pieces(grid, members)) <= most


def test_a_square_grid_occupies_every_member() -> None:
    """Dealt out along one axis it would give four of sixteen members something to do."""
    made = pieces((4, 4, 1), 16)
    assert len(made) == 16 and all(sizes == (1, 1, 1) for _, sizes in made)
