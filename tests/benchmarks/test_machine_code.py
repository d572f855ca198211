"""benchmarks/gpu/machine_code.py: machine code out of a pipeline cache that is made up here."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

zstandard = pytest.importorskip("zstandard")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "gpu"))

import machine_code

#: a load from shared memory, a product of matrices that waits for it, a barrier: of SM90
INSTRUCTIONS = [bytes.fromhex(words) for words in (
    "3b7894d4080000000042000800220e00",
    "3c720098940000000018000000e61f04",
    "1d7b0000000000000000000000ec0f00",
)]


def cache(code: bytes) -> bytes:
    """A header that is passed over, and a pipeline: a table with another entry before that of the code."""
    place = machine_code.TABLE + 2 * machine_code.ENTRY_BYTES
    entries = (0x45, 0, 0), (machine_code.IS_CODE, len(code), place)
    table = b"".join(struct.pack("<III20x", *entry) for entry in entries)
    part = machine_code.CODE.ljust(machine_code.TABLE, b"\0") + table + code
    return bytes(100) + zstandard.ZstdCompressor().compress(b"NVDANVVM" + part + bytes(64))


def test_instructions_and_their_control_bits() -> None:
    code = b"".join(INSTRUCTIONS)
    assert machine_code.machine_code(cache(code)) == code
    load, product, barrier = machine_code.disassembled(code)
    assert load.name == "LDSM.16.MT88.4" and load.text == "LDSM.16.MT88.4 R148, [R212+UR8]"
    assert (load.stall, load.writes, load.reads, load.waits) == (1, 0, None, ())
    assert product.name == "HMMA.16816.F32" and product.waits == (0,) and product.stall == 3
    assert barrier.name == "BAR.SYNC" and barrier.place == 32 and barrier.writes is None
    assert str(product).split() == ["10", "3", "0", *product.text.split()]


@pytest.mark.parametrize("data, message", [
    (bytes(200), "not a cache of NVIDIA"),
    (zstandard.ZstdCompressor().compress(bytes(99)), "no machine code"),
])
def test_what_is_no_such_cache(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        machine_code.machine_code(data)
