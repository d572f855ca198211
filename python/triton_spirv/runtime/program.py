"""Programs: SPIR-V words built for a device, from the driver's binary where an earlier process left one."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import weakref

from ..errors import DeviceError
from . import binary_cache
from .devices import Context
from .opencl import Library, OpenCLError


class BuildError(DeviceError):
    """The device's compiler refused a module: the error, the build log, the device."""


class Program:
    """A built program, and one kernel object of its entry point that is never launched itself: threads launch
    clones of it."""

    def __init__(self, library: Library, handle: int, entry: str) -> None:
        self.library, self.handle, self.entry, self.kernel = library, handle, entry, 0
        self.kernel = library.create("clCreateKernel", handle, entry.encode())
        self._lock = threading.Lock()

    def clone_kernel(self) -> OwnedKernel:
        """A kernel object with arguments of its own."""
        with self._lock:
            return OwnedKernel(self, self.library.create("clCloneKernel", self.kernel))

    def __del__(self) -> None:
        if sys.is_finalizing():
            return  # the driver's own end may have begun
        if self.kernel:
            self.library.clReleaseKernel(self.kernel)
        self.library.clReleaseProgram(self.handle)


class OwnedKernel:
    """A kernel object that is released with its owner, and keeps its program alive."""

    def __init__(self, program: Program, handle: int) -> None:
        self.program, self.handle = program, handle

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.program.library.clReleaseKernel(self.handle)


_programs: weakref.WeakValueDictionary[tuple[int, str, bytes], Program] = weakref.WeakValueDictionary()
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def build(context: Context, words: bytes, entry: str, options: str = "") -> Program:
    """The program of these words, built at most once while it is in use; BuildError where it is refused."""
    name = (context.handle, f"{entry} {options}", hashlib.sha256(words).digest())
    with _lock:  # drivers build one program at a time anyway
        program = _programs.get(name)
        if program is None:
            recipe = (context, words, entry, options)
            program = _from_binary(*recipe) or _from_words(*recipe)
            _programs[name] = program
        return program


def _from_binary(context: Context, words: bytes, entry: str, options: str) -> Program | None:
    name = binary_cache.key(words, context.device, options)
    binary = binary_cache.load(name)
    if binary is None:
        return None
    library, device = context.device.library, context.device.handle
    try:
        program = library.program_with_binary(context.handle, device, binary)
        library.build(program, device, options)
        return Program(library, program, entry)
    except OpenCLError:
        binary_cache.remove(name)  # not this driver's after all: build from the words
        return None


def _from_words(context: Context, words: bytes, entry: str, options: str) -> Program:
    library, device = context.device.library, context.device
    try:
        handle = library.program_with_il(context.handle, words)
        library.build(handle, device.handle, options)
        program = Program(library, handle, entry)
    except OpenCLError as error:
        who = f"{device.name} (driver {device.driver_version})"
        raise BuildError(f"{who} cannot build {entry}: {error}") from error
    binary_cache.store(binary_cache.key(words, device, options), library.binary(handle))
    return program
