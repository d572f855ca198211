"""Recorded launches: everything that it takes to repeat one, anywhere, without Triton.

    TRITON_SPIRV_RECORD=folder        keeps the first launch of every kernel in a folder of its own below
    this one TRITON_SPIRV_RECORD_LAUNCHES=5    the first five

A recording has the SPIR-V module, launch.json (grid, arguments, how they are passed), arguments.npz (every
allocation that an argument points into, before and after the launch) and replay.py, which needs pyopencl and
numpy.
Addresses that are stored in memory name memory of the process that recorded: kernels that follow them cannot
be repeated.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LaunchError
from ..recordings import folder, new_folder
from ..settings import COUNT, number
from ..standalone import replay_source
from ..tensors import has_address
from .arguments import FORMATS, fitted
from .extents import Span, extent, merged

if TYPE_CHECKING:
    from ..artifact import Artifact
    from .launch import Launch

LIMIT = "TRITON_SPIRV_RECORD_LAUNCHES"


def wanted() -> bool:
    """Are launches to be recorded?"""
    return bool(folder())


def recording(launch: Launch, words: bytes, artifact: Artifact, device_kind: str) -> Launch:
    """A launch that records itself the first time, or the first times."""
    left = number(LIMIT, COUNT, 1)

    def recorded(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        nonlocal left
        if left <= 0 or not x * y * z:
            return launch(x, y, z, arguments)
        left -= 1
        try:
            taken = Recording(artifact, arguments)
        except (LaunchError, OSError) as error:
            print(f"triton-spirv: {artifact.entry} is not recorded: {error}", file=sys.stderr)
            return launch(x, y, z, arguments)
        try:
            launch(x, y, z, arguments)
        finally:  # a launch that fails is one to look at
            taken.finish()
            try:
                place = taken.write(Path(folder()), words, (x, y, z), device_kind)
                print(f"triton-spirv: {artifact.entry} is recorded in {place}", file=sys.stderr)
            except OSError as error:
                print(f"triton-spirv: {artifact.entry} is not recorded: {error}", file=sys.stderr)

    return recorded


class Recording:
    """The arguments of one launch, and the memory behind them."""

    def __init__(self, artifact: Artifact, arguments: Sequence[object]) -> None:
        import numpy

        self.artifact = artifact
        self.places: list[dict[str, Any]] = []
        self.memories: dict[str, dict[str, Any]] = {}
        self.data: dict[str, numpy.ndarray] = {}
        self._names: dict[Span, str] = {}
        rows = list(zip(artifact.parameters, arguments, artifact.written, strict=True))
        spans = [_span(parameter.name, argument, written) for parameter, argument, written in rows
                 if parameter.type == "ptr" and argument is not None]
        self._regions = merged(spans)
        for parameter, argument, _ in rows:
            if parameter.type == "ptr":
                self.places.append(self._pointer(parameter.name, argument))
            else:
                value = fitted(argument, parameter.type, FORMATS[parameter.type])
                self.places.append({"name": parameter.name, "value": value})

    def _pointer(self, name: str, argument: object) -> dict[str, Any]:
        """Where an argument points to: a memory, which others may share, and how far from its begin."""
        if argument is None:
            return {"name": name, "value": 0}
        start, stop, _ = _span(name, argument, False)
        region = next(one for one in self._regions if one[0] <= start and stop <= one[1])
        begin, end, written = region
        if region not in self._names:
            memory = self._names[region] = f"memory{len(self._names)}"
            self.memories[memory] = {"address": begin, "bytes": end - begin, "remainder": begin % 4096,
                                     "written": written, "dtype": "", "arguments": []}
            self.data[memory] = _copy(begin, end - begin)
        assert has_address(argument)  # it has memory, so it says where
        row = self.memories[self._names[region]]
        row["arguments"].append(name)
        row["dtype"] = row["dtype"] or str(getattr(argument, "dtype", "")).rpartition(".")[2]
        return {"name": name, "memory": self._names[region], "offset": argument.data_ptr() - begin}

    def finish(self) -> None:
        """Keep what the launch has written."""
        for name, row in self.memories.items():
            if row["written"]:
                self.data[f"{name}_after"] = _copy(row["address"], row["bytes"])

    def write(self, parent: Path, words: bytes, grid: tuple[int, int, int], device_kind: str) -> Path:
        """All files, in a new folder."""
        import numpy

        place = new_folder(parent, self.artifact.entry)
        module = f"{self.artifact.entry}.spv"
        facts = {"entry": self.artifact.entry, "spv": module, "grid": list(grid),
                 "device_kind": device_kind, "artifact": self.artifact.to_json(), "native": "",
                 "struct_format": self.artifact.struct_format if self.artifact.passing == "struct" else "",
                 "arguments": self.places, "memories": self.memories, "command": sys.argv}
        (place / module).write_bytes(words)
        (place / "launch.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        numpy.savez_compressed(place / "arguments.npz", **self.data)  # type: ignore[arg-type]
        (place / "replay.py").write_text(replay_source(), encoding="utf-8")
        return place


def _span(name: str, argument: object, written: bool) -> Span:
    """The memory behind an argument; LaunchError where it cannot be recorded."""
    if hasattr(argument, "mapped") or getattr(argument, "lives_on_device", False) \
            or not getattr(argument, "is_cpu", True):
        raise LaunchError(f"argument {name} is in a device's memory; recordings are of host memory")
    whole = extent(argument)
    if whole is None:
        raise LaunchError(f"argument {name} is a bare address; how much memory is behind it is not known")
    return whole[0], whole[0] + whole[1], written


def _copy(address: int, size: int) -> Any:
    import numpy

    if not size:
        return numpy.zeros(0, numpy.uint8)
    return numpy.frombuffer(ctypes.string_at(address, size), numpy.uint8)
