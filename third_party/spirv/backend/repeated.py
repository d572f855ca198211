"""Ordinary launches that are repeated: `kernel[grid](...)` asks what a bound launch asks (bound.py).

Triton looks at each argument anew, writes down what it has seen, and looks that up. It takes some 7
microseconds where all of it is in the processor's caches, and 40 behind a kernel that has filled them. An
autotuner takes as long again. So their `run` is wrapped, for kernels of this backend only: launches that are
called in the same way, with so many arguments and these keywords, make a form. After some launches of a form
the next one is bound. What does not fit that one is for the next bound one, and last for Triton.

TRITON_SPIRV_REPEATED=0 leaves all launches to Triton.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from triton import knobs
from triton.runtime import autotuner, jit
from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
from triton_spirv.runtime.capture import recorders
from triton_spirv.settings import flag

from .bound_arguments import (
    FOR_ALL,
    OF_A_LAUNCH,
    OTHER,
    Parameter,
    Repeated,
    Tuned,
    is_lasting,
    takes_any_number,
)

VARIABLE = "TRITON_SPIRV_REPEATED"

Launch = Callable[..., Any]

#: launches of a form by Triton, after which one is bound; bound ones of a form at most
AFTER, MOST = 8, 16
#: for each launch that was asked of all bound ones in vain so many are not, where that is the rule
ASKED, VAIN = 16, 1024
#: bound ones of one kernel: where a third is wanted, something may be another one at each launch, and it
#: waits for so many by Triton
ALIKE, PAUSE = 2, 1000
#: what an `_launches` never comes back from
NEVER = -1 << 62
#: `run` of Triton's classes, as it is wrapped
_wrapped: dict[type, Launch] = {}
#: where a kernel has its forms
FORMS = "_triton_spirv_forms"


def bind_repeated_launches() -> None:
    """From now on, where nobody else has replaced the methods: whoever has sees each launch. Each kernel that
    is loaded asks for it."""
    if flag(VARIABLE, True):
        for kind, module in ((JITFunction, jit), (Autotuner, autotuner)):
            if getattr(kind.run, "__globals__", None) is vars(module):
                kind.run = _wrapped[kind] = _binding(kind.run)


def _binding(make: Launch) -> Launch:
    """The method `run`, which binds what is repeated."""
    @functools.wraps(make)
    def run(self: Any, *arguments: Any, **keywords: Any) -> Any:
        forms = self.__dict__.get(FORMS)
        if forms is None or forms.owner is not self:
            forms = self.__dict__[FORMS] = Forms(self)
        form = len(arguments), *keywords
        launch = forms.get(form)
        if launch is None:
            launch = forms[form] = Form(make, forms, form)
        found = launch(*arguments, *keywords.values())
        return found.launch(launch) if found.__class__ is Misfit else found

    return run


class Misfit:
    """What a bound launch gives back that does not fit, and has done nothing: why, and what it was given,
    with its grid worked out."""

    __slots__ = "form", "given", "why"

    def __init__(self, form: Form, why: str, *given: Any) -> None:
        self.form, self.why, self.given = form, why, given

    def launch(self, latest: Launch) -> Any:
        """The launch, after all. latest: the bound one that it does not fit."""
        return self.form.other(self, latest)


class Forms(dict[Any, Launch]):
    """The forms of a kernel's launches, or an autotuner's: how many arguments and which keywords -> a
    function of these. A copy of the kernel has its own."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __deepcopy__(self, known: dict[int, Any]) -> Forms:
        return Forms(None)


