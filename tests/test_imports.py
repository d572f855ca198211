"""Who may import whom: the picture of docs/architecture.md, read off the sources."""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "triton_spirv"
PLUGIN = ROOT / "third_party" / "spirv" / "backend"
INDUCTOR = ROOT / "third_party" / "inductor" / "triton_spirv_inductor"

#: part of the package (a module or a folder of python/triton_spirv) -> the parts that it may import
ALLOWED: dict[str, set[str]] = {
    "dataclass": set(),
    "racing": set(),
    "errors": set(),
    "settings": {"errors"},
    "variables": {"settings"},
    "slow": {"settings"},
    "ir": {"errors", "deep_stack", "collection"},
    "spirv": {"errors"},
    "layout": {"errors"},
    "quirks": set(),
    "target": {"errors", "quirks"},
    "tools": {"errors"},
    "native": {"errors", "tools", "target", "settings"},
    "switch": {"errors"},
    "tensors": {"errors"},
    "arrays": {"errors", "tensors"},
    "placement": {"arrays", "runtime", "errors", "checking", "unwritten"},
    "check_layout": set(),
    "race_layout": set(),
    "assert_layout": set(),
    "panel_layout": set(),
    "check_reports": {"errors"},
    "unwritten": {"errors"},
    "checking": {"errors", "check_layout", "check_reports", "unwritten"},
    "artifact": {"target", "check_layout", "spirv"},
    "traversal": set(),
    "facts": {"ir", "traversal", "errors"},
    "matrices": {"ir", "layout", "target"},
    "inspection": {"errors"},
    "passes": {"ir", "layout", "facts", "matrices", "traversal", "target", "errors", "inspection",
               "check_layout", "race_layout"},
    "environment": {"spirv", "target", "errors"},
    "lower": {"ir", "spirv", "layout", "facts", "matrices", "traversal", "environment", "target", "errors",
              "check_layout", "race_layout", "panel_layout", "slow"},
    "recordings": set(),
    "thread_stack": set(),
    "deep_stack": {"thread_stack"},
    "collection": set(),
    "once": set(),
    "forks": set(),
    "compiler": {"artifact", "ir", "spirv", "layout", "facts", "environment", "target", "lower", "passes",
                 "errors", "check_layout", "recordings", "deep_stack", "inspection",
                 "collection"},
    "runtime": {"assert_layout", "check_layout", "race_layout", "panel_layout", "checking", "unwritten",
                "recordings", "standalone", "quirks", "target", "errors", "artifact", "arrays", "tensors",
                "native", "settings", "once", "thread_stack", "forks"},
    "plugin": {"errors"},
    "inductor": {"errors"},
    "torch_as_cuda": {"plugin"},
    "pytest": {"errors", "plugin", "torch_as_cuda", "checking"},
    "bound": {"plugin"},
    "graphs": {"checking", "errors", "plugin", "runtime"},
    "precompilation": {"errors", "plugin", "runtime", "workers", "progress"},
    "progress": set(),
    "standalone": set(),
    "workers": {"errors"},
    "isa": {"native", "runtime", "tools", "errors"},
    "aot": {"errors", "ir", "target", "artifact", "compiler", "plugin", "runtime", "native", "standalone",
            "workers", "progress", "__version__"},
}
#: what any part may import
FOR_ALL = {"dataclass"}
#: parts that bring everything together
OPEN = {"__init__", "__main__", "cli"}
#: what may be imported beside the standard library, and by which part; None: everywhere
OUTSIDE: dict[str, set[str] | None] = {
    "numpy": None, "pyopencl": {"runtime", "arrays", "standalone"}, "pytest": {"pytest"},
    "torch": {"torch_as_cuda", "unwritten", "graphs"},
}


