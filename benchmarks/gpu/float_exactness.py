"""Is floating-point arithmetic what the kernel says? tests/exactness.py on this package's Vulkan device,
beside native Triton on the same GPU: how many of 1024 results are not what exact rounding of each operation
gives.

    SCRIPT=benchmarks/gpu/float_exactness.py benchmarks/gpu/run.sh script FOLDER
    DTYPES=f32,f64            some of the types; SIDES=spirv without native Triton

With fusion, each result may be any that a fused product and sum give. Each side has a process of its own,
as in figures.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DTYPES = os.environ.get("DTYPES", "f32,f64,f16,bf16").split(",")


def side(name: str) -> None:
    """Run every case; print a line `RESULT {json}`: "case, dtype, fusion" -> wrong results, or the error."""
    sys.path.insert(0, str(ROOT / "tests"))
    import exactness
    import torch

    results: dict[str, int | str] = {}
    place = (lambda t: t) if name == "spirv" else (lambda t: t.cuda())

    def run(kernel: Any, grid: int, *arguments: Any, **options: Any) -> None:
        kernel[(grid,)](*arguments, **options)

    def kahan(dtype: str) -> int:
        x = exactness.kahan_inputs(dtype)
        out = place(torch.zeros(exactness.COUNT, dtype=torch.from_numpy(x).dtype))
        run(exactness.kahan_kernel, exactness.COUNT // 256, place(torch.from_numpy(x)), out, exactness.ROUNDS,
            exactness.COUNT, 256)
        return exactness.wrong(out.cpu(), [exactness.Numbers(exactness.kahan_expected(x), dtype)])

    for title, case in exactness.CASES.items():
        for dtype in set(case.dtypes) & set(DTYPES):
            for fusion in (False, True) if case.fused is not None else (False,):
                try:
                    out = exactness.launch(case, dtype, fusion, run, place)
                    found: int | str = exactness.wrong(out, exactness.expected(case, dtype, fusion))
                except Exception as error:
                    found = f"{type(error).__name__}: {str(error)[:200]}"
                results[f"{title}, {dtype}, {'fused' if fusion else 'exact'}"] = found
    for dtype in {"f32", "f64"} & set(DTYPES):
        results[f"Kahan sum of 2^20, {dtype}, fused"] = kahan(dtype)
    print("RESULT " + json.dumps(results), flush=True)


def main() -> int:
    found: dict[str, dict[str, int | str]] = {}
    for name in os.environ.get("SIDES", "spirv,native").split(","):
        switch = {"TRITON_SPIRV_BACKEND": "1"} if name == "spirv" else {}
        done = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, text=True,
                              check=False, env={**os.environ, **switch})
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        found[name] = json.loads(lines[-1].removeprefix("RESULT ")) if lines else {}
        if not lines:
            print(f"!! {name}: status {done.returncode}\n{done.stdout[-2000:]}")
    titles = list(dict.fromkeys(title for results in found.values() for title in results))
    print("| case, type, fusion | wrong of 1024 | native Triton |\n|---|---|---|")
    for title in titles:
        print(f"| {title} | {found.get('spirv', {}).get(title, '-')} | "
              f"{found.get('native', {}).get(title, '-')} |")
    ours = found.get("spirv", {})
    failed = [title for title in titles if ours.get(title) != 0]
    print(f"{len(ours) - len(failed)} of {len(ours)} right here")
    return int(bool(failed))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        side(sys.argv[1])
    else:
        sys.exit(main())
