"""Imports what a process imports until it has launched a kernel, and hashes Triton's files (prepared.py).
What scripts draw is drawn from the tests' seed, where torch would take another for each process."""

import importlib.util
import os
import tempfile
from unittest import mock

import triton.compiler.code_generator
import triton.experimental.gluon
import triton.language.extra.libdevice  # noqa: F401
import triton_spirv.compiler
import triton_spirv.runtime.checking
import triton_spirv.runtime.launch
import triton_spirv.runtime.program  # noqa: F401
import triton_spirv_backend.autotuning
import triton_spirv_backend.float8
import triton_spirv_backend.launcher
import triton_spirv_backend.libdevice
import triton_spirv_backend.stages  # noqa: F401
from seed import SEED
from triton.runtime import cache
from triton_spirv_backend import installation_key

with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, TRITON_CACHE_DIR=folder):
    installation_key.keep()
    cache.triton_key()
if importlib.util.find_spec("torch"):  # other versions of Triton are tested without
    import torch

    torch.manual_seed(SEED)
