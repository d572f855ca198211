"""What environment variables name: is there such a device, file, folder or target? For `triton-spirv doctor`.

variables.py says for each variable which function here looks at its text.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import TritonSpirvError, UsageError
from ..variables import Variable


def problem(variable: Variable, text: str) -> str:
    """What is wrong with the text of a variable; empty: nothing."""
    try:
        variable.kind.value(variable.name, text)
        if variable.trial:
            TRIALS[variable.trial](text)
    except TritonSpirvError as error:
        return str(error)
    return ""


def _backend(text: str) -> None:
    names = sorted(point.name for point in importlib.metadata.entry_points(group="triton.backends"))
    if text not in names:
        raise UsageError(f"Triton has no backend of that name; it has {', '.join(names)}")


def _device(text: str) -> None:
    from ..runtime import devices, vulkan

    if not vulkan.is_vulkan(text):
        devices.choose(text)
        return
    from ..runtime.vulkan.devices import choose

    choose(text)


def _target(text: str) -> None:
    from ..target import chosen_target

    chosen_target(text)


def _profile(text: str) -> None:
    from ..runtime import profile

    if profile.setting() not in ("", "1", profile.LINES):
        _file(text)


def _check(text: str) -> None:
    from .. import checking

    checking.normalised(text)


def _check_timeout(text: str) -> None:
    from ..runtime import checking

    checking.timeout()


def _check_limit(text: str) -> None:
    from .. import checking

    checking.limit()


def _check_suppress(text: str) -> None:
    from .. import check_reports

    check_reports.rules(text)


def _optimise(text: str) -> None:
    from ..target.optimisations import left_out

    left_out(text)


def _debug(text: str) -> None:
    from ..compiler import PASS_NAMES
    from ..inspection import Inspection

    Inspection.asked(PASS_NAMES)


def _cache_key(text: str) -> None:
    from ..runtime import cache_key

    cache_key.key()


def _vulkan_loader(text: str) -> None:
    from ..runtime.vulkan.library import open_loader

    open_loader()


def _processor(text: str) -> None:
    from ..runtime.processor import DRIVER_TARGETS

    if text not in DRIVER_TARGETS:
        raise UsageError(f"the driver knows no such processor; it knows {', '.join(DRIVER_TARGETS)}")


def _program(text: str) -> None:
    if shutil.which(text) is None:
        raise UsageError(f"there is no program {text}")


def _paths(text: str) -> None:
    for path in filter(None, text.split(os.pathsep)):
        if not os.path.exists(path):
            raise UsageError(f"there is no {path}")


def _file(text: str) -> None:
    """A file that can be written, in a folder that is there."""
    if Path(text).is_dir():
        raise UsageError(f"{text} is a folder, not a file")
    _require_writable(Path(text).absolute().parent)


def _folder(text: str) -> None:
    """A folder that is there, or can be made."""
    place = Path(text).absolute()
    while not os.path.lexists(place):
        place = place.parent
    _require_writable(place)


def _require_writable(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be written: {error.strerror}") from None


#: what variables.py calls them
TRIALS: dict[str, Callable[[str], None]] = {
    "backend": _backend, "device": _device, "target": _target, "profile": _profile, "check": _check,
    "check_timeout": _check_timeout, "check_limit": _check_limit, "check_suppress": _check_suppress,
    "optimise": _optimise, "debug": _debug, "cache_key": _cache_key, "vulkan_loader": _vulkan_loader,
    "processor": _processor, "program": _program, "paths": _paths, "file": _file, "folder": _folder,
}
