"""`triton-spirv cache`: what Triton's cache folder holds of this package: kernels and drivers' binaries."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .output import Output, size_in_words

if TYPE_CHECKING:
    from .cached import Cached

EXAMPLES = ("cache ls", "cache ls softmax --json", "cache verify", "cache verify --rm", "cache rm softmax",
            "cache rm --older 30", "cache rm --all")

#: words of the command that say something else than `cached.find` would: the rest are kernels
ACTIONS = ("ls", "rm", "verify")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="ls: list; rm: remove; verify: check every file")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only kernels whose name contains this, or whose "
                        "folder's name begins with it")
    parser.add_argument("--all", action="store_true",
                        help="rm: remove every kernel of this package, and all "
                        "binaries that drivers made")
    parser.add_argument("--older", type=float, metavar="DAYS", help="only files older than this")
    parser.add_argument("--rm", action="store_true",
                        help="verify: remove damaged files; they are made again when needed")
    parser.add_argument("--json", action="store_true", help="ls, verify: print JSON")


#: how drivers' binaries of every version of this package begin
FAMILY = b"triton-spirv binary "
OUTDATED = "made by another version of this package, not used any more"


def run(options: argparse.Namespace, out: Output) -> int:
    """verify ends with status 1 if something is damaged."""
    if options.action == "ls":
        return listed(options, out)
    if options.action == "rm":
        return removed(options, out)
    return verified(options, out)


def wanted(options: argparse.Namespace) -> list[Cached]:
    """The kernels that the names and the age choose; UsageError where names choose none."""
    from .cached import cache_folder, kernels

    found = [kernel for kernel in kernels()
             if (not options.names or any(name in kernel.name or kernel.key.lower().startswith(name.lower())
                                          for name in options.names))
             and (options.older is None or kernel.age > options.older * 86400)]
    if options.names and not found:
        raise UsageError(f"no kernel {' or '.join(options.names)} in {cache_folder()}; 'triton-spirv cache "
                         f"ls' "
                         "lists all")
    return found


def driver_binaries(options: argparse.Namespace) -> list[Path]:
    """Files of drivers' binaries, which have no names of kernels."""
    from ..runtime.binary_cache import folder

    if options.names or not folder().is_dir():
        return []
    now = time.time()
    return [path for path in sorted(folder().iterdir()) if path.is_file()
            and (options.older is None or now - path.stat().st_mtime > options.older * 86400)]


def listed(options: argparse.Namespace, out: Output) -> int:
    """cache ls."""
    from .cached import cache_folder

    kernels, binaries = wanted(options), driver_binaries(options)
    size = sum(path.stat().st_size for path in binaries)
    rows = [{"kernel": kernel.name, "target": kernel.target,
             "format": kernel.metadata.get("binary_format", "spv"),
             "warps": kernel.metadata.get("num_warps"), "bytes": kernel.size, "age": round(kernel.age),
             "folder": kernel.key} for kernel in kernels]
    if options.json:
        out.json({"folder": str(cache_folder()), "kernels": rows,
                  "driver_binaries": {"count": len(binaries), "bytes": size}})
        return 0
    out.table(("kernel", "target", "format", "warps", "size", "age", "folder"),
              [(row["kernel"], row["target"], row["format"], row["warps"],
                size_in_words(int(row["bytes"] or 0)),
                age_in_words(float(row["age"] or 0)), str(row["folder"])[:8]) for row in rows])
    total = sum(kernel.size for kernel in kernels) + size
    out.line(f"{len(rows)} kernels, {len(binaries)} drivers' binaries ({size_in_words(size)}), "
             f"{size_in_words(total)} in {cache_folder()}")
    return 0


def removed(options: argparse.Namespace, out: Output) -> int:
    """cache rm."""
    if not (options.names or options.all or options.older is not None):
        raise UsageError("name the kernels to remove, or give --older DAYS or --all")
    kernels, binaries = wanted(options), driver_binaries(options)
    for kernel in kernels:
        shutil.rmtree(kernel.folder, ignore_errors=True)
    for path in binaries:
        path.unlink(missing_ok=True)
    out.line(f"{len(kernels)} kernels and {len(binaries)} drivers' binaries removed")
    return 0


def verified(options: argparse.Namespace, out: Output) -> int:
    """cache verify."""
    found = list(damages(options))
    damaged = [damage for _, damage in found if damage != OUTDATED]
    looked = len(wanted(options)) + len(driver_binaries(options))
    if options.rm:
        for path, _ in found:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    if options.json:
        out.json([{"path": str(path), "damage": damage} for path, damage in found])
    else:
        for path, damage in found:
            out.line(f"{path}: {damage}", "warning" if damage == OUTDATED else "bad")
        end = "; removed, they are made again when they are needed" if options.rm and found else ""
        out.line(f"{looked} entries, {len(damaged)} damaged, {len(found) - len(damaged)} outdated{end}",
                 "bad" if damaged else "good")
    return 1 if damaged and not options.rm else 0


def damages(options: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    """(folder or file to remove, what is wrong with it)."""
    from ..runtime import cache_key
    from ..runtime.binary_cache import MAGIC, read
    from .cached import unreadable

    for kernel in wanted(options):
        damage = damage_of(kernel)
        if damage:
            yield kernel.folder, f"{kernel.name}: {damage}"
    if not options.names:
        for path in unreadable():
            yield path.parent, f"{path.name} is damaged"
    for path in driver_binaries(options):
        try:
            data = path.read_bytes()
            inside, sound = cache_key.opened(path.name, data), read(path.name, data) is not None
        except (OSError, ValueError):
            inside, sound = b"", False
        if inside is None:
            yield path, f"a driver's binary without a valid tag of {cache_key.VARIABLE}"
        elif not sound:
            other = inside.startswith(FAMILY) and not inside.startswith(MAGIC)
            yield path, OUTDATED if other else "a driver's binary whose checksum is wrong"


def damage_of(kernel: Cached) -> str:
    """What is wrong with a kernel; empty for nothing."""
    digests = {"spv": kernel.metadata.get("native_digest") or kernel.metadata["spirv_digest"]}
    if kernel.metadata.get("native_digest"):
        digests["spirv"] = kernel.metadata["spirv_digest"]
    for stage, digest in digests.items():
        path = kernel.path(stage)
        if not path.is_file():
            return f"{path.name} is missing"
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return f"{path.name} is not what was compiled"
    group = kernel.folder / f"__grp__{kernel.name}.json"
    try:
        listed = json.loads(group.read_text(encoding="utf-8"))["child_paths"]
    except (OSError, ValueError, KeyError):
        return f"{group.name} is missing or damaged"
    gone = [name for name in listed if not (kernel.folder / name).is_file()]
    return f"{gone[0]} is missing" if gone else ""


def age_in_words(seconds: float) -> str:
    """Seconds as 12 s, 5 min, 3 h, 2 d."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
