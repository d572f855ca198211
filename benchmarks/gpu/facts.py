"""What Vulkan reports of the chosen device, and the target that follows: printed, and kept in
$OUT/device.json."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from triton_spirv.runtime.vulkan import devices
from triton_spirv.runtime.vulkan.target import target_of


def plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, (frozenset, set)):
        return sorted(str(entry) for entry in value)
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__
                if name not in ("instance", "handle")}
    return value


def main() -> None:
    for device in devices.devices():
        print(device)
    chosen = devices.choose(os.environ.get("TRITON_SPIRV_DEVICE", "vulkan"))
    print(f"chosen: {chosen.target_name}: sub-groups {chosen.subgroup_sizes}, by itself "
          f"{chosen.subgroup_size}, shared {chosen.shared_bytes}, push {chosen.push_bytes}, work-group "
          f"{chosen.max_invocations}, {chosen.compute_units} compute units, allocations up to "
          f"{chosen.max_allocation >> 20} MiB")
    print("capabilities:", " ".join(sorted(chosen.capabilities)))
    print("float controls:", " ".join(f"{mode}{bits}" for mode, bits in sorted(chosen.float_controls)))
    shapes = sorted({(m.a, m.b, m.c, m.result, m.m, m.n, m.k, m.scope) for m in chosen.matrices})
    print("matrices:", "; ".join(f"{a}x{b}+{c}->{r} {m}x{n}x{k} {scope}"
                                 for a, b, c, r, m, n, k, scope in shapes) or "none")
    print("memory types:", [(kind.index, bin(kind.flags), f"{kind.heap_bytes >> 20} MiB")
                            for kind in chosen.memory_types])
    report = {"device": plain(chosen), "target": plain(target_of(chosen))}
    Path(os.environ.get("OUT", "."), "device.json").write_text(json.dumps(report, indent=1, default=str))


if __name__ == "__main__":
    main()
