"""Where the two packages lie in the tree, and how Triton finds the plugin. Everything else is in
pyproject.toml."""

from pathlib import Path

from setuptools import find_packages, setup

PYTHON, PLUGIN = "python", "third_party/spirv/backend"

README = Path(__file__).parent / "README.md"

setup(
    packages=[*find_packages(PYTHON), "triton_spirv_backend"],
    package_dir={"": PYTHON, "triton_spirv_backend": PLUGIN},
    package_data={"triton_spirv_backend": ["name.conf"]},
    # Triton imports <value>.compiler and <value>.driver of every entry point of this group
    entry_points={"triton.backends": ["spirv = triton_spirv_backend"],
                  "console_scripts": ["triton-spirv = triton_spirv.cli.main:main"]},
    long_description=README.read_text(encoding="utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
)
