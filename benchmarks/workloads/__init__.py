"""The workloads of benchmarks/workloads.py's table, by family."""

from __future__ import annotations

from . import attention, elementwise, movement, products, rows
from .workload import Workload

FAMILIES = {"elementwise": elementwise.workloads, "rows": rows.workloads, "movement": movement.workloads,
            "products": products.workloads, "attention": attention.workloads}

__all__ = ["FAMILIES", "Workload"]
