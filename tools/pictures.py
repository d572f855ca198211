"""Draws the pictures of the documentation: docs/pictures/*.svg.

    python tools/pictures.py              every plot; the figures are those of the tables in docs/
    python tools/pictures.py --viewer     also the picture of `triton-spirv show --html`, by chromium

The tables are the only place where figures stand. Each plot says in its metadata which figures it was made
of, and a test compares that with the tables.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FOLDER = DOCS / "pictures"

OURS, THEIRS, EVEN = "#3f51b5", "#9aa0a6", "#c62828"

Table = list[list[str]]


def table(page: str, head: str) -> Table:
    """The rows of the table of a page whose first line begins so; ValueError where there is none."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith(head)]
    if len(starts) != 1:
        raise ValueError(f"docs/{page} has {len(starts)} tables that begin with {head!r}")
    rows = []
    for line in lines[starts[0] + 2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def number(text: str) -> float:
    """The first number of a cell."""
    found = re.search(r"\d+(?:\.\d+)?", text)
    if not found:
        raise ValueError(f"no number in {text!r}")
    return float(found.group())


def series(text: str) -> list[tuple[float, float]]:
    """ "64: 1.21, 256: 1.11" -> [(64, 1.21), (256, 1.11)]."""
    return [(float(at), float(value)) for at, value in re.findall(r"(\d+): (\d+(?:\.\d+)?)", text)]


# ---- what there is to draw

KERNELS = ("performance.md", "| work | ours, ms | torch / ours | rate | of the limit |")
FAMILIES = ("performance.md", "| family | torch.compile / ours |")
INTERPRETER = ("performance.md", "| family | interpreter / ours |")
SIZES = ("performance.md", "| kernel | size: torch / ours |")
COMPILE = ("performance.md", "| kernel | ours | of that the driver |")
DEVICE = ("vulkan.md", "| kernel | this package | native Triton |")


def kernels(figure: Any) -> None:
    """Torch's time over ours, a bar for each kernel."""
    rows = table(*KERNELS)
    ratio_bars(figure, [row[0] for row in rows], [number(row[2]) for row in rows],
               "torch's time / triton-spirv's time")


def peers(figure: Any) -> None:
    """The same of torch.compile and of Triton's interpreter, a bar for each family of kernels."""
    names, values = [], []
    for who, rows in (("torch.compile", table(*FAMILIES)), ("interpreter", table(*INTERPRETER))):
        names += [f"{who}: {row[0].partition(' (')[0]}" for row in rows]
        values += [number(row[1]) for row in rows]
    ratio_bars(figure, names, values, "its time / triton-spirv's time")


#: operations of a kernel for each byte that the table counts; a function counts as one. Products: see below
OPERATIONS = {"add": 1 / 12, "softmax": 5 / 8, "rms norm": 4 / 8, "sum over axis": 1 / 4}


def roofline(figure: Any) -> None:
    """Operations a second over operations for each byte, below what the machine can do."""
    rows, (bandwidth, most) = table(*KERNELS), limits()
    figure.set_size_inches(8.5, 4.8)
    axes = figure.subplots()
    reach = [2 ** (at / 4) for at in range(-16, 40)]
    axes.plot(reach, [min(bandwidth * at, most) for at in reach], color="black", linewidth=0.8)
    for name, intensity in OPERATIONS.items():
        chosen = [row for row in rows if row[0].startswith(name) and "GB/s" in row[3]]
        rates = [intensity * number(row[3]) for row in chosen]
        axes.plot([intensity] * len(rates), rates, "o", markersize=5, label=name)
    products = [(float(row[0].split()[-1]), number(row[3])) for row in rows
                if re.fullmatch(r"matmul float32 \d+", row[0])]
    # n x n x n: 2 n ^ 3 operations, 12 n ^ 2 bytes
    axes.plot([n / 6 for n, _ in products], [rate for _, rate in products], "o", markersize=5, color=OURS,
              label="matmul float32")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("operations for each byte that is read or written")
    axes.set_ylabel("GFLOP/s")
    axes.legend(fontsize=8)


def limits() -> tuple[float, float]:
    """GB/s of a copy and GFLOP/s of multiply-adds, as the page says."""
    text = (DOCS / KERNELS[0]).read_text(encoding="utf-8")
    found = re.search(r"a copy \((\d+) GB/s\) or the rate of\s+multiply-adds \((\d+) GFLOP/s\)", text)
    if not found:
        raise ValueError("docs/performance.md does not say what the machine can do")
    return float(found[1]), float(found[2])


def ratio_bars(figure: Any, names: Sequence[str], values: Sequence[float], label: str) -> None:
    """Horizontal bars from 1, where both sides are equally fast."""
    figure.set_size_inches(8.5, 1.2 + 0.24 * len(names))
    axes = figure.subplots()
    places = range(len(names))
    axes.barh(places, [value - 1 for value in values], left=1, height=0.7,
              color=[OURS if value >= 1 else EVEN for value in values])
    for place, value in zip(places, values, strict=True):
        beyond = value >= 1
        axes.annotate(f"{value:g}", (value, place), (4 if beyond else -4, 0), textcoords="offset points",
                      ha="left" if beyond else "right", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(min(0.4, min(values) / 2), max(values) * 2)
    axes.set_yticks(places, names, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel(f"{label}; right of 1, triton-spirv is faster")


def sizes(figure: Any) -> None:
    """Torch's time over ours as problems grow, a line for each kernel."""
    figure.set_size_inches(8.5, 4.8)
    axes = figure.subplots()
    for name, text in table(*SIZES):
        points = series(text)
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xlabel("size (elements, columns, or length: see the table)")
    axes.set_ylabel("torch's time / triton-spirv's time")
    axes.legend(fontsize=8)


def compilation(figure: Any) -> None:
    """Milliseconds of one cold compilation, ours beside Triton's CUDA pipeline."""
    rows = table(*COMPILE)
    pairs(figure, [row[0] for row in rows], "milliseconds for one cold compilation",
          {"triton-spirv, driver included": ([number(row[1]) for row in rows], OURS),
           "Triton's CUDA pipeline": ([number(row[3]) for row in rows], THEIRS)})


def device(figure: Any) -> None:
    """The rate of kernels through Vulkan on an H100, of native Triton's."""
    rows = table(*DEVICE)
    ours, native, theirs = ([number(row[at]) for row in rows] for at in (1, 2, 3))
    sides = {"triton-spirv, through Vulkan": ([a / b for a, b in zip(ours, native, strict=True)], OURS),
             "torch": ([a / b for a, b in zip(theirs, native, strict=True)], THEIRS)}
    pairs(figure, [row[0] for row in rows], "rate on an H100, native Triton = 1", sides, even=True)


def pairs(figure: Any, names: Sequence[str], label: str, sides: dict[str, tuple[list[float], str]],
          even: bool = False) -> None:
    """Two bars for each name."""
    figure.set_size_inches(8.5, 1.4 + 0.42 * len(names))
    axes = figure.subplots()
    for at, (side, (values, colour)) in enumerate(sides.items()):
        places = [place + 0.38 * at for place in range(len(names))]
        bars = axes.barh(places, values, 0.36, label=side, color=colour)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=8)
    axes.set_yticks([place + 0.19 for place in range(len(names))], names, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    if even:
        axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel(label)
    axes.legend(fontsize=8)


#: file -> how it is drawn, the tables that it is made of
PICTURES: dict[str, tuple[Callable[..., None], tuple[tuple[str, str], ...]]] = {
    "kernels.svg": (kernels, (KERNELS,)),
    "roofline.svg": (roofline, (KERNELS,)),
    "peers.svg": (peers, (FAMILIES, INTERPRETER)),
    "sizes.svg": (sizes, (SIZES,)),
    "compilation.svg": (compilation, (COMPILE,)),
    "h100.svg": (device, (DEVICE,)),
}


def figures_of(name: str) -> str:
    """A short name of the figures that a picture is made of."""
    text = repr([table(*source) for source in PICTURES[name][1]])
    return f"figures {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def draw(name: str, folder: Path) -> None:
    """One picture, the same bytes for the same figures."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "triton-spirv", "svg.fonttype": "none", "font.size": 9,
                                "axes.spines.top": False, "axes.spines.right": False})
    figure = pyplot.figure(layout="constrained")
    PICTURES[name][0](figure)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / name, metadata={"Date": None, "Description": figures_of(name)})
    pyplot.close(figure)


# ---- the viewer

BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--hide-scrollbars")


def viewer(folder: Path) -> None:
    """The page that `triton-spirv show --html` writes of the softmax tutorial's kernel, as a browser shows;
    the folders of this machine are left out."""
    browser = shutil.which("chromium")
    if browser is None:
        raise SystemExit("chromium is not installed")
    tutorial = ROOT / "tutorials" / "02-fused-softmax.py"
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "softmax.html"
        show = ["-m", "triton_spirv", "show", "softmax_rows", "--html", str(page)]
        for arguments in ([str(tutorial), "--quick"], show):
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        text = page.read_text(encoding="utf-8").replace(f"{ROOT}/", "")
        found = find_spec("triton")
        assert found is not None and found.origin
        page.write_text(text.replace(f"{Path(found.origin).parents[1]}/", ""), encoding="utf-8")
        subprocess.run([browser, *BROWSER, f"--user-data-dir={place}/browser", "--window-size=1400,700",
                        f"--screenshot={folder / 'viewer.png'}", page.as_uri()], check=True,
                       stderr=subprocess.DEVNULL)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--viewer", action="store_true", help="also the HTML page of a kernel")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pictures go")
    options = parser.parse_args()
    for name in PICTURES:
        draw(name, options.folder)
    if options.viewer:
        viewer(options.folder)


if __name__ == "__main__":
    main()
