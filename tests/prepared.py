"""Scripts in processes of their own that need not import torch again, which takes longer than most of what
tests do with it.

`run(script, arguments, imports=..., environment=...)` is `subprocess.run([sys.executable, script, ...])`, and
`python(words)` is `subprocess.run([sys.executable, *words])` for `-c`, `-m` and files, but the process is the
child of one that has imported the modules, and nothing more: it looked for no device. Each set of modules has
such a process, and so has each environment of which they may read something when they are imported. A
script's environment is its own. Scripts that ask what is imported, or how, need a process of the ordinary
kind.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

#: settings that torch reads as it is imported begin so; other variables may differ between scripts
READ = ("TORCH", "PYTORCH", "PYTHON", "OMP_", "MKL_", "LD_", "KMP_")
#: and these are what Triton reads, which comes with parts of torch, and this package
READ_BY_PARTS = (*READ, "TRITON_BACKENDS_IN_TREE", "TRITON_DEFAULT_BACKEND", "TRITON_SPIRV_BACKEND",
                 "TRITON_SPIRV_INDUCTOR")
#: but this is read when it is needed
LATER = ("TORCHINDUCTOR_CACHE_DIR",)

#: what a process imports until it has launched a kernel (prepared_kernels.py), and until torch.compile has
#: compiled one (prepared_inductor.py)
TORCH, KERNELS, INDUCTOR = ("torch",), ("prepared_kernels",), ("prepared_inductor",)

SERVER = '''
import ctypes, gc, importlib, json, os, runpy, signal, sys, types
end_with_parent = ctypes.CDLL(None).prctl, 1, signal.SIGKILL  # PR_SET_PDEATHSIG
end_with_parent[0](*end_with_parent[1:])
sys.path.insert(0, sys.argv[2])
for module in sys.argv[1].split(","):
    importlib.import_module(module)
    for mine in ("seed", module) if module.startswith("prepared_") else ():
        sys.modules.pop(mine, None)
del sys.path[0]
gc.collect()
gc.freeze()
asked, answers = sys.stdin, sys.stdout
while True:
    line = asked.readline()
    if not line:
        os._exit(0)
    request = json.loads(line)
    child = os.fork()
    if not child:
        break
    _, status = os.waitpid(child, 0)
    print(json.dumps(os.waitstatus_to_exitcode(status)), file=answers, flush=True)
end_with_parent[0](*end_with_parent[1:])
gc.unfreeze()
os.environ.clear()
os.environ.update(request["environment"])
os.chdir(request["folder"])
for number, path in enumerate((os.devnull, request["stdout"], request["stderr"])):
    file = os.open(path, os.O_RDWR)
    os.dup2(file, number)
    os.close(file)
first, *words = request["words"]
if first == "-c":
    sys.argv, sys.path[0] = ["-c", *words[1:]], ""
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    exec(compile(words[0], "<string>", "exec"), vars(main))
elif first == "-m":
    sys.argv, sys.path[0] = words, os.getcwd()
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
else:
    sys.argv, sys.path[0] = [first, *words], os.path.dirname(os.path.abspath(first))
    runpy.run_path(first, run_name="__main__")
'''

#: so many processes at a time: each takes some hundred megabytes
KEPT = 3

_servers: dict[tuple[str, ...], subprocess.Popen[str]] = {}


def run(script: Path, arguments: Sequence[str] = (), *, imports: Sequence[str],
        environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What the script printed, and its status: negative, the signal that ended it. It may take as long as the
    test may."""
    return python([str(script), *arguments], imports=imports, environment=environment)


def python(words: Sequence[str], *, imports: Sequence[str] = KERNELS,
           environment: Mapping[str, str] | None = None,
           folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same for what follows `python` on a command line; `folder` is its working directory."""
    variables = dict(os.environ if environment is None else environment)
    server = _server(tuple(imports), variables)
    assert server.stdin and server.stdout
    words = [str(word) for word in words]
    with tempfile.TemporaryDirectory() as own:
        said = [Path(own, name) for name in ("stdout", "stderr")]
        for path in said:
            path.touch()
        print(json.dumps({"words": words, "environment": variables, "folder": str(folder or os.getcwd()),
                          "stdout": str(said[0]), "stderr": str(said[1])}), file=server.stdin, flush=True)
        try:
            status = server.stdout.readline()
        except BaseException:  # the test's time is over
            _kill(server)
            raise
        assert status, "the prepared process has ended"
        return subprocess.CompletedProcess(words, int(status), *(path.read_text() for path in said))


def _server(imports: tuple[str, ...], variables: Mapping[str, str]) -> subprocess.Popen[str]:
    begins = READ if imports == TORCH else READ_BY_PARTS
    read = {name: value for name, value in variables.items() if name.startswith(begins) and name not in LATER}
    key = (*imports, json.dumps(read, sort_keys=True))
    server = _servers.pop(key, None)
    if server is None or server.poll() is not None:
        while len(_servers) >= KEPT:
            _kill(_servers.pop(next(iter(_servers))))
        command = [sys.executable, "-c", SERVER, ",".join(imports), str(Path(__file__).parent)]
        server = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=dict(variables), start_new_session=True)
    _servers[key] = server  # behind those that were used before
    return server


def _kill(server: subprocess.Popen[str]) -> None:
    """The process and its child."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    with server:
        pass  # waits, and closes its files


@atexit.register
def _end() -> None:
    for server in _servers.values():
        _kill(server)
