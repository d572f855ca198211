"""Finds OpenCL: the CPU driver that pip installed, and the ICD loader in front of the machine's own drivers.

Intel's CPU driver exports the whole OpenCL API itself, so it is opened directly: no ICD loader, no vendor
file, no pyopencl. Other drivers are reached through the ICD loader in pyopencl's wheel, or the system's. The
vendor files in Intel's wheel name a placeholder path, so the loader is initialised with a private vendor
folder: the system's files and one naming the real path.
"""

from __future__ import annotations

import ctypes.util
import functools
import importlib
import importlib.metadata
import os
import shutil
import site
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..errors import DeviceError
from ..once import Once
from . import running_kernels
from .opencl import Library
from .processor import DRIVER, processor

CPU_PACKAGE = "intel-opencl-rt"
#: what the driver loads from its second package; without it the driver does not load, and says nothing
CPU_COMPANION = "libsvml.so"
COMPANION_PACKAGE = "intel-cmplr-lib-rt"
SYSTEM_VENDORS = "/etc/OpenCL/vendors"


@functools.cache
def cpu_library() -> str | None:
    """The path of the pip-installed CPU driver, or None; nothing is loaded."""
    for folder in _library_folders():
        path = folder / DRIVER
        if path.is_file():
            return str(path)
    return _path_by_package()


def _library_folders() -> Iterator[Path]:
    prefixes = [sys.prefix, sys.exec_prefix, site.getuserbase(), "/usr/local", sys.base_prefix]
    for prefix in dict.fromkeys(prefix for prefix in prefixes if prefix):
        yield Path(prefix, "lib")


def _path_by_package() -> str | None:
    """For installations with a layout of their own (pip install --target): ask the package where its files
    are."""
    try:
        files = importlib.metadata.distribution(CPU_PACKAGE).files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        path = file.locate()
        if file.name == DRIVER and os.path.isfile(path):
            return os.path.realpath(path)
    return None


@Once
def open_cpu() -> Library | None:
    """The CPU driver, opened; None where it is not installed, DeviceError where it is incomplete."""
    path = cpu_library()
    if path is None:
        return None
    running_kernels.install()  # drivers have handlers for signals, too, which restore those that they found
    processor()  # it tells the driver what to compile for, where need be
    try:
        return Library(path)
    except DeviceError as error:
        if not Path(path).with_name(CPU_COMPANION).exists():
            reason = f"{path} needs {CPU_COMPANION}, which is missing: 'pip install {COMPANION_PACKAGE}'"
            raise DeviceError(reason) from error
        raise


@Once
def open_loader() -> Library | None:
    """The ICD loader: pyopencl's own where pyopencl is installed, else the system's, else None."""
    running_kernels.install()
    try:
        pyopencl()
        # dlsym on the extension module also searches the libraries that it was linked with: the loader in the
        # wheel
        return Library(str(importlib.import_module("pyopencl._cl").__file__))
    except ImportError:
        pass
    path = ctypes.util.find_library("OpenCL")
    if path is None:
        return None
    try:
        library = Library(path)
    except DeviceError:
        return None
    with vendors():
        library.platforms()
    return library


def pyopencl() -> ModuleType:
    """pyopencl, with the pip-installed CPU driver among its platforms unless its loader was already in use;
    ImportError without it."""
    with vendors():
        module = importlib.import_module("pyopencl")
        try:
            module.get_platforms()  # the loader reads the vendor folder at the first call, and only then
        except module.Error:
            pass  # no platform at all
    return module


@contextmanager
def vendors() -> Iterator[None]:
    """OCL_ICD_VENDORS names a folder with every vendor file there is and the pip-installed CPU driver's, for
    the time being. One thread at a time: each puts back what it found."""
    with _naming_vendors:
        with _vendors():
            yield


#: held by the thread for which OCL_ICD_VENDORS names another folder
_naming_vendors = threading.RLock()
os.register_at_fork(after_in_child=lambda: globals().update(_naming_vendors=threading.RLock()))


@contextmanager
def _vendors() -> Iterator[None]:
    processor()  # as before the driver is opened by itself
    path, before = cpu_library(), os.environ.get("OCL_ICD_VENDORS")
    source = Path(before or SYSTEM_VENDORS)
    if path is None:
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix="triton-spirv-vendors-"))
    try:
        for file in sorted(source.glob("*.icd")) if source.is_dir() else [source] if source.is_file() else []:
            (folder / file.name).symlink_to(file.resolve())
        (folder / "triton-spirv-cpu.icd").write_text(path + "\n")
        os.environ["OCL_ICD_VENDORS"] = str(folder)
        yield
    finally:
        if before is None:
            os.environ.pop("OCL_ICD_VENDORS", None)
        else:
            os.environ["OCL_ICD_VENDORS"] = before
        shutil.rmtree(folder, ignore_errors=True)
