"""How Inductor launches its kernels on a CPU: after the first launch, through a function of one kernel.

torch writes a launcher for each kernel, which makes an object for Triton's launch hooks and calls Triton's
launcher, which asks of each argument what it is. For a small kernel that takes longer than the kernel. The
function that is written here computes the grid as torch's does, takes the addresses, and makes the one call
of triton_spirv's quick launches (runtime/quick.py), or lets torch's own threads share the launch
(runtime/teams.py). What does not fit, and what somebody watches, is launched by torch's launcher as before.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

#: names of the function that are not torch's or the kernel's own begin so
OURS = "_spirv_"


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the launcher that it keeps after a kernel's first launch."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    build = CachingAutotuner._build_fast_launcher

    def build_fast_launcher(self: Any, launcher: Any) -> Any:
        if getattr(self.device_props, "type", "") != "cpu":
            return build(self, launcher)
        made = written(launcher, self.inductor_meta)
        if made is not None and "run" not in vars(self):
            self.run = at_once(made, self.run)
        return made

    CachingAutotuner._build_fast_launcher = build_fast_launcher


def written(launcher: Any, facts: dict[str, Any]) -> Callable[..., None] | None:
    """torch's launcher of a kernel -> a function that does the same, sooner; None where a launch takes more
    than addresses and numbers. facts: Inductor's of the kernel."""
    from torch._inductor.runtime.triton_heuristics import GridExpr

    known = launcher.__globals__
    compiled = known.get("bin")
    hooks = [watchers(known.get(f"launch_{when}_hook")) for when in ("enter", "exit")]
    given = launcher.__code__.co_varnames[:launcher.__code__.co_argcount]
    passed = {name: kind for name, kind in compiled.src.signature.items() if kind != "constexpr"} \
        if compiled is not None else {}
    if not passed or None in hooks or not set(passed) <= set(given) or given[-1] != "stream" \
            or any(not isinstance(kind, str) for kind in passed.values()):
        return None
    pointers = [name for name, kind in passed.items() if kind.startswith("*")]
    quick = quick_of(compiled, {at: 1 for at, name in enumerate(passed) if name in pointers})
    if quick is None:
        return None
    from triton_spirv.runtime.capture import recorders

    grid = GridExpr.from_meta(facts, launcher.config)
    ours = {"ordinary": launcher, "entering": hooks[0], "leaving": hooks[1], "recorders": recorders,
            "quick": quick, "pack": quick.pack, "threads": quick.threads, "sharing": quick.sharing,
            "members": quick.members,
            "misfits": (struct.error, OverflowError, TypeError, AttributeError)}
    body = body_text(given, list(passed), pointers, quick, grid)
    names = {**known, **{OURS + name: value for name, value in ours.items()}}
    exec(f"{head_text(given)}\n{body}", names)
    made: Callable[..., None] = names["launcher"]
    made.__dict__.update(launcher.__dict__)
    names.update({OURS + "given": given, OURS + "body": body})
    return made


def at_once(made: Callable[..., None], run: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a kernel, to be called by Inductor's code itself: with what torch's `run` asks before
    it calls a launcher. `run` is called where a profiler or a debug mode is on, or more is passed."""
    from torch.autograd import profiler
    from torch.utils import _debug_mode

    mode = getattr(_debug_mode, "_mode", None)
    if not hasattr(profiler, "_is_profiler_enabled") or not hasattr(mode, "_ACTIVE_DEBUG_MODE_COUNT"):
        return run
    names = {**made.__globals__, OURS + "profiler": profiler, OURS + "mode": mode, OURS + "run": run}
    exec(f"{head_of_run_text(names[OURS + 'given'])}\n{names[OURS + 'body']}", names)
    found: Callable[..., Any] = names["launcher"]
    return found


def head_text(given: tuple[str, ...]) -> str:
    """Of a launcher: its parameters, and what is launched by torch's, which tells who watches."""
    return "\n".join([f"def launcher({', '.join(given)}):",
                      f"    if {OURS}entering or {OURS}leaving or {OURS}recorders:",
                      f"        {ordinary_text(given)}"])


def head_of_run_text(given: tuple[str, ...]) -> str:
    """The same of what stands for torch's `run`."""
    return "\n".join([f"def launcher({', '.join(given)}, **{OURS}more):",
                      f"    if {OURS}more or {OURS}profiler._is_profiler_enabled or "
                      f"{OURS}mode._ACTIVE_DEBUG_MODE_COUNT \\",
                      f"            or {OURS}entering or {OURS}leaving or {OURS}recorders:",
                      f"        return {OURS}run({', '.join([*given[:-1], 'stream=stream'])}, **{OURS}more)"])


def ordinary_text(given: tuple[str, ...]) -> str:
    return f"return {OURS}ordinary({', '.join([*given[:-1], 'stream=stream'])})"


def body_text(given: tuple[str, ...], passed: list[str], pointers: list[str],
              quick: Any, grid: Any) -> str:
    """The function's body. given: the launcher's parameters; passed: those that the kernel has."""
    ordinary = ordinary_text(given)
    unusual = " or ".join(f"{name}.is_neg() or not {name}.is_cpu" for name in pointers)
    values = ", ".join(f"{name}.data_ptr()" if name in pointers else name for name in passed)
    sizes = ", ".join(f"grid_{axis} * {size}" for axis, size in enumerate(quick.local_size))
    shared = "" if quick.sharing is None else (
        f"not (0 < {OURS}programs <= {OURS}sharing.shared and "
        f"{OURS}sharing.run({OURS}programs, {OURS}members, {OURS}data)) and ")
    hidden = f", *{OURS}threads.hidden" if quick.asserts else ""
    lines = [*grid.prefix,
             f"grid_0 = {grid.x_grid}",
             f"grid_1 = {grid.y_grid}",
             f"grid_2 = {grid.z_grid}",
             "try:",
             *([f"    if {unusual}:", f"        {ordinary}"] if pointers else []),
             f"    {OURS}data = {OURS}pack({sizes}, {values}{hidden})",
             f"except {OURS}misfits:",
             f"    {ordinary}",
             f"{OURS}programs = grid_0 * grid_1 * grid_2",
             f"if 0 < {OURS}programs <= {OURS}quick.most:",
             f"    {OURS}code = {OURS}threads.call({OURS}data)",
             f"    if {OURS}code:",
             f"        if not {OURS}quick.said({OURS}programs, {OURS}code):",
             f"            {ordinary}",
             f"    elif {OURS}quick.slow:",
             f"        {OURS}quick.slow = 0",
             f"elif {shared}not {OURS}quick.launch(grid_0, grid_1, grid_2, ({values},)):",
             f"    {ordinary}",
             *([f"if {OURS}threads.error[0]:",
                f"    {OURS}quick.failed_assertion()"] if quick.asserts else [])]
    return "\n".join(f"    {line}" for line in lines)


def watchers(hook: Any) -> Any:
    """Triton's list of what watches launches, which may be longer at the next one; None where there is no
    such list."""
    return () if hook is None else getattr(hook, "calls", None)


def quick_of(compiled: Any, alignments: dict[int, int]) -> Any:
    """The runtime's quick launches of Triton's compiled kernel; None where it has none."""
    made = getattr(compiled.run, "quick", None)
    return None if made is None else made(compiled.function, None, alignments, True)
