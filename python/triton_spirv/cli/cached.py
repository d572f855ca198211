"""The kernels of this package in Triton's cache folder: one folder each, with the text of every stage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..artifact import metadata_of
from ..dataclass import dataclass
from ..errors import UsageError


@dataclass(frozen=True)
class Cached:
    """A compiled kernel. metadata: what Triton keeps as NAME.json."""

    folder: Path
    name: str
    metadata: dict[str, Any]

    @property
    def key(self) -> str:
        """The name of its folder; the first eight letters tell kernels apart well enough."""
        return self.folder.name

    @property
    def target(self) -> str:
        """The target as Triton knows it: backend and architecture."""
        target = self.metadata.get("target") or {}
        return f"{target.get('backend', '?')}:{target.get('arch', '?')}"

    @property
    def emitted_for(self) -> str:
        """The target of the emitter: `cpu` for any processor."""
        target = self.metadata.get("target") or {}
        return "cpu" if target.get("backend") == "cpu" else str(target.get("arch", ""))

    @property
    def files(self) -> list[Path]:
        """Everything in its folder."""
        return sorted(path for path in self.folder.iterdir() if path.is_file())

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.files)

    @property
    def age(self) -> float:
        """Seconds since it was compiled."""
        return time.time() - (self.folder / f"{self.name}.json").stat().st_mtime

    def path(self, stage: str) -> Path:
        """The file of a stage."""
        return self.folder / f"{self.name}.{stage}"

    def text(self, stage: str) -> str:
        """The text of a stage; empty where it is not kept."""
        path = self.path(stage)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def words(self) -> bytes:
        """The SPIR-V module, which lies beside a native binary where there is one."""
        kept = self.path("spirv")
        return (kept if kept.is_file() else self.path("spv")).read_bytes()


def cache_folder() -> Path:
    """Triton's cache folder, by the variables that Triton reads."""
    from ..runtime.binary_cache import folder

    return folder().parent


def kernels(folder: Path | None = None) -> list[Cached]:
    """Every kernel of this package in the cache, the newest first. Damaged ones without readable metadata
    are not among them: see `unreadable`."""
    found = []
    for path in (folder or cache_folder()).glob("*/*.json"):
        if path.name.startswith("__grp__"):
            continue
        try:
            metadata = metadata_of(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if metadata is not None:
            found.append(Cached(path.parent, path.name.removesuffix(".json"), metadata))
    return sorted(found, key=lambda kernel: (kernel.age, kernel.key))


def unreadable(folder: Path | None = None) -> list[Path]:
    """Metadata files of kernels that do not parse, beside a listing of ours."""
    found = []
    for path in sorted((folder or cache_folder()).glob("*/*.json")):
        if path.name.startswith("__grp__") or not path.with_suffix(".spvasm").is_file():
            continue
        try:
            whole = metadata_of(path.read_text(encoding="utf-8")) is not None
        except (OSError, ValueError):
            whole = False
        if not whole:
            found.append(path)
    return found


def find(wanted: str) -> Cached:
    """The newest kernel of that name, or the one whose folder's name begins so; UsageError lists what there
    is.
    """
    known = kernels()
    exact = [kernel for kernel in known if kernel.name == wanted]
    begun = [kernel for kernel in known if kernel.key.lower().startswith(wanted.lower()) and len(wanted) >= 4]
    within = [kernel for kernel in known if wanted in kernel.name]
    for candidates in (exact, begun, within):
        if candidates:
            return candidates[0]
    raise UsageError(f"no kernel {wanted!r} in {cache_folder()}; {_some(known)}")


def _some(known: Sequence[Cached]) -> str:
    names = list(dict.fromkeys(kernel.name for kernel in known))
    if not names:
        return "it has none of this package: run one with TRITON_SPIRV_BACKEND=1"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"it has {', '.join(names[:8])}{more}"