def imports(path: Path, package: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """(absolute module name, is it imported when the module is) of each import in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If)
                 and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    lazy = {id(node) for part in (*functions, *for_types) for node in ast.walk(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) not in lazy
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module), id(node) not in lazy
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1]
            if node.module:
                yield ".".join((*base, node.module)), id(node) not in lazy
            else:
                for alias in node.names:
                    yield ".".join((*base, alias.name)), id(node) not in lazy


def sources() -> list[Path]:
    """All modules; a hook of PyInstaller's is a script that PyInstaller runs."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path.stem.isidentifier())


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_direction(path: Path) -> None:
    part = part_of(path)
    package = ("triton_spirv", *path.relative_to(PACKAGE).parts[:-1])
    for module, at_import in imports(path, package):
        top, _, rest = module.partition(".")
        if top == "triton_spirv":
            imported = rest.partition(".")[0]
            allowed = part in OPEN or imported in ALLOWED.get(part, set()) | FOR_ALL | {part, ""}
            assert allowed, f"{part} imports {module}"
            assert part in OPEN or part in ALLOWED, f"{part} has no place in the picture"
            continue
        assert top != "triton", "only third_party/spirv/backend imports triton"
        if top in sys.stdlib_module_names or top == "__future__":
            continue
        assert top in OUTSIDE, f"{module} is not in the standard library"
        where = OUTSIDE[top]
        assert where is None or (part in where and not at_import), f"{module} is for {where}, lazily"


@pytest.mark.parametrize("name", ["compiler.py", "driver.py"])
@pytest.mark.parametrize("plugin", [PLUGIN, INDUCTOR], ids=["spirv", "inductor"])
def test_plugin_is_light(plugin: Path, name: str) -> None:
    """What Triton imports at its own import takes nothing but the contract and the switch."""
    loaded = {module for module, at_import in imports(plugin / name, ("triton_spirv_backend",)) if at_import}
    ours = {module for module in loaded if module.partition(".")[0] not in sys.stdlib_module_names}
    ours -= {"triton_spirv_backend.options", "triton.backends.compiler", "triton.backends.driver"}
    if plugin == INDUCTOR:  # the same contract under another name
        ours -= {"triton_spirv_backend"}
    assert ours <= {"triton_spirv"}, ours


def test_package_imports_alone() -> None:
    """Everything but the runtime's devices is there without triton, pyopencl or a device."""
    script = """
import sys
sys.modules.update(triton=None, pyopencl=None, torch=None)
import triton_spirv
assert "numpy" not in sys.modules
import triton_spirv.compiler, triton_spirv.arrays, triton_spirv.runtime.launch, triton_spirv.runtime.devices
assert triton_spirv.zeros(4).numpy().sum() == 0
triton_spirv.compile
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if path.stem == "__init__" else parts)


@functools.cache
def import_graph() -> dict[str, set[str]]:
    """module of the package -> the modules of the package that it imports when it is imported."""
    modules = {_module(path): path for path in sources()}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        package = ("triton_spirv", *path.relative_to(PACKAGE).parts[:-1])
        imported = {module for module, at_import in imports(path, package) if at_import}
        graph[name] = {module for module in imported & modules.keys()
                       if not f"{name}.".startswith(f"{module}.")}
    return graph


def test_no_file_imports_in_a_circle() -> None:
    list(graphlib.TopologicalSorter(import_graph()).static_order())


@pytest.mark.parametrize("folder", sorted(
    _module(path) for path in PACKAGE.rglob("*") if any(path.glob("*/__init__.py"))))
def test_rooms_import_one_way(folder: str) -> None:
    """The folders inside a folder have an order in which each imports only from those before it."""
    depth = folder.count(".") + 1
    rooms = {module: ".".join(module.split(".")[:depth + 1]) for module in import_graph()
             if module.startswith(f"{folder}.") and module.count(".") > depth}
    graph: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for module, imported in import_graph().items():
        if module in rooms:
            graph[rooms[module]] |= {rooms[other] for other in imported if other in rooms} - {rooms[module]}
    list(graphlib.TopologicalSorter(graph).static_order())


#: where a compiler's object is put together of parts that import it
COMPOSES = {"lower/context.py"}


def test_no_circle_hides_in_a_function() -> None:
    """The compiler's files import at their beginning, where the tests above see it."""
    found = set()
    for path in sources():
        if part_of(path) in ("ir", "facts", "passes", "matrices", "lower", "environment", "spirv"):
            functions = (x for x in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                         if isinstance(x, ast.FunctionDef))
            if any(isinstance(x, ast.ImportFrom) and x.level for each in functions for x in ast.walk(each)):
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found == COMPOSES
