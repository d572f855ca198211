"""A machine that executes the SPIR-V which the compiler emits, without any device, and watches it.

    findings = machine.run(artifact, grid, [x, y, n])     # arrays of numpy's are changed in place
    assert not findings, findings

It executes programs (work-groups) of warps (sub-groups) of lanes, several orders of warps one after the
other, and reports what a device would only sometimes show: races, by vector clocks; barriers and sub-group
operations that not all lanes reach; accesses out of bounds; what nobody wrote. findings.py lists all kinds.

program.py     a module as blocks of steps
steps.py, arithmetic.py, extended.py, memory_steps.py, subgroups.py, block_messages.py, cooperative.py,
imported.py    what instructions do
memory.py      bytes, bounds, what was written;  races.py: who touched them, and what is ordered
warp.py        a sub-group;  scheduler.py: a launch, and the orders of its warps
launch.py      arguments in, findings out;  hook.py: Triton's launches, for modes of the tests
mutate.py      are barriers missed when they are taken away?
"""

from .findings import Finding, Findings, MachineError, Unsupported
from .launch import run

__all__ = ["Finding", "Findings", "MachineError", "Unsupported", "run"]
