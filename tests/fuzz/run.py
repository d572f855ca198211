"""Mutated texts: `python -m tests.fuzz.run --count 50000`.

Text number n is the same in every run with the same seed and texts to start from. They are compiled in child
processes, a batch in each; one that ends its process or never ends is a finding and costs itself alone.
Nothing is launched. Findings are told apart by the place they come from; the first texts of each are kept in
the folder of the run, beside log.jsonl with a line for each text. `--texts FOLDER` adds the .ttir files of a
cache, `--only 17` shows what becomes of one text, with the traceback.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from children import End, reports

from fuzz import seeds as seed_texts
from fuzz.check import FINDINGS, check
from fuzz.mutate import mutated

KEPT = 3
MEMORY = 4 << 30


def worker(arguments: argparse.Namespace) -> None:
    """One batch: a line before each text, one after."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seeds = seed_texts.read(arguments.out / "seeds.json")
    texts = [seed.text for seed in seeds]
    for number in range(arguments.first, arguments.first + arguments.count):
        index, text = mutated(number, texts, arguments.seed)
        print(json.dumps({"begin": number}), flush=True)
        start = time.process_time()
        validated = bool(arguments.validate) and number % arguments.validate == 0
        outcome = check(text, seeds[index].target, arguments.seconds, validated)
        print(json.dumps({"text": number, "seed": seeds[index].name, "target": seeds[index].target,
                          "kind": outcome.kind, "where": outcome.where, "message": outcome.message[-600:],
                          "seconds": round(time.process_time() - start, 2)}), flush=True)


def batch(first: int, count: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The lines of one child; of a child that dies, a line for the text that it died of, and no more."""
    command = [sys.executable, __file__, "--worker", "--first", str(first), "--count", str(count),
               "--seed", str(arguments.seed), "--out", str(arguments.out),
               "--seconds", str(arguments.seconds), "--validate", str(arguments.validate)]
    found, running = [], None
    for said in reports(command, 10 * arguments.seconds + 60):
        if isinstance(said, End):
            if running is not None or said.code:
                found.append({"text": first if running is None else running, "seed": "", "seconds": 0.0,
                              "kind": "hung" if said.hung else "crashed", "where": "process", "target": "",
                              "message": f"the process ended with {said.code}: {said.complaints}"})
        elif "begin" in said:
            running = said["begin"]
        else:
            found.append(said)
            running = None
    return found


def run(arguments: argparse.Namespace) -> int:
    """All batches, `jobs` at a time; the number of findings."""
    seeds = seed_texts.read(arguments.out / "seeds.json")
    texts = [seed.text for seed in seeds]
    kinds: Counter[str] = Counter()
    places: Counter[tuple[str, str]] = Counter()
    lock, log = threading.Lock(), (arguments.out / "log.jsonl").open("a")
    pending = list(range(arguments.first, arguments.first + arguments.count, arguments.batch))[::-1]
    end = arguments.first + arguments.count
    began = time.monotonic()

    def note(lines: list[dict[str, Any]]) -> None:
        with lock:
            for line in lines:
                log.write(json.dumps(line) + "\n")
                kinds[line["kind"]] += 1
                if line["kind"] not in FINDINGS:
                    continue
                place = (line["kind"], line["where"])
                places[place] += 1
                if places[place] <= KEPT:
                    index, text = mutated(line["text"], texts, arguments.seed)
                    path = arguments.out / f"{line['kind']}-{line['text']}.ttir"
                    path.write_text(f"// {seeds[index].target} {seeds[index].name}\n{text}")
                    if places[place] == 1:
                        print(f"  {path.name}: {line['where']}: {line['message'][:150]!r}", flush=True)
            log.flush()
            print(f"{time.monotonic() - began:.0f} s: {sum(kinds.values())} texts, "
                  f"{sum(places.values())} findings at {len(places)} places", flush=True)

    def work() -> None:
        while True:
            with lock:
                if not pending:
                    return
                first = pending.pop()
            last = min(first + arguments.batch, end)
            while first < last:  # behind a text that ends the process, the batch goes on
                lines = batch(first, last - first, arguments)
                note(lines)
                first = lines[-1]["text"] + 1 if lines else last

    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    for (kind, where), count in places.most_common():
        print(f"{count:6} {kind} {where}")
    return sum(places.values())


def only(arguments: argparse.Namespace) -> int:
    """One text again, with its traceback."""
    import triton_spirv

    seeds = seed_texts.read(arguments.out / "seeds.json")
    index, text = mutated(arguments.only, [seed.text for seed in seeds], arguments.seed)
    print(f"// {seeds[index].name} for {seeds[index].target}\n{text}")
    triton_spirv.compile(text, seeds[index].target)
    return 0


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=250, help="texts in one process")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--seconds", type=float, default=20, help="processor time that a text may take")
    parser.add_argument("--validate", type=int, default=4, help="validate each so many-th module; 0: none")
    parser.add_argument("--out", type=Path, default=Path("fuzzed"), help="folder of log and findings")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="folder with .ttir files")
    parser.add_argument("--only", type=int, help="this text alone, with its traceback")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.worker:
        worker(arguments)
        return 0
    if not (arguments.out / "seeds.json").exists():
        found = seed_texts.of_corpus()
        for folder in arguments.texts:
            found += seed_texts.of_files(folder)
        seed_texts.write(found, arguments.out / "seeds.json")
        print(f"{len(found)} texts to start from")
    if arguments.only is not None:
        return only(arguments)
    print(f"seed {arguments.seed}")
    return 1 if run(arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
