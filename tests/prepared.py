"""Scripts in processes of their own that need not import torch again, which takes longer than most of what
tests do with it.

`run(script, arguments, imports=..., environment=...)` is `subprocess.run([sys.executable, script, ...])`, but
the process is the child of one that has imported the modules, and nothing more: it looked for no device. Each
set of modules has such a process, and so has each environment of which they may read something when they are
imported. A script's environment is its own. Scripts that ask what is imported, or how, need a process of the
ordinary kind.
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
#: and those of Triton, which comes with parts of torch
READ_BY_PARTS = (*READ, "TRITON_")
#: but these are read when they are needed
LATER = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")

SERVER = '''
import gc, importlib, json, os, runpy, sys
for module in sys.argv[1].split(","):
    importlib.import_module(module)
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
gc.unfreeze()
os.environ.clear()
os.environ.update(request["environment"])
os.chdir(request["folder"])
for number, path in enumerate((os.devnull, request["stdout"], request["stderr"])):
    file = os.open(path, os.O_RDWR)
    os.dup2(file, number)
    os.close(file)
sys.argv = request["words"]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
'''

_servers: dict[tuple[str, ...], subprocess.Popen[str]] = {}


def run(script: Path, arguments: Sequence[str] = (), *, imports: Sequence[str],
        environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """What the script printed, and its status: negative, the signal that ended it. It may take as long as the
    test may."""
    variables = dict(os.environ if environment is None else environment)
    server = _server(tuple(imports), variables)
    assert server.stdin and server.stdout
    words = [str(script), *arguments]
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        for path in said:
            path.touch()
        print(json.dumps({"words": words, "environment": variables, "folder": os.getcwd(),
                          "stdout": str(said[0]), "stderr": str(said[1])}), file=server.stdin, flush=True)
        try:
            status = server.stdout.readline()
        except BaseException:  # the test's time is over
            _kill(server)
            raise
        assert status, "the prepared process has ended"
        return subprocess.CompletedProcess(words, int(status), *(path.read_text() for path in said))


def _server(imports: tuple[str, ...], variables: Mapping[str, str]) -> subprocess.Popen[str]:
    begins = READ if imports == ("torch",) else READ_BY_PARTS
    read = {name: value for name, value in variables.items() if name.startswith(begins) and name not in LATER}
    key = (*imports, json.dumps(read, sort_keys=True))
    if key not in _servers or _servers[key].poll() is not None:
        _servers[key] = subprocess.Popen([sys.executable, "-c", SERVER, ",".join(imports)], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(variables),
                                         start_new_session=True)
    return _servers[key]


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
