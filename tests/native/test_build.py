"""native/build.py and policy.py: what is tried, what is kept, what is refused and how that is said."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fake_ocloc import OLD_LOG, SCRATCH, Fake, archive, elf
from triton_spirv import native
from triton_spirv.native import build, failures, policy

WORDS = b"\x03\x02\x23\x07" + bytes(16)


def compile(**changes: Any) -> native.NativeBinary:
    wanted = {"device": "pvc", "kernel": "heavy", **changes}
    words = wanted.pop("words", WORDS)
    return native.compile_spirv(words, wanted.pop("device"), wanted.pop("kernel"), **wanted)


def options(fake: Fake) -> list[str]:
    """The build options of each call."""
    found = []
    for call in fake.calls():
        argv = call["argv"]
        found.append(argv[argv.index("-options") + 1] if "-options" in argv else "")
    return found


# ---- before any process starts

@pytest.mark.parametrize(("request_", "error", "message"), [
    ({"words": b"CTNI"}, native.BadRequest, "not a SPIR-V module: .* 43 54 4e 49, not with 03 02 23 07"),
    ({"words": b""}, native.BadRequest, "starts with nothing"),
    ({"grf_mode": "large"}, native.BadRequest, "'large' is unknown; there are default, 128, 256, 512"),
    ({"grf_mode": "256", "num_warps": 64}, native.BadRequest, "grf_mode='256' with num_warps=64"),
    ({"grf_mode": "512", "num_warps": 64}, native.BadRequest, "grf_mode='512' with num_warps=64"),
    ({"flags": ["-misspelt"]}, native.BadRequest, "unknown build flag -misspelt"),
    ({"device": "pvc,dg2"}, native.UnknownDevice, "names several devices"),
    ({"device": "xe-hpg:"}, native.UnknownDevice, "names several devices"),
])
def test_refused_at_once(fake: Fake, request_: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compile(**request_)
    assert not fake.calls()


@pytest.mark.parametrize("mode", ["default", "128", "256", "512", "auto"])
def test_register_files(fake: Fake, mode: str) -> None:
    """Each has its flag; one that is named is tried alone, whatever it spills."""
    fake.answer(output=elf(spill=64000 if mode != "default" else 0, scratch=65536))
    made = compile(grf_mode=mode, num_warps=4)
    assert options(fake) == [policy.GRF_FLAGS[mode]] and made.build_flags == policy.GRF_FLAGS[mode]


# ---- which builds are tried, and which is kept

GOOD, SMALL = elf(spill=0), elf(spill=1024, scratch=1024)
SPILLS, SPILLS_LESS = elf(spill=22080, scratch=32768), elf(grf=256, spill=12416, scratch=16384)
SPILLS_SAME, SPILLS_MORE = elf(grf=256, spill=22080, scratch=32768), elf(grf=256, spill=30000, scratch=32768)
#: (first build, second build or None) -> (attempts, flags of the kept one or the error)
POLICY: dict[str, tuple[dict[str, Any], dict[str, Any] | None, int, str | type[Exception]]] = {
    "no spills": ({"output": GOOD}, None, 1, ""),
    "16 dwords are tolerated": ({"output": SMALL}, None, 1, ""),
    "17 are not": ({"output": elf(spill=1028, scratch=2048)}, {"output": GOOD}, 2, "256"),
    "fewer spills": ({"output": SPILLS}, {"output": SPILLS_LESS}, 2, "256"),
    "a tie": ({"output": SPILLS}, {"output": SPILLS_SAME}, 2, ""),
    "more spills": ({"output": SPILLS}, {"output": SPILLS_MORE}, 2, ""),
    "the second fails": ({"output": SPILLS}, {"code": 245, "log": "error: no"}, 2, ""),
    "the second hangs": ({"output": SPILLS}, {"sleep": 60}, 2, ""),
    "the second is degenerate": ({"output": SPILLS}, {"output": elf(text="")}, 2, ""),
    "the first fails": ({"code": 245, "log": "error: no"}, {"output": SPILLS_LESS}, 2, "256"),
    "the first crashes": ({"code": -11}, {"output": GOOD}, 2, "256"),
    "the first is degenerate": ({"output": elf(kernel="x")}, {"output": GOOD}, 2, "256"),
    "the first leaves nothing": ({}, {"output": GOOD}, 2, "256"),
    "scratch exceeded at first": ({"code": 245, "log": SCRATCH}, {"output": SPILLS_LESS}, 2, "256"),
    "scratch exceeded twice": ({"code": 245, "log": SCRATCH.replace("326400", "400000")},
                               {"code": 245, "log": SCRATCH}, 2, native.ScratchExceeded),
    "both fail": ({"code": 245}, {"code": 245}, 2, native.BuildFailed),
    "unknown device": ({"code": 223}, None, 1, native.UnknownDevice),
    "command line": ({"code": 226}, None, 1, native.BadRequest),
    "lost input": ({"code": 225}, None, 1, native.OclocUnusable),
    "time limit": ({"sleep": 60}, None, 1, native.Timeout),
    "a family": ({"output": archive(a=GOOD), "ending": ""}, None, 1, native.UnknownDevice),
}


@pytest.mark.parametrize("case", POLICY)
def test_policy(fake: Fake, case: str) -> None:
    first, second, attempts, expected = POLICY[case]
    if second is not None:
        fake.answer("256", **second)
    fake.answer(**first)
    try:
        # (a time in which an interpreter starts on a busy machine, too)
        made = compile(timeout=4.0 if any("sleep" in one for one in (first, second or {})) else 60.0, simd=16)
    except native.NativeError as error:
        assert type(error) is expected
        assert [("256" in text) for text in options(fake)] == [False, True][:attempts]
        return
    assert len(made.attempts) == attempts == len(options(fake))
    assert made.build_flags == ("-cl-intel-256-GRF-per-thread" if expected == "256" else "")
    kept = next(one for one in made.attempts if one.flags == made.build_flags and one.failure is None)
    assert (made.n_spills, made.spill_bytes) == (kept.n_spills, kept.spill_bytes)
    assert made.grf_count == kept.grf_count
    assert made.binary == (second if expected == "256" else first)["output"]  # type: ignore[index]
    assert f'-options {made.build_flags}' in made.ocloc_cmd or not made.build_flags


def test_expected_register_file_is_tried_first(fake: Fake) -> None:
    """One build if it spills little; else both, and the better one."""
    good, bad = elf(grf=256, spill=1024, scratch=1024), elf(grf=256, spill=22080, scratch=32768)
    fake.answer("256", output=good).answer(output=SPILLS)
    made = compile(expected_grf="256")
    assert [one.grf_mode for one in made.attempts] == ["256"] and made.grf_count == 256
    fake.answers.clear()
    fake.answer("256", output=bad).answer(output=SPILLS_LESS)
    made = compile(expected_grf="256")
    assert [one.grf_mode for one in made.attempts] == ["256", "default"] and made.build_flags == ""
    fake.answers.clear()
    fake.answer("256", code=245).answer(output=GOOD)
    assert compile(expected_grf="256").build_flags == ""
    assert len(compile(expected_grf="256", num_warps=64).attempts) == 1


def test_many_warps_are_not_tried_again(fake: Fake) -> None:
    fake.answer(output=SPILLS)
    assert len(compile(num_warps=64).attempts) == 1


def test_dwords_per_lane(fake: Fake) -> None:
    fake.answer("256", output=SPILLS_LESS).answer(output=SPILLS)
    made = compile()
    assert [one.n_spills for one in made.attempts] == [22080 // 64, 12416 // 64] and made.n_spills == 194
    assert policy.dwords_per_lane(1, 16) == 1 and policy.dwords_per_lane(0, 16) == 0


def test_old_compilers_are_inexact(fake: Fake) -> None:
    fake.answer("256", output=elf(grf=256, scratch=32768), log=OLD_LOG.replace("602", "300"))
    fake.answer(output=elf(scratch=65536), log=OLD_LOG)
    made = compile()
    assert [one.spill_bytes for one in made.attempts] == [602 * 64, 300 * 64]
    assert not made.exact and made.grf_count == 256


def test_metadata(fake: Fake) -> None:
    spills = elf(spill=22080, scratch=32768, slm=512, barriers=1)
    fake.answer("256", output=SPILLS_LESS).answer(output=spills)
    plain = compile(flags=["-cl-mad-enable"]).metadata()
    assert {"build_flags", "device", "ocloc_version", "ocloc_cmd", "attempts", "grf_count",
            "simd_size", "spill_bytes", "n_spills", "slm_size", "barrier_count", "private_size",
            "binary_format"} <= set(plain)
    assert plain["build_flags"] == "-cl-mad-enable -cl-intel-256-GRF-per-thread"
    assert plain["ocloc_version"] == "99.1.2345" and plain["binary_format"] == "zebin"
    assert [one["grf_mode"] for one in plain["attempts"]] == ["default", "256"]


def test_bundle(fake: Fake) -> None:
    fake.answer(output=archive(one=GOOD, two=SPILLS, generic_ir=elf(machine=0)), ending="")
    made = compile(device="xe-hpg", bundle=True, grf_mode="128")
    assert made.binary_format == "archive" and made.n_spills == 345
    assert native.zebin.members(made.binary)["one"] == GOOD


def test_matrix_engine_must_be_used(fake: Fake) -> None:
    """A device without one drops the instructions and says success."""
    words = WORDS + (6237 | 7 << 16).to_bytes(4, "little") + bytes(24)
    assert build.asks_for_matrix_engine(words) and not build.asks_for_matrix_engine(WORDS)
    assert build.asks_for_matrix_engine(WORDS + b"__builtin_IB_sub_group16_fdpas_f_f_hf_hf_8_8")
    fake.answer(output=elf())
    with pytest.raises(native.BuildFailed, match="without the matrix instructions"):
        compile(words=words)


def test_shader_dump(fake: Fake, tmp_path: Path) -> None:
    fake.answer(output=GOOD)
    compile(dump=tmp_path / "dump")
    assert options(fake) == [f"-igc_opts 'DumpToCustomDir={tmp_path}/dump,ShaderDumpEnable=1'"]
    assert (tmp_path / "dump").is_dir()


# ---- errors

@pytest.mark.parametrize(("code", "words"), [
    (245, "the build failed"), (10, "refused the module"), (223, "does not know the device"),
    (225, "did not find its input"), (226, "did not understand its command line"), (1, "crashed"),
    (134, "crashed"), (-6, "crashed"), (-11, "crashed"), (77, "without a known meaning"),
])
def test_exit_codes(fake: Fake, code: int, words: str) -> None:
    fake.answer(code=code, log="something is wrong\nsomething is wrong")
    with pytest.raises(native.NativeError) as caught:
        compile()
    message, retried = str(caught.value), isinstance(caught.value, native.BuildFailed)
    assert caught.value.code == code and f"exit code {code} (" in message and words in message
    assert "ocloc 99.1.2345 cannot build heavy for pvc" in message
    assert message.count("something is wrong") == 1 and "GRF default" in message
    assert ("GRF 256" in message) == retried == (code in (245, 10, 1, 134, -6, -11, 77))


def test_scratch_exceeded(fake: Fake) -> None:
    fake.answer("256", code=245, log=SCRATCH).answer(code=245, log=SCRATCH.replace("326400", "400000"))
    with pytest.raises(native.ScratchExceeded) as caught:
        compile()
    error = caught.value
    assert (error.required, error.limit, error.name) == (326400, 262144, "per-thread scratch space")
    assert "GRF 256" in str(error) and "repro.sh" in str(error)
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.required, str(copied)) == (error.required, str(error))


def test_errors_cross_processes(fake: Fake) -> None:
    fake.answer(code=245)
    with pytest.raises(native.BuildFailed) as caught:
        compile()
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is native.BuildFailed and str(copied) == str(caught.value) and copied.code == 245


def test_time_limit_is_said(fake: Fake) -> None:
    fake.answer(sleep=60)
    with pytest.raises(native.Timeout, match=r"ended after 1 s[\s\S]*no exit code"):
        compile(timeout=1.0)


REPEATED = {
    "build failure": ({"code": 245, "log": "error: bad instruction"}, 245, "bad instruction"),
    "unknown device": ({"code": 223, "log": "Cannot get HW Info"}, 223, "Cannot get HW Info"),
    "degenerate": ({"output": elf(simd=32)}, 0, "heavy was built for sub-groups of 32, not of 16"),
    "time limit": ({"sleep": 30}, 137, "Killed"),
    "crash": ({"code": -6}, 134, "Aborted"),
}


@pytest.mark.parametrize("case", REPEATED)
def test_script_repeats_the_failure(fake: Fake, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """repro.sh: the same module, the same commands, the same compiler settings, the same outcome."""
    monkeypatch.setenv("IGC_ShowFullVectorsInShaderDumps", "1 '2'")
    answer, code, said = REPEATED[case]
    fake.answer(**answer)
    with pytest.raises(native.NativeError) as caught:
        compile(simd=16, timeout=4.0 if "sleep" in answer else 60.0, flags=["-igc_opts 'A=1,B=2'"])
    script = Path(re.findall(r"to repeat: (.*)", str(caught.value))[0])
    assert (script.parent / "kernel.spv").read_bytes() == WORDS
    before = options(fake)
    monkeypatch.delenv("TRITON_OCLOC_PATH")
    monkeypatch.delenv("IGC_ShowFullVectorsInShaderDumps")
    variables = {**os.environ, "PATH": "/usr/bin:/bin"}  # no environment is active
    done = subprocess.run([str(script)], capture_output=True, text=True, cwd="/", timeout=60, env=variables)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert options(fake) == before * 2 and before[0] == "-igc_opts 'A=1,B=2'"
    assert "export IGC_ShowFullVectorsInShaderDumps='1 '\"'\"'2'\"'\"''" in script.read_text()


def test_what_cannot_be_kept_is_said(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    fake.answer(code=245)
    with pytest.raises(native.BuildFailed, match="to repeat: not kept"):
        compile(keep=tmp_path / "file")


def test_every_documented_code_has_words() -> None:
    assert {0, 1, 10, 134, 223, 225, 226, 245, -6} <= set(failures.EXIT_CODES)
    assert "no exit code" in failures.in_words(None) and "signal" in failures.in_words(-5)
