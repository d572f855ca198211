"""A target whose threads have few registers, so that nearly every kernel crowds them: its instructions are
ordered again (spirv/passes/register_pressure.py). The CPU device runs it (`--spirv-modes crowded`).
"""

from __future__ import annotations

from triton_spirv.target import CPU_SIMT, TARGETS

NAME = "crowded"

#: Ten registers of 16 lanes' 32 bits are crowded.
TARGET = CPU_SIMT.with_options(name=NAME, register_bytes=128 * 8)

TARGETS[NAME] = TARGET
