"""Where recordings go, and the recording of a compilation that failed by a defect of this package.

    TRITON_SPIRV_RECORD=FOLDER        each recording is a folder of its own below FOLDER

A failed compilation is kept as kernel.ttir (the IR as it was given) and compile.json (target, options, the
error). runtime/record.py keeps launches.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

VARIABLE = "TRITON_SPIRV_RECORD"
TEXT, FACTS = "kernel.ttir", "compile.json"

_NAME = re.compile(r"tt\.func [^@\n]*@\"?([\w.$-]+)")


def folder() -> str:
    """Where recordings go; empty for none."""
    return os.environ.get(VARIABLE, "").strip()


def keep_compilation(text: str, target: Any, options: dict[str, Any], error: str) -> str:
    """Write a recording of a compilation -> its folder; "" where none is wanted or it cannot be written."""
    if not folder():
        return ""
    found = _NAME.search(text)
    facts = {"target": target.name, "target_described": repr(target), "options": options, "error": error}
    try:
        place = new_folder(Path(folder()), found[1] if found else "kernel")
        (place / TEXT).write_text(text, encoding="utf-8")
        (place / FACTS).write_text(json.dumps(facts, indent=1, default=repr) + "\n", encoding="utf-8")
    except OSError:
        return ""
    return str(place)


def new_folder(parent: Path, name: str) -> Path:
    """parent/0001-name, or the next number: several processes may record at once."""
    parent.mkdir(parents=True, exist_ok=True)
    plain = re.sub(r"[^\w.-]", "_", name)
    number = len(list(parent.iterdir()))
    while True:
        number += 1
        place = parent / f"{number:04}-{plain}"
        try:
            place.mkdir()
            return place
        except FileExistsError:
            continue