class Form:
    """Launches that are called in the same way, as Triton makes them, and those that are bound. The one that
    has fitted last is asked first."""

    def __init__(self, run: Launch, forms: Forms, key: Any) -> None:
        self._run, self._forms, self._key = run, forms, key
        self._owner, self._count, self._keywords = forms.owner, key[0], key[1:]
        self._launches, self._alike, self._vain = 0, ALIKE, 0
        self._bound, self._kernels = list[Launch](), list[Any]()

    def __call__(self, *given: Any, why: str = "") -> Any:
        """An ordinary launch. why: what did not fit the bound ones, if there are any."""
        arguments, keywords = given[:self._count], dict(zip(self._keywords, given[self._count:], strict=True))
        compiled = self._run(self._owner, *arguments, **keywords)
        if (not why or why.endswith(OTHER)) and not keywords.get("warmup"):
            self._launches += 1
            if self._launches > AFTER and compiled is not None and not _watched():
                self._launches = 0
                try:
                    self._bind(compiled, arguments, keywords)
                except Exception:  # the launch has been made, and Triton can make the next one, too
                    self._launches = NEVER
        return compiled

    def other(self, misfit: Misfit, latest: Launch) -> Any:
        """A launch that does not fit the latest one, by another bound one, or by Triton. Where most fit none
        of them, few are asked."""
        if misfit.why not in FOR_ALL and len(self._bound) > 1:
            self._vain -= 1
            if self._vain < VAIN:
                for launch in self._bound.copy():
                    if launch is not latest:
                        found = launch(*misfit.given)
                        if found.__class__ is not Misfit:
                            self._vain = max(self._vain - ASKED, 0)
                            self._put_first(launch)
                            return found
                        misfit = found
                self._vain += ASKED
        return self(*misfit.given, why=misfit.why)

    def _put_first(self, launch: Launch) -> None:
        self._forms[self._key] = launch
        with suppress(ValueError):  # another thread has it in its hands
            self._bound.remove(launch)
        self._bound.insert(0, launch)

    def _bind(self, compiled: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """The next launch of the form that is like this one is a bound one; or none will be, where it cannot
        be, or for a while."""
        from .bound_text import written  # most programs end before they need it

        found = described(self._owner, arguments, keywords) if len(self._kernels) < MOST else None
        if found is None:
            self._launches = NEVER
            return
        if self._kernels.count(compiled) >= self._alike:
            self._launches, self._alike = -PAUSE * self._alike, self._alike + 1
            return
        function, parameters, repeated = found
        self._kernels.append(compiled)
        backend = function.device_caches[driver.active.get_current_device()][3]
        self._put_first(written(function, compiled, None, parameters, backend,
                                functools.partial(Misfit, self), repeated=repeated))


def described(owner: Any, arguments: tuple[Any, ...],
              keywords: dict[str, Any]) -> tuple[Any, list[Parameter], Repeated] | None:
    """A launch's kernel, its parameters, and how it was called; None where such a launch cannot be bound, or
    would keep what it is given."""
    from .bound import config_of, tuning_key
    from .compiler import SPIRVBackend

    given = {name: value for name, value in keywords.items() if name not in OF_A_LAUNCH}
    function, tuned, chosen = owner, None, given
    if not keywords.keys() >= {*OF_A_LAUNCH}:
        return None
    if type(owner) is Autotuner:
        function, config, run = owner.fn, config_of(owner, arguments, given), _wrapped.get(JITFunction)
        if config is None or config.pre_hook is not None or JITFunction.run is not run:
            return None
        key = tuning_key(owner, arguments, given) if len(owner.configs) > 1 else ()
        tuned, chosen = Tuned(owner, config, key, run), {**given, **config.all_kwargs()}
    if type(function) is not JITFunction:  # somebody's own kind, or one with heuristics
        return None
    _, _, _, backend, read = function.device_caches[driver.active.get_current_device()]
    if not isinstance(backend, SPIRVBackend) or takes_any_number(function):
        return None
    values, known, _ = read(*arguments, **chosen)
    parameters = [Parameter.of(at, kind, value, at < len(arguments) or kind.name in given, own)
                  for at, (kind, value, own) in
                  enumerate(zip(function.params, values.values(), known, strict=True))]
    options = {name: value for name, value in given.items() if name not in values}
    constants = [*(one.value for one in parameters if one.constant), *options.values()]
    if any(isinstance(one.value, tuple) for one in parameters) or not all(map(is_lasting, constants)):
        return None
    names = [*(one.name for one in parameters[:len(arguments)]), *keywords]
    return function, parameters, Repeated(names, options, tuned)


def _watched() -> bool:
    """Does somebody watch launches now?"""
    hooks = (getattr(knobs.runtime, f"launch_{name}_hook") for name in ("enter", "exit"))
    return bool(recorders) or any(hook is not None and getattr(hook, "calls", True) for hook in hooks)
