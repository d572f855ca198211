"""`Context`: what a rule is given.

It has no methods: each of its parts is an object of one subject, and knows only those of the others that it
is made of. What parts need of rooms above them stands in `walk/above.py`.
"""

from __future__ import annotations

from functools import partial

from ..environment.base import Environment
from ..layout import Layout
from ..spirv.builder import Builder
from ..target import Target
from .addresses.transfers import Transfers
from .bindings import Bindings
from .budget import Budget
from .convergence import Convergence
from .kernel import Kernel
from .known_masks import KnownMasks
from .lanes.shared import SharedMemory
from .lanes.shared_tensors import SharedTensors
from .launch_contract import LaunchContract
from .layouts import Layouts
from .operations import Operations
from .plan.recorder import Recorder
from .prepared import Prepared
from .registry import named
from .values.tensor import Fragment, Shared
from .walk.above import Above
from .walk.arrays import Arrays
from .walk.evaluation import Evaluation
from .walk.indices import Indices
from .walk.later_uses import LaterUses
from .walk.open_walks import OpenWalks
from .walk.pending import Pending
from .walk.requests import CHEAP, Requests
from .walk.scopes import Scopes
from .walk.step_loop import StepLoop
from .walk.walks import Walks

__all__ = ["CHEAP", "Context", "StepLoop", "named"]


class Context:
    """What is compiled, and for what:

    b            builds instructions
    env          knows the environment
    target       the device
    kernel       with what the user asks of it
    budget       the time

    What holds at the code at hand:

    bindings     what values of the function are bound to
    scopes       what has been evaluated
    masks        that a test has shown to hold
    convergence  of lanes
    open_walks   walks around it, and what they keep
    indices      what step, lane and warp add to an index

    Tensors:

    layouts      under which they are held
    evaluation   their registers under a layout
    requests     what a walk over them asks for
    walks        loops over the steps of large ones
    pending      those that are computed before code that they may not move across
    later_uses   whether anything asks for one again
    arrays       private memory
    shared       memory that lanes share, and shared_tensors in it
    transfers    between them and global memory

    What the kernel as a whole comes to:

    operations   lowers them, one by one
    recorder     the plan, as far as it is carried out
    launch       what the launcher must know
    prepared     what was made before a loop
    """

    def __init__(self, b: Builder, env: Environment, target: Target, kernel: Kernel,
                 budget: Budget | None = None) -> None:
        self.b, self.env, self.target, self.kernel = b, env, target, kernel
        self.budget = budget or Budget()
        self.recorder = Recorder()
        self.launch = LaunchContract(b.module, env, target)
        self.prepared = Prepared()
        self.transfers = Transfers(env, target)
        self.convergence = Convergence()
        self.masks = KnownMasks()
        self.bindings = Bindings(self.convergence, self.recorder)
        self.layouts = Layouts(kernel, target)
        self.scopes = Scopes()
        self.indices = Indices(b, env)
        self.arrays = Arrays(b, env, target.vector_width, self.indices, self.scopes, self.recorder)
        self.shared = SharedMemory(b.module, env, target, kernel, self.layouts, self.launch, self.recorder)
        self.shared_tensors = SharedTensors(b, env, target, self.indices)
        self.open_walks = OpenWalks(self.arrays, self.scopes)
        self.later_uses = LaterUses(self.bindings)
        above = _above(self)
        self.requests = Requests(self.layouts, above)
        self.evaluation = Evaluation(b, env, self.budget, self.masks, self.scopes, self.indices, self.arrays,
                                     self.open_walks, self.requests, above)
        self.walks = Walks(b, target, self.layouts, self.recorder, self.indices, self.scopes, self.arrays,
                           self.open_walks, self.requests, self.later_uses, self.evaluation, above)
        self.pending = Pending(self.bindings, self.scopes, self.later_uses, self.walks)
        self.operations = _operations(self)


def _above(ctx: Context) -> Above:
    """Rooms that import this module are imported when a context is made."""
    from .addresses.access import addresses
    from .addresses.masks import guarded, is_provable
    from .addresses.runs import without_repeats
    from .memory.prefetch import fetch_kept
    from .tensors.convert_layout import convert
    return Above(ctx, without_repeats=partial(without_repeats, ctx, {}), is_provable=is_provable,
                 asks_for_all=ctx.transfers.asks_for_all, addresses=partial(addresses, ctx),
                 guarded=partial(guarded, ctx), converted=partial(convert, ctx),
                 from_shared=partial(_read_shared, ctx), fetch_kept=partial(fetch_kept, ctx))


def _operations(ctx: Context) -> Operations:
    from .intel.operand_blocks import resident
    from .memory.load import load_together
    return Operations(ctx, load_together, resident)


def _read_shared(ctx: Context, array: Shared, layout: Layout) -> Fragment:
    """What an array in shared memory holds, behind what may have to be waited for."""
    ctx.shared.reads(array)
    return ctx.shared_tensors.load(array, layout)
