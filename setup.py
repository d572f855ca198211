"""Where the packages lie in the tree, how Triton and PyInstaller find them, and what the package's page says.
Everything else is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

PYTHON, PLUGIN = "python", "third_party/spirv/backend"
ROOT = Path(__file__).parent


def version() -> str:
    """The package's own, without importing it."""
    text = (ROOT / PYTHON / "triton_spirv" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.M).group(1)


def description() -> str:
    """README.md for the package's page, which has none of the files that it links: their links lead to the
    project's public address, or are plain text where it has none."""
    readme, project = ROOT / "README.md", ROOT / "pyproject.toml"
    if not readme.exists():
        return ""
    public = re.search(r'^Repository = "(.+)"$', project.read_text(encoding="utf-8"), re.M)
    linked = rf"[\1]({public.group(1).rstrip('/')}/blob/v{version()}/\2)" if public else r"\1"
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)", linked, readme.read_text(encoding="utf-8"))


setup(
    version=version(),
    packages=[*find_packages(PYTHON), "triton_spirv_backend", "triton_spirv_backend.selftest"],
    package_dir={"": PYTHON, "triton_spirv_backend": PLUGIN},
    package_data={"triton_spirv": ["py.typed"], "triton_spirv_backend": ["name.conf", "py.typed"]},
    # Triton imports <value>.compiler and <value>.driver of every entry point of this group
    entry_points={"triton.backends": ["spirv = triton_spirv_backend"],
                  "pyinstaller40": ["hook-dirs = triton_spirv._pyinstaller:hook_dirs"],
                  "console_scripts": ["triton-spirv = triton_spirv.cli.main:main"]},
    long_description=description(),
    long_description_content_type="text/markdown",
)
