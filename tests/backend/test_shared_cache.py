"""shared_binaries.py and Triton's remote cache: machines that share a Redis server compile each kernel once.

A machine is a process with an empty cache folder of its own; the server is a real one.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_ocloc import Fake, elf
from triton_spirv.runtime import binary_cache, called_programs, devices

Script = Callable[..., "subprocess.CompletedProcess[str]"]

#: launches `double`, and tells what was compiled on the way
MACHINE = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
import triton, triton.language as tl
from triton import knobs
from triton_spirv import zeros
from triton_spirv.runtime import called_programs, opencl

compiled, stages = [], []
knobs.compilation.listener = lambda **facts: compiled.append(facts["cache_hit"])
build, counted = opencl.Library.program_with_il, []
def counting(library, context, words):
    counted.append(words != called_programs.PROBE)
    return build(library, context, words)
opencl.Library.program_with_il = counting
from triton_spirv_backend import stages as module
emit = module.triton_spirv.compile
module.triton_spirv.compile = lambda *a, **o: stages.append(1) or emit(*a, **o)

@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i))

x, out = zeros(64), zeros(64)
x.numpy()[:] = 3
kernel = double[(1,)](x, out, BLOCK=64)
assert (out.numpy() == 6).all()
print(json.dumps({"hits": compiled, "emitted": len(stages), "built": sum(counted),
                  "format": kernel.metadata.binary_format}))
"""


@pytest.fixture
def redis_variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A running Redis server, as Triton's variables name it."""
    pytest.importorskip("redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is missing: apt-get install redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield {"TRITON_CACHE_MANAGER": "triton.runtime.cache:RemoteCacheManager",
               "TRITON_REMOTE_CACHE_BACKEND": "triton.runtime.cache:RedisRemoteCacheBackend",
               "TRITON_REDIS_HOST": "127.0.0.1", "TRITON_REDIS_PORT": str(port)}
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("redis-server does not answer")


def machine(script: Script, folder: Path, variables: dict[str, str]) -> dict[str, Any]:
    """What the process did that had `folder` as its cache."""
    done = script(MACHINE, TRITON_SPIRV_BACKEND="1", TRITON_CACHE_DIR=str(folder), **variables)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_second_machine_compiles_nothing(script: Script, tmp_path: Path,
                                         redis_variables: dict[str, str]) -> None:
    first = machine(script, tmp_path / "first", redis_variables)
    assert first == {"hits": [False], "emitted": 1, "built": 1, "format": "spv"}
    second = machine(script, tmp_path / "second", redis_variables)
    assert second == {"hits": [True], "emitted": 0, "built": 0, "format": "spv"}


@pytest.mark.cpu_device("binaries of its driver")
def test_driver_binary_as_the_last_stage(script: Script, tmp_path: Path,
                                         redis_variables: dict[str, str]) -> None:
    variables = {**redis_variables, "TRITON_SPIRV_ZEBIN": "1"}
    assert machine(script, tmp_path / "first", variables)["format"] == "driver"
    second = machine(script, tmp_path / "second", variables)
    assert second == {"hits": [True], "emitted": 0, "built": 0, "format": "driver"}


def test_zebin(script: Script, tmp_path: Path, redis_variables: dict[str, str]) -> None:
    """ocloc runs once for the fleet; and a machine whose driver refuses the zebin finds the SPIR-V, and what
    another machine's driver has made of that."""
    (tmp_path / "fake").mkdir()
    fake = Fake(tmp_path / "fake").answer(output=elf(kernel="double"))
    variables = {**redis_variables, "TRITON_SPIRV_ZEBIN": "1", "TRITON_OCLOC_PATH": str(fake.path),
                 "TRITON_SPIRV_TARGET": "cpu-simt"}
    source = MACHINE.replace("BLOCK=64)", "BLOCK=64, native_device='pvc')")
    for name, hit, built in (("first", False, 1), ("second", True, 0)):
        done = script(source, TRITON_SPIRV_BACKEND="1", TRITON_CACHE_DIR=str(tmp_path / name), **variables)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout.splitlines()[-1])
        assert told == {"hits": [hit], "emitted": int(not hit), "built": built, "format": "zebin"}
    assert len(fake.calls()) == 1


def entries(variables: dict[str, str]) -> Any:
    """The server, seen by somebody who can write to it."""
    import redis

    return redis.Redis(host="127.0.0.1", port=int(variables["TRITON_REDIS_PORT"]))


def tampered(variables: dict[str, str], ending: bytes) -> int:
    """Put a bit into every entry of that name that the server holds, checksums made right; how many."""
    server, count = entries(variables), 0
    for name in server.keys():
        if name.endswith(ending):
            server.set(name, server.get(name)[:-1] + bytes([server.get(name)[-1] ^ 1]))
            count += 1
    return count


