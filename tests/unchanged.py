"""`pytest --skip-unchanged`: tests on a device whose words and driver are what they were are not run again.

While the emitter is worked on, most tests launch the very same words on the same driver as an hour before.
Where a test passes, what its launches were compiled from and to is written down in a local folder: Triton's
IR, the target, the options, a digest of the words. Later that IR is compiled again, which needs no device:
where all words are as they were, and so are the driver, the processor, the runtime, Triton, and the sources
of the tests, the test is skipped.

The record is of this machine, and is not for continuous integration, which refuses the option.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".spirv-unchanged"

#: What takes part in a launch besides the words.
LAUNCHING = ("python/triton_spirv/runtime", "python/triton_spirv/standalone", "third_party")


def is_unchanged(test: str, file: Path) -> bool:
    """Would a test that passed launch the same words on the same driver?"""
    try:
        record = json.loads(_place(test).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if record["surroundings"] != surroundings(file):
        return False
    return record["emitter"] == emitter() or all(
        digest_of(row["text"], tuple(row["target"]), json.dumps(row["options"])) == row["words"]
        for row in record["launches"])


def note(test: str, file: Path, launches: Iterable[Any]) -> None:
    """Write down the launches of a test that passed. One without words, as in the interpreter, is not."""
    rows = [_row(compiled) for compiled in launches]
    if not rows or None in rows:
        return
    FOLDER.mkdir(exist_ok=True)
    record = {"test": test, "surroundings": surroundings(file), "emitter": emitter(), "launches": rows}
    _place(test).write_text(json.dumps(record), encoding="utf-8")


def _row(compiled: Any) -> dict[str, Any] | None:
    from triton_spirv_backend.stages import emitter_options
    from triton_spirv_backend.targets import emitter_target

    words = getattr(compiled, "asm", {}).get("spv")
    if words is None:
        return None
    target = compiled.metadata.target
    text = compiled.asm["ttgir" if emitter_target(target).lanes else "ttir"]
    row = {"text": text, "target": [target.backend, target.arch, target.warp_size],
           "options": emitter_options(compiled.metadata), "words": hashlib.sha256(words).hexdigest()}
    known = digest_of(row["text"], tuple(row["target"]), json.dumps(row["options"]))
    return row if known == row["words"] else None  # else it is made of more than that


@functools.cache
def digest_of(text: str, target: Sequence[Any], options: str) -> str:
    """Of the words that IR becomes today; "" where it is refused."""
    import triton_spirv
    from triton.backends.compiler import GPUTarget
    from triton_spirv.errors import TritonSpirvError
    from triton_spirv_backend.targets import emitter_target

    device = emitter_target(GPUTarget(*target))
    lanes = text.partition('"ttg.threads-per-warp" = ')[2].partition(" ")[0]
    if device.lanes and lanes:
        device = device.with_options(sub_group_size=int(lanes))
    try:
        return hashlib.sha256(triton_spirv.compile(text, device, **json.loads(options)).words).hexdigest()
    except TritonSpirvError:
        return ""


def surroundings(file: Path) -> str:
    """All that a result depends on besides the words."""
    import triton
    from triton_spirv.runtime import devices
    from triton_spirv_backend.fingerprint import driver_identity
    from triton_spirv_backend.targets import chosen_vulkan

    vulkan = chosen_vulkan()
    driver = driver_identity() if vulkan is None else vulkan.fingerprint
    helpers = tuple(sorted(Path(__file__).parent.glob("*.py")))
    return "|".join((driver, devices.selection(), platform.processor(), triton.__version__,
                     sources((*helpers, file)), sources(_files(LAUNCHING))))


@functools.cache
def emitter() -> str:
    """Digest of everything that takes part in compiling."""
    from triton_spirv_backend import fingerprint

    return fingerprint.sources()


@functools.cache
def _files(folders: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


@functools.cache
def sources(files: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _place(test: str) -> Path:
    return FOLDER / f"{hashlib.sha256(test.encode()).hexdigest()[:32]}.json"


def refuse_in_ci() -> None:
    import pytest

    if os.environ.get("CI"):
        raise pytest.UsageError("--skip-unchanged is for developing: where CI is set, everything runs")
