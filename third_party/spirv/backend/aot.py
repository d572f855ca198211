"""Triton's front end without a device and without its cache: what `triton_spirv.aot` and the command compile
from Python source. They reach this module through triton_spirv/plugin.py.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.errors import TritonError
from triton.runtime import driver
from triton_spirv.aot.signature import Signature
from triton_spirv.aot.work import Lowered
from triton_spirv.errors import TritonSpirvError, UsageError
from triton_spirv.target import Target

from .compiler import SPIRVBackend
from .driver import SPIRVDriver
from .options import FIELDS, SPIRVOptions
from .stages import Pipeline
from .targets import CPU_WARP_SIZE


class FrontEndError(TritonSpirvError):
    """Triton refused a kernel: its own words, with the line."""


def jit_function(kernel: Any) -> Any:
    """The @triton.jit function inside of decorators such as autotune; UsageError where there is none."""
    found = kernel
    while not isinstance(found, triton.JITFunction):
        found = getattr(found, "fn", None)
        if found is None:
            raise UsageError(f"{getattr(kernel, '__name__', kernel)!r} is not a @triton.jit function")
    return found


def parameters(kernel: Any) -> tuple[list[str], list[str]]:
    """The names of all parameters, and of those that are constexprs."""
    function = jit_function(kernel)
    return list(function.arg_names), [each.name for each in function.params if each.is_constexpr]


def default_constants(kernel: Any) -> dict[str, Any]:
    """Defaults of constexpr parameters, as the function's head gives them."""
    function = jit_function(kernel)
    values = inspect.signature(function.fn).parameters
    return {each.name: values[each.name].default for each in function.params
            if each.is_constexpr and values[each.name].default is not inspect.Parameter.empty}


def option_names() -> list[str]:
    """The names of the options of a launch."""
    return FIELDS


def kernels_of(path: Path) -> dict[str, Any]:
    """Every kernel that a Python file defines, by name; the file is run, as Triton's own compiler does."""
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise UsageError(f"{path} is not a Python file")
        module: ModuleType = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent.resolve()))
    found = {}
    for name, value in vars(module).items():
        try:
            function = jit_function(value)
        except UsageError:
            continue
        if inspect.getsourcefile(function.fn) == str(path.resolve()) or function.__module__ == path.stem:
            found[name] = value
    return found


def lower(kernel: Any, signature: Signature, target: Target, options: Mapping[str, Any]) -> Lowered:
    """A kernel through Triton's front end and passes for a target. `options`: num_warps, num_stages and the
    others of a launch; UsageError for a name that is none."""
    function = jit_function(kernel)
    gpu = triton_target(target)
    kinds: dict[str, str] = {name: signature.types.get(name, "constexpr") for name in function.arg_names}
    places = {name: index for index, name in enumerate(function.arg_names)}
    attributes = {(places[name],): [["tt.divisibility", 16]] for name in signature.divisible}
    source = ASTSource(function, kinds, dict(signature.constants), attributes)
    backend, chosen = FrontEndBackend(gpu), parsed(options, gpu)
    with current_target(gpu):
        context = _context(backend)
        generators, modules = backend.get_codegen_implementation(chosen), backend.get_module_map()
        try:
            module = source.make_ir(gpu, chosen, generators, modules, context)
        except TritonError as error:
            raise FrontEndError(f"{function.__name__}: {error}") from error
        return _through_passes(Pipeline(gpu, chosen, source.language), module, target, function.__name__)


def with_layouts(path: Path, target: Target, options: Mapping[str, Any]) -> Lowered:
    """A .ttir file through the passes that lay tensors out over lanes and warps."""
    gpu = triton_target(target)
    chosen = parsed(options, gpu)
    with current_target(gpu):
        context = _context(FrontEndBackend(gpu))
        module = ir.parse_mlir_module(str(path), context)
        module.context = context
        return _through_passes(Pipeline(gpu, chosen, None), module, target, path.stem)


def _context(backend: SPIRVBackend) -> Any:
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def _through_passes(pipeline: Pipeline, module: Any, target: Target, name: str) -> Lowered:
    pipeline.target = target  # as named, not as the device at hand refines it
    metadata: dict[str, Any] = {}
    ttir = pipeline.ttir(module, metadata)
    text = str(ttir)
    ttgir = pipeline.ttgir(ttir, metadata) if target.lanes else ""
    return Lowered(name, text, ttgir, pipeline.emitter_options(), pipeline.target)


def parsed(options: Mapping[str, Any], target: GPUTarget) -> SPIRVOptions:
    """The options of a launch; UsageError for a name or a value that is none."""
    for name in options:
        if name not in FIELDS:
            raise UsageError(f"there is no option {name!r}; there are {', '.join(FIELDS)}")
    try:
        return SPIRVOptions.parse(dict(options), target)
    except AssertionError as error:
        raise UsageError(str(error)) from None


def triton_target(target: Target) -> GPUTarget:
    """Triton's name of a target of the emitter."""
    if target.lanes:
        return GPUTarget("spirv", target.name, target.sub_group_size)
    return GPUTarget("cpu", target.name, CPU_WARP_SIZE)


class FrontEndBackend(SPIRVBackend):
    """The backend for named targets, with the switch on or off."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return True


class NamedTarget(SPIRVDriver):
    """A driver of which only the target is asked."""

    target: GPUTarget

    def get_current_target(self) -> GPUTarget:
        return self.target


_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


@contextmanager
def current_target(target: GPUTarget) -> Iterator[None]:
    """Kernels that ask which target they are compiled for hear this one, whatever devices there are."""
    named = NamedTarget()
    named.target = target
    with _lock:
        before = driver._active
        driver.set_active(named)
        try:
            yield
        finally:
            driver._active = before
