"""`triton-spirv replay`: repeats recorded launches, and says whether their results are those of the
recording; compiles again what could not be compiled.

A recording is data here. Its replay.py is for machines without this package; this command runs the same code
out of the package, in a process of its own, and nothing from the folder but the recorded kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from ..errors import TritonSpirvError, UsageError
from ..recordings import FACTS, TEXT
from .output import Output

EXAMPLES = ("replay recorded/0001-softmax", "replay recorded --repeat 20",
            "replay recorded --device gpu --tolerance 1e-5")

#: isolated (-I): neither the current folder nor the user's variables say what is imported
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
from triton_spirv.standalone import replay
sys.exit(replay.main())
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a recorded launch, or a folder of several, made by "
                        "TRITON_SPIRV_RECORD=FOLDER python my_kernel.py")
    parser.add_argument("--device", default="",
                        help="a part of a device's name or platform; default: a device of the "
                        "recorded kind")
    parser.add_argument("--repeat", type=int, default=1, help="how many launches to time")
    parser.add_argument("--tolerance", type=float, default=0.0, help="how much floats may differ; default: 0")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if results of any differ."""
    folder: Path = options.folder
    places = [place for place in (folder, *sorted(folder.glob("*"))) if _is_recording(place)]
    if not places:
        raise UsageError(f"{folder} has no recorded launch; to record some, run "
                         f"TRITON_SPIRV_RECORD={folder} python my_kernel.py")
    worst = 0
    for place in places:
        again = _compiled_again if (place / FACTS).is_file() else _launched_again
        status, text = again(place, options)
        out.line(f"{place.name}: {text}", "good" if not status else "bad")
        worst = max(worst, 1 if status else 0)
    return worst


def _is_recording(place: Path) -> bool:
    return (place / "launch.json").is_file() or (place / FACTS).is_file()


def _launched_again(place: Path, options: argparse.Namespace) -> tuple[int, str]:
    """(status, what it says) of a launch repeated by our own code."""
    roots = [os.path.abspath(path) for path in sys.path if path]
    words = [sys.executable, "-I", "-c", _PROGRAM, json.dumps(roots), "--folder", str(place.resolve()),
             "--repeat", str(options.repeat), "--tolerance", str(options.tolerance),
             "--device", options.device]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout or done.stderr.strip().rpartition("\n")[2]).rstrip()


def _compiled_again(place: Path, options: argparse.Namespace) -> tuple[int, str]:
    """The same for a compilation that failed."""
    from ..compiler import compile

    try:
        facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
        known = {name: value for name, value in facts["options"].items()
                 if isinstance(value, (bool, int)) and name.isidentifier() and name not in ("text", "target")}
        artifact = compile((place / TEXT).read_text(encoding="utf-8"), str(facts["target"]), **known)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        return 1, f"the recording is damaged: {type(error).__name__}: {error}"
    except TritonSpirvError as error:
        return 1, f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return 0, f"{artifact.entry} compiles for {facts['target']}: {len(artifact.words)} bytes"
