"""A pytest plugin: xFormers' product of tiles, which it has for CUDA's tensors only, takes the CPU's, too."""

from __future__ import annotations


def pytest_collection_modifyitems() -> None:
    """The tests are loaded, and with them xFormers."""
    from xformers.ops.tiled_matmul import tiled_matmul_fwd

    tiled_matmul_fwd.register_kernel("cpu")(tiled_matmul_fwd._init_fn)
