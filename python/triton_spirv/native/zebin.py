"""Reading a zebin, the native binary of Intel GPUs: an ELF file with a description of its kernels in YAML.

`describe` yields the figures of one kernel, or says why the file is not usable: a compiler that says
"success" may have left the kernel out, chosen other sub-groups, or dropped what it could not resolve.

Source: the section names and keys of zebin 1.20 and 1.73, as ocloc writes them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..dataclass import dataclass
from . import elf
from .failures import BuildFailed

SPIRV_MAGIC = b"\x03\x02\x23\x07"
ARCHIVE_MAGIC = b"!<arch>\n"
MACHINE = 205

#: symbols that the driver resolves when it loads the binary
_OF_THE_DRIVER = ("__INTEL_", "__SubDeviceID", "__SyncBuffer", "__ImplicitArg", "__AssertHandler")


def kind(binary: bytes) -> str:
    """"spirv", "elf" or "archive", by the first bytes; "unknown" otherwise."""
    for magic, name in ((SPIRV_MAGIC, "spirv"), (elf.MAGIC, "elf"), (ARCHIVE_MAGIC, "archive")):
        if binary.startswith(magic):
            return name
    return "unknown"


def format_of(binary: bytes) -> str:
    """"spv", "zebin", "archive" or "driver" (some other binary of a driver): metadata's `binary_format`."""
    name = kind(binary)
    if name == "elf":
        return "zebin" if binary[18:20] == MACHINE.to_bytes(2, "little") else "driver"
    return {"spirv": "spv", "unknown": "driver"}.get(name, name)


@dataclass(frozen=True)
class KernelFacts:
    """What .ze_info says of a kernel. Bytes for each hardware thread, slm_size for each work-group.

    spill_size    None where the compiler is too old to say
    scratch_size  a power of two that spilled registers and private arrays fit into
    """

    name: str
    grf_count: int
    simd_size: int
    slm_size: int = 0
    barrier_count: int = 0
    private_size: int = 0
    spill_size: int | None = None
    scratch_size: int = 0
    has_dpas: bool = False


def sections(binary: bytes) -> tuple[elf.Section, ...]:
    """The sections of an ELF file for an Intel GPU; BuildFailed for anything else."""
    return _file(binary).sections


def _file(binary: bytes) -> elf.File:
    with _reading():
        file = elf.read(binary)
    if file.machine != MACHINE:
        raise BuildFailed(f"the output is an ELF file for machine {file.machine}, not {MACHINE} (Intel GPU)")
    return file


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except elf.NotReadable as error:
        raise BuildFailed(f"the output is {error}") from error


def undefined_symbols(file: elf.File) -> list[str]:
    """Names that the binary refers to and nobody defines; the driver would refuse it."""
    with _reading():
        return [symbol.name for symbol in file.symbols()
                if symbol.section == 0 and symbol.name and not symbol.name.startswith(_OF_THE_DRIVER)]


def describe(binary: bytes, kernel: str, simd: int | None = None, dpas: bool = False) -> KernelFacts:
    """The kernel's figures; BuildFailed where the binary lacks it, or is not what was asked for.

    simd: the size of sub-groups that it must have; dpas: must it use the matrix engine? A module that asks
    for the engine on a device without one loses those instructions without a word.
    """
    file = _file(binary)
    described = file.section(".ze_info")
    if described is None:
        raise BuildFailed("the output has no section .ze_info")
    text = described.data.decode(errors="replace")
    facts = next((one for one in kernels(text) if one.name == kernel), None)
    if facts is None or file.section(f".text.{kernel}") is None:
        raise BuildFailed(f"the output does not contain the kernel {kernel}")
    missing = undefined_symbols(file)
    if missing:
        raise BuildFailed(f"nothing defines {', '.join(sorted(set(missing)))}, which {kernel} needs")
    if simd is not None and facts.simd_size != simd:
        raise BuildFailed(f"{kernel} was built for sub-groups of {facts.simd_size}, not of {simd}")
    if dpas and not facts.has_dpas:
        raise BuildFailed(f"{kernel} was built without the matrix instructions that its module asks for")
    return facts


def spirv_of(binary: bytes) -> bytes | None:
    """The SPIR-V module that ocloc puts into a zebin beside the code."""
    found = _file(binary).section(".spv")
    return None if found is None else found.data