@pytest.mark.cpu_device("binaries of its driver")
@pytest.mark.parametrize("ending", [b".spv", b".json", b"driver.bin"])
def test_entries_without_the_key_are_made_again(script: Script, tmp_path: Path,
                                                redis_variables: dict[str, str], ending: bytes) -> None:
    key = tmp_path / "key"
    key.write_text("0123456789abcdef" * 4)
    variables = {**redis_variables, "TRITON_SPIRV_CACHE_KEY_FILE": str(key)}
    cold = {"hits": [False], "emitted": 1, "built": 1, "format": "spv"}
    warm = {"hits": [True], "emitted": 0, "built": 0, "format": "spv"}
    assert machine(script, tmp_path / "first", variables) == cold
    assert machine(script, tmp_path / "second", variables) == warm
    assert tampered(redis_variables, ending)
    third = machine(script, tmp_path / "third", variables)
    assert third == ({**warm, "built": 1} if ending == b"driver.bin" else {**cold, "built": 0})
    assert machine(script, tmp_path / "fourth", variables) == warm  # and replaced


def test_entries_of_somebody_without_the_key(script: Script, tmp_path: Path,
                                             redis_variables: dict[str, str]) -> None:
    """What others have put there unsealed is not loaded, however whole it is."""
    key = tmp_path / "key"
    key.write_text("0123456789abcdef" * 4)
    variables = {**redis_variables, "TRITON_SPIRV_CACHE_KEY_FILE": str(key)}
    cold = {"hits": [False], "emitted": 1, "built": 1, "format": "spv"}
    assert machine(script, tmp_path / "first", redis_variables) == cold
    assert machine(script, tmp_path / "second", variables) == cold


def test_a_cache_that_cannot_be_sealed(script: Script, tmp_path: Path) -> None:
    """Kernels stay in the local folder, and a warning says so."""
    key = tmp_path / "key"
    key.write_text("0123456789abcdef" * 4)
    (tmp_path / "other_cache.py").write_text(
        "from triton.runtime.cache import FileCacheManager\n"
        "class OtherManager(FileCacheManager):\n"
        "    def __init__(self, *a, **o):\n        raise AssertionError('asked')\n")
    done = script(MACHINE.replace('warnings.simplefilter("ignore")', ""), TRITON_SPIRV_BACKEND="1",
                  TRITON_CACHE_DIR=str(tmp_path / "c"), TRITON_CACHE_MANAGER="other_cache:OtherManager",
                  TRITON_SPIRV_CACHE_KEY_FILE=str(key), PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "OtherManager is no RemoteCacheManager" in done.stderr


def test_server_that_is_gone(script: Script, tmp_path: Path, redis_variables: dict[str, str]) -> None:
    """Triton itself cannot do without; the runtime's own binaries can."""
    source = """
import warnings
from triton_spirv_backend import shared_binaries
cache = shared_binaries.TritonCache()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert cache.get("00" * 32) is None
    cache.put("00" * 32, b"data")
assert len(seen) == 2 and "out of reach" in str(seen[0].message), seen
"""
    variables = {**redis_variables, "TRITON_REDIS_PORT": "1"}
    done = script(source, TRITON_SPIRV_BACKEND="1", TRITON_CACHE_DIR=str(tmp_path / "c"), **variables)
    assert done.returncode == 0, done.stderr


def test_processes_race_for_one_kernel(tmp_path: Path) -> None:
    """Several processes with one cold cache folder: all get their result, and the files are whole."""
    path = tmp_path / "script.py"
    path.write_text(MACHINE)
    environment = {**os.environ, "TRITON_SPIRV_BACKEND": "1", "TRITON_CACHE_DIR": str(tmp_path / "shared")}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, str(path)], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def told(racer: subprocess.Popen[str]) -> dict[str, Any]:
        said, complaint = racer.communicate(timeout=200)
        assert racer.returncode == 0, complaint
        return dict(json.loads(said.splitlines()[-1]))

    for racer in [start() for _ in range(3)]:
        assert told(racer)["format"] == "spv"
    left = [one for one in (tmp_path / "shared").rglob("*") if "tmp" in one.name]
    assert not left
    probe = binary_cache.key(called_programs.PROBE, devices.choose("cpu"), "")  # beside it on the CPU
    assert len({one.name for one in (tmp_path / "shared" / "spirv-binaries").iterdir()} - {probe}) == 1
    after = told(start())
    assert after["hits"] == [True] and after["emitted"] == after["built"] == 0
