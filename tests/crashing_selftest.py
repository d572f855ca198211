"""A worker of the selftest whose driver is no good, for tests/cli/test_selftest.py."""

from __future__ import annotations

import json
import os
import sys
import time

part, *names = sys.argv[1:]
if part == "names":
    print(json.dumps({"cases": ["good", "crash", "fine", "hang", "last"]}), flush=True)
elif part == "figures":
    sys.exit("no figures")
for name in names:
    print(json.dumps({"begins": name}), flush=True)
    print("what a driver prints", flush=True)
    if name == "crash":
        print("the driver says goodbye", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 11)
    if name == "hang":
        time.sleep(60)
    print(json.dumps({"name": name, "state": "passed", "seconds": 0.1}), flush=True)