def kernels(text: str) -> Iterator[KernelFacts]:
    """The kernels that a .ze_info section describes."""
    for entry in parse_info(text).get("kernels") or ():
        environment = entry.get("execution_env") or {}
        buffers = entry.get("per_thread_memory_buffers") or ()
        scratch = sum(int(one.get("size", 0)) for one in buffers if one.get("type") == "scratch")
        spill = environment.get("spill_size")
        if spill is None and (not scratch or "private_size" in environment):
            spill = 0  # nothing to spill into, or a compiler that would have said so
        try:
            yield KernelFacts(
                str(entry["name"]), int(environment["grf_count"]), int(environment["simd_size"]),
                int(environment.get("slm_size", 0)), int(environment.get("barrier_count", 0)),
                int(environment.get("private_size", 0)), spill, scratch,
                bool(environment.get("has_dpas", False)))
        except (KeyError, ValueError) as error:
            raise BuildFailed(f"a kernel in .ze_info lacks {error}") from error


_LINE = re.compile(r"(?P<indent> *)(?P<items>(?:- +)*)(?:(?P<key>[\w.]+):(?: +|$))?(?P<value>.*)")


def parse_info(text: str) -> dict[str, Any]:
    """The subset of YAML that .ze_info is written in: block maps and lists, scalars, lists of scalars in one
    line."""
    root: dict[str, Any] = {}
    open_blocks: list[tuple[int, Any]] = [(-1, root)]  # (indentation, map or list)
    pending: tuple[Any, str, int] | None = None  # a key whose block has not begun, and its indentation
    for line in text.splitlines():
        if not line.strip() or line.startswith(("---", "...")):
            continue
        match = _LINE.match(line)
        assert match is not None
        indent, key, value = len(match["indent"]), match["key"], match["value"].strip()
        for _ in range(match["items"].count("-")):
            if pending and indent >= pending[2]:
                owner, name, _ = pending
                owner[name] = []
                open_blocks.append((indent - 0.5, owner[name]))  # type: ignore[arg-type]
            pending = None
            while not (isinstance(open_blocks[-1][1], list) and open_blocks[-1][0] < indent):
                open_blocks.pop()
            if key is None:
                open_blocks[-1][1].append(_scalar(value))
                continue
            item: dict[str, Any] = {}
            open_blocks[-1][1].append(item)
            indent += 2
            open_blocks.append((indent, item))
        if key is None:
            continue
        if pending and indent > pending[2]:
            owner, name, _ = pending
            owner[name] = {}
            open_blocks.append((indent, owner[name]))
        pending = None
        while open_blocks[-1][0] > indent or isinstance(open_blocks[-1][1], list):
            open_blocks.pop()
        block = open_blocks[-1][1]
        block[key] = _scalar(value) if value else {}
        if not value:
            pending = (block, key, indent)
    return root


def _scalar(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(word.strip()) for word in text[1:-1].split(",") if word.strip()]
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        return text


def members(archive: bytes) -> dict[str, bytes]:
    """The files of a fat archive, as ocloc writes one for a family of devices."""
    if kind(archive) != "archive":
        raise BuildFailed("the output is not an archive")
    found: dict[str, bytes] = {}
    names, at = b"", len(ARCHIVE_MAGIC)
    while at + 60 <= len(archive):
        name, size = archive[at:at + 16].rstrip(), int(archive[at + 48:at + 58])
        data = archive[at + 60:at + 60 + size]
        if name == b"//":
            names = data
        elif name.startswith(b"/") and name[1:].isdigit():
            long = names[int(name[1:]):]
            found[long.partition(b"/")[0].decode(errors="replace")] = data
        elif name not in (b"/", b"pad_0"):
            found[name.rstrip(b"/").decode(errors="replace")] = data
        at += 60 + size + size % 2
    return found


def main(arguments: list[str]) -> int:
    """`python -m triton_spirv.native.zebin FILE KERNEL [SIMD [dpas]]`: its figures, or why it is not
    usable."""
    with open(arguments[0], "rb") as file:
        binary = file.read()
    simd = int(arguments[2]) if len(arguments) > 2 and arguments[2] != "0" else None
    try:
        print(describe(binary, arguments[1], simd, "dpas" in arguments[3:]))
    except BuildFailed as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
