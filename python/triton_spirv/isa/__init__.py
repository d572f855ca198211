"""What a kernel became on an Intel GPU, instruction by instruction, without the GPU: registers, spills, the
mix of instructions, the loops.

    figures = statistics(words, "pvc", "matmul_kernel", num_warps=8)
    figures.hot.mix, figures.hot.matrix_share, figures.native.n_spills

ocloc compiles the module and writes the ISA as text beside it; `listing` reads that text, `mix` counts.
"""

from .listing import Instruction, Listing, read
from .mix import Mix, innermost_loops, measure
from .statistics import Statistics, statistics

__all__ = ["Instruction", "Listing", "Mix", "Statistics", "innermost_loops", "measure", "read", "statistics"]
