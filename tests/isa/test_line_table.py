"""Line tables of the driver's code, against objdump's reading; where code lies; samples by line."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
import triton_spirv
from triton_spirv.errors import TritonSpirvError
from triton_spirv.isa import hot_lines, line_table, object_file
from triton_spirv.runtime import devices, program, sampling
from triton_spirv.spirv.line_info import with_line_info

KERNEL = """
module {
  tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc("/home/me/kernel.py":6:9)
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc("/home/me/kernel.py":7:9)
    %a = tt.addptr %s, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc("/home/me/kernel.py":7:9)
    %x = tt.load %a : tensor<1024x!tt.ptr<f32>> loc("/home/me/kernel.py":7:9)
    %r = scf.for %j = %zero to %n step %one iter_args(%y = %x) -> (tensor<1024xf32>) : i32 {
      %u = math.sqrt %y : tensor<1024xf32> loc("other.py":300:9)
      scf.yield %u : tensor<1024xf32>
    } loc("/home/me/kernel.py":8:5)
    tt.store %a, %r : tensor<1024x!tt.ptr<f32>> loc("/home/me/kernel.py":10:5)
    tt.return
  }
}
"""


@pytest.fixture(scope="module")
def built() -> program.Program:
    device = next((each for each in devices.devices() if each.kind == "cpu"), None)
    if device is None:
        pytest.skip("no CPU device")
    words = with_line_info(triton_spirv.compile(KERNEL).words)
    return program.build(devices.open_device(device), words, "k")


def test_every_row_is_the_one_that_objdump_reads(built: program.Program, tmp_path: Path) -> None:
    data = object_file.object_file(built.binary())
    table = line_table.line_table(data)
    lines = {(file, line) for _, file, line in table.rows if line}
    assert {("kernel.py", 7), ("other.py", 300), ("kernel.py", 10)} <= {(Path(f).name, n) for f, n in lines}
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump is not installed: apt install binutils")
    (tmp_path / "k.o").write_bytes(data)
    said = subprocess.run([objdump, "--dwarf=decodedline", tmp_path / "k.o"], capture_output=True, text=True,
                          check=True).stdout
    read = [(int(address, 16), file, int(line)) for file, line, address in
            re.findall(r"^(\S+\.py|<unknown>) +(\d+) +(0x[0-9a-f]+|0)\b", said, re.M)]
    assert read and [(at, Path(file).name, line) for at, file, line in table.rows if file] == read
    assert all(table.at(at)[1] == line for (at, _, line), (end, *_) in pairwise(read) if end > at)


def test_code_is_found_where_it_was_loaded(built: program.Program) -> None:
    table = line_table.line_table(object_file.object_file(built.binary()))
    start = hot_lines.find(table)
    assert start is not None
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        memory.seek(start)
        loaded = bytearray(memory.read(len(table.code)))
    assert loaded != table.code  # addresses are filled in
    for at, size in table.holes:
        loaded[at:at + size] = table.code[at:at + size]
    assert loaded == table.code


def test_code_that_is_not_loaded_is_not_found(built: program.Program) -> None:
    table = line_table.line_table(object_file.object_file(built.binary()))
    other = line_table.LineTable(table.code[:-1] + bytes([table.code[-1] ^ 0xFF]), table.rows, table.holes)
    assert hot_lines.find(other) is None


def test_a_module_without_lines_has_no_table(built: program.Program) -> None:
    device = next(each for each in devices.devices() if each.kind == "cpu")
    plain = program.build(devices.open_device(device), triton_spirv.compile(KERNEL).words, "k")
    with pytest.raises(TritonSpirvError, match="no line table"):
        line_table.line_table(object_file.object_file(plain.binary()))


def test_samples_are_counted_by_line(built: program.Program) -> None:
    lines = hot_lines.HotLines("k", built.binary(), ["/home/me/kernel.py", "/elsewhere/other.py"])
    assert lines.start is not None and not lines.has_samples
    at = {row[1:]: lines.start + row[0] for row in lines.table.rows
          if lines.table.at(row[0]) == row[1:] and row[2]}
    hot = next(address for (file, line), address in at.items() if line == 300)
    load = next(address for (file, line), address in at.items() if line == 7)
    lines.add([hot, hot, hot, load, lines.start - 1, 1 << 47])
    assert lines.lines == {("/elsewhere/other.py", 300): 3, ("/home/me/kernel.py", 7): 1}
    text = lines.text().splitlines()
    assert text[0] == "k: 6 samples, by line"
    assert text[1].split()[:3] == ["50.0", "%", "other.py:300"] and text[2].split()[2] == "kernel.py:7"
    assert text[3].split()[:3] == ["33.3", "%", "in"]


def test_the_sampler_sees_this_thread() -> None:
    sampler = sampling.Sampler()
    try:
        sampler.start()
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        assert len(sampler.stop()) > 20
        assert sampler.stop() == []
    except sampling.NotAllowed as error:
        assert "perf_event_open" in str(error)
    finally:
        sampler.close()


def test_a_system_that_forbids_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "PERF_EVENT_OPEN", 100_000)
    with pytest.raises(sampling.NotAllowed, match="perf_event_open: Function not implemented"):
        sampling.Sampler().start()
