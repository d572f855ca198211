"""What threads that launch at the same time must do only once: hash, compile, load.

Triton's runtime takes no lock: forty threads of a server that launch a new kernel compile it forty times, and
a thread may find a kernel whose loading another one has begun. The three places where that happens are
wrapped; kernels of other backends pass them as before. The second one also knows whether a launch waits for
what is compiled, which then starts the driver meanwhile.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from triton.compiler.compiler import CompiledKernel, max_shared_mem
from triton.runtime import driver
from triton.runtime.jit import JITFunction
from triton_spirv.runtime import called_programs, devices

from .explained import explained

P = ParamSpec("P")
T = TypeVar("T")


class Locks:
    """A lock for each key that somebody works on; a child process starts without."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Any, tuple[threading.RLock, list[int]]] = {}

    @contextmanager
    def holding(self, key: Any) -> Iterator[None]:
        """The block runs in one thread at a time for each key."""
        guard, locks = self._guard, self._locks
        with guard:
            lock, users = locks.setdefault(key, (threading.RLock(), [0]))
            users[0] += 1
        try:
            with lock:
                yield
        finally:
            with guard:
                users[0] -= 1
                if not users[0]:
                    locks.pop(key, None)


_locks = Locks()


def once(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, whose first result serves all later calls, whatever their arguments; threads wait for it.
    """
    results: list[T] = []

    @functools.wraps(function)
    def first(*arguments: P.args, **keywords: P.kwargs) -> T:
        if not results:
            with _locks.holding(function):
                if not results:
                    results.append(function(*arguments, **keywords))
        return results[0]

    first.forget = results.clear  # type: ignore[attr-defined]
    return first


def serve_threads() -> None:
    """From now on; once is enough."""
    if hasattr(JITFunction._do_compile, "serves_threads"):
        return
    _bind_once()
    _compile_once()
    _load_once()


def _bind_once() -> None:
    """A kernel's caches of a device are made by the first launch there: each of several first ones made its
    own, where that takes long (a GPU's driver is asked), and what another had compiled was lost."""
    original = JITFunction.create_binder

    @functools.wraps(original)
    def create_binder(self: Any) -> Any:
        device = driver.active.get_current_device()
        with _locks.holding((id(self), device)):
            made = self.device_caches.get(device)  # by the thread that was first
            if made is None:
                made = self.device_caches[device] = original(self)
            return made

    JITFunction.create_binder = create_binder


def _compile_once() -> None:
    original = JITFunction._do_compile

    @functools.wraps(original)
    def _do_compile(self: Any, key: Any, signature: Any, device: Any, constants: Any, *rest: Any,
                    **keywords: Any) -> Any:
        kernels, target = self.device_caches[device][0], self.device_caches[device][2]
        if not _is_ours(target):
            return original(self, key, signature, device, constants, *rest, **keywords)
        with _locks.holding((id(self), device, str(key))):
            made = kernels.get(key)  # by the thread that was first
            if made is not None:
                return made
            _thread.launches = not keywords.get("warmup", rest[-1] if rest else True)
            try:
                with explained(self, constants):
                    return original(self, key, signature, device, constants, *rest, **keywords)
            finally:
                _thread.launches = False

    _do_compile.serves_threads = True  # type: ignore[attr-defined]
    JITFunction._do_compile = _do_compile


class _Thread(threading.local):
    launches = False  # will what this thread compiles be launched next?


_thread = _Thread()


def prepare_driver() -> None:
    """For a kernel that is not in the cache, and will be launched: the driver's start takes as long as the
    compilation, and needs no Python."""
    choice = devices.selection()
    if _thread.launches and devices.is_pip_cpu(choice):
        called_programs.prepare(choice)


def _load_once() -> None:
    original = CompiledKernel._init_handles

    @functools.wraps(original)
    def _init_handles(self: Any) -> None:
        if self.function is not None:  # each launch asks
            return None
        if not _is_ours(self.metadata.target):
            return original(self)
        with _locks.holding(id(self)):
            max_shared_mem.cache_clear()  # Triton remembers it by a device's number, and targets differ
            return original(self)

    def loaded(self: Any) -> Any:
        if self._run is None or _is_ours(self.metadata.target):
            self._init_handles()
        return self._run

    def run(self: Any) -> Any:
        """The launcher. Triton's own looks for the launcher alone, which is there before the function is."""
        launcher = self._run
        return loaded(self) if launcher is None or self.function is None else launcher

    CompiledKernel._init_handles = _init_handles
    CompiledKernel.run = property(run)


def _is_ours(target: Any) -> bool:
    from triton.compiler.compiler import make_backend

    from .compiler import SPIRVBackend

    return isinstance(make_backend(target), SPIRVBackend)
