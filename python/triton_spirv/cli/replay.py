"""`triton-spirv replay`: repeats recorded launches, and says whether their results are those of the
recording.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from ..errors import UsageError
from .output import Output

EXAMPLES = ("replay recorded/0001-softmax", "replay recorded --repeat 20",
            "replay recorded --device gpu --tolerance 1e-5")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="a recorded launch, or a folder of several: what "
                        "TRITON_SPIRV_RECORD=FOLDER python my_kernel.py has left")
    parser.add_argument("--device", default="",
                        help="part of a device's name or platform; default: one of the kind "
                        "that it was recorded on")
    parser.add_argument("--repeat", type=int, default=1, help="launches to time")
    parser.add_argument("--tolerance", type=float, default=0.0, help="that floats may differ by; default 0")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 if results of any differ."""
    folder: Path = options.folder
    places = [folder] if (folder / "replay.py").is_file() else sorted(folder.glob("*/replay.py"))
    places = [place.parent if place.name == "replay.py" else place for place in places]
    if not places:
        raise UsageError(f"{folder} has no recorded launch; TRITON_SPIRV_RECORD={folder} python "
                         f"my_kernel.py makes some")
    worst = 0
    for place in places:
        words = [sys.executable, str(place / "replay.py"), "--repeat", str(options.repeat), "--tolerance",
                 str(options.tolerance), "--device", options.device]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        text = (done.stdout or done.stderr.strip().rpartition("\n")[2]).rstrip()
        out.line(f"{place.name}: {text}", "good" if not done.returncode else "bad")
        worst = max(worst, 1 if done.returncode else 0)
    return worst
