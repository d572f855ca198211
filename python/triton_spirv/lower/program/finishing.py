"""What is done to a kernel's instructions when they are complete: the passes of spirv/passes, for a target.

Here each pass gets what it must know besides the function: which accesses meet, what all lanes have the same
of, how large registers are. """

from __future__ import annotations

from ...spirv.passes.convergence import LANE, WARP, check_convergence
from ...spirv.passes.definite_assignment import require_definite
from ...spirv.passes.graph import Graph
from ...spirv.passes.pipeline import Pass, run_passes
from ...spirv.passes.register_pressure import lessen_pressure
from ..context import Context


class Finishing:
    """The passes of one kernel. live_bytes: of a thread's registers, at once, at most; 0 where the target
    does not say how many there are. assumes_disjoint: see `SharedMemory.finish`."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.live_bytes = 0
        self.verified = False
        self.assumes_disjoint = False

    def run(self, verified: bool = False, printed: frozenset[str] = frozenset()) -> None:
        """All of them, over the module's last function."""
        self.verified = verified
        module = self.ctx.b.module
        kernel = module.functions[-1]
        run_passes(module, kernel, self.passes(), verified, printed)
        if self.ctx.shared.races is not None:
            self.ctx.shared.races.count_barriers(Graph(module, kernel))

    def passes(self) -> tuple[Pass, ...]:
        """In order: those that every environment has, then the environment's own."""
        target = self.ctx.target
        return (Pass("definite-assignment", self._definite),
                Pass("needed-barriers", self._barriers),
                Pass("register-pressure", self._pressure,
                     target.register_bytes > 0 and target.optimises("register-order")),
                Pass("convergence", self._convergence, target.lanes),
                *self.ctx.env.passes())

    def _definite(self, graph: Graph) -> None:
        require_definite(graph, self.ctx.b.module)

    def _barriers(self, graph: Graph) -> None:
        self.assumes_disjoint = self.ctx.shared.finish(graph, self.verified)

    def _pressure(self, graph: Graph) -> None:
        ctx, target = self.ctx, self.ctx.target
        large = target.grf_mode(ctx.launch.register_bytes, ctx.kernel.num_warps) == "256"
        self.live_bytes = lessen_pressure(graph, target.sub_group_size, target.register_bytes,
                                          ctx.b.module.new_id, large)

    def _convergence(self, graph: Graph) -> None:
        ctx = self.ctx
        levels = ((ctx.env.lane_id(), LANE), (ctx.env.warp_id(), WARP))
        numbers = {number.id: level for number, level in levels if number.constant is None}
        check_convergence(graph, ctx.convergence.scalars, numbers, ctx.b.module.integers())
