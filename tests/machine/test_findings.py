"""Every kind of finding is provoked by a module written by hand, and gone when the mistake is."""

from __future__ import annotations

import numpy as np
import pytest

import machine
from machine.modules import opencl

#: name -> (kind, warps, body, what makes it right: text to replace, with what)
MISTAKES: dict[str, tuple[str, int, str, str, str]] = {
    "shared memory between warps": ("data-race", 2, """
%to = OpAccessChain %p_shared %shared %item
OpStore %to %item Aligned 4
OpControlBarrier %workgroup %workgroup %relaxed
%other = OpBitwiseXor %i32 %item %c15
%from = OpAccessChain %p_shared %shared %other
%x = OpLoad %i32 %from Aligned 4
%out = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %out %x Aligned 4
""", "%workgroup %relaxed", "%workgroup %on_shared"),
    "shared memory within a warp": ("data-race", 1, """
%to = OpAccessChain %p_shared %shared %item
OpStore %to %item Aligned 4
%other = OpBitwiseXor %i32 %item %c1
%from = OpAccessChain %p_shared %shared %other
%x = OpLoad %i32 %from Aligned 4
%out = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %out %x Aligned 4
""", "%other = Op", "OpControlBarrier %subgroup %subgroup %on_shared\n%other = Op"),
    "written while others read": ("data-race", 2, """
%to = OpAccessChain %p_shared %shared %item
OpStore %to %item Aligned 4
OpControlBarrier %workgroup %workgroup %on_shared
%other = OpBitwiseXor %i32 %item %c15
%from = OpAccessChain %p_shared %shared %other
%x = OpLoad %i32 %from Aligned 4
OpStore %to %x Aligned 4
""", "OpStore %to %x", "OpControlBarrier %workgroup %workgroup %on_shared\nOpStore %to %x"),
    "global memory behind a barrier for shared memory": ("data-race", 2, """
%to = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %to %item Aligned 4
OpControlBarrier %workgroup %workgroup %on_shared
%other = OpBitwiseXor %i32 %item %c15
%from = OpInBoundsPtrAccessChain %p_global %a0 %other
%x = OpLoad %i32 %from Aligned 4
OpControlBarrier %workgroup %workgroup %on_both
OpStore %to %x Aligned 4
""", "%workgroup %on_shared", "%workgroup %on_global"),
    "an atomic operation and a load": ("data-race", 2, """
%at = OpBitwiseAnd %i32 %item %c3
%to = OpInBoundsPtrAccessChain %p_global %a0 %at
%old = OpAtomicIAdd %i32 %to %device %on_global %c1
%x = OpLoad %i32 %to Aligned 4
%place = OpIAdd %i32 %item %c16
%out = OpInBoundsPtrAccessChain %p_global %a0 %place
OpStore %out %x Aligned 4
""", "%x = Op", "OpControlBarrier %workgroup %workgroup %on_both\n%x = Op"),
    "values of one store": ("conflicting-store", 1, """
%to = OpInBoundsPtrAccessChain %p_global %a0 %c5
OpStore %to %item Aligned 4
""", "%item Aligned", "%c7 Aligned"),
    "a barrier that some lanes reach": ("divergent-barrier", 1, """
%few = OpULessThan %bool %lane %c3
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
OpControlBarrier %workgroup %workgroup %on_both
OpBranch %behind
%behind = OpLabel
""", "%lane %c3", "%lane %c8"),
    "two barriers": ("different-barriers", 2, """
%few = OpULessThan %bool %warp %c1
OpSelectionMerge %behind None
OpBranchConditional %few %then %else
%then = OpLabel
OpControlBarrier %workgroup %workgroup %on_both
OpBranch %behind
%else = OpLabel
OpControlBarrier %workgroup %workgroup %on_both
OpBranch %behind
%behind = OpLabel
""", "%warp %c1", "%warp %c2"),
    "a warp that has ended": ("missed-barrier", 2, """
%few = OpULessThan %bool %warp %c1
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
OpControlBarrier %workgroup %workgroup %on_both
OpBranch %behind
%behind = OpLabel
""", "%warp %c1", "%warp %c2"),
    "a reduction of some lanes": ("partial-sub-group", 1, """
%few = OpULessThan %bool %lane %c3
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
%sum = OpGroupNonUniformIAdd %i32 %subgroup Reduce %lane
OpBranch %behind
%behind = OpLabel
""", "%lane %c3", "%lane %c8"),
    "a shuffle from who is not here": ("inactive-lane", 1, """
%few = OpULessThan %bool %lane %c3
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
%x = OpGroupNonUniformShuffleXor %i32 %subgroup %lane %c1
OpBranch %behind
%behind = OpLabel
""", "%lane %c3", "%lane %c2"),
    "behind an argument": ("out-of-bounds", 1, """
%at = OpIMul %i32 %item %c16
%to = OpInBoundsPtrAccessChain %p_global %a0 %at
OpStore %to %item Aligned 4
""", "%item %c16", "%item %c2"),
    "before an argument": ("out-of-bounds", 1, """
%at = OpISub %i32 %item %c1
%to = OpInBoundsPtrAccessChain %p_global %a0 %at
OpStore %to %item Aligned 4
""", "OpISub", "OpIAdd"),
    "behind shared memory": ("out-of-bounds", 1, """
%at = OpIAdd %i32 %item %c63
%to = OpAccessChain %p_shared %shared %at
OpStore %to %item Aligned 4
""", "%item %c63", "%item %c31"),
    "behind a private array": ("out-of-bounds", 1, """
%to = OpAccessChain %p_private %held %item
OpStore %to %item Aligned 4
""", "%held %item", "%held %c3"),
    "half a vector": ("misaligned", 1, """
%at = OpIMul %i32 %item %c3
%one = OpInBoundsPtrAccessChain %p_global %a0 %at
%to = OpBitcast %p_global2 %one
%x = OpCompositeConstruct %v2 %item %item
OpStore %to %x Aligned 8
""", "Aligned 8", "Aligned 4"),
    "more than the variable is": ("misaligned", 1, """
%one = OpAccessChain %p_private %held %c0
OpStore %one %item Aligned 8
""", "Aligned 8", "Aligned 4"),
    "a private array that nobody wrote": ("uninitialised", 1, """
%from = OpAccessChain %p_private %held %c2
%x = OpLoad %i32 %from Aligned 4
%y = OpIAdd %i32 %x %c5
%to = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %to %y Aligned 4
""", "%x = Op", "OpStore %from %item Aligned 4\n%x = Op"),
    "an address from shared memory that nobody wrote": ("uninitialised", 1, """
%from = OpAccessChain %p_shared %shared %item
%x = OpLoad %i32 %from Aligned 4
%at = OpBitwiseAnd %i32 %x %c7
%to = OpInBoundsPtrAccessChain %p_global %a0 %at
OpStore %to %c5 Aligned 4
""", "%x = Op", "OpStore %from %item Aligned 4\n%x = Op"),
    "a branch on what nobody wrote": ("uninitialised", 1, """
%from = OpAccessChain %p_private %held %c2
%x = OpLoad %i32 %from Aligned 4
%few = OpULessThan %bool %x %c3
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
OpBranch %behind
%behind = OpLabel
""", "%x = Op", "OpStore %from %item Aligned 4\n%x = Op"),
    "a shift too far": ("undefined", 1, """
%by = OpIAdd %i32 %item %c31
%x = OpShiftLeftLogical %i32 %item %by
%to = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %to %x Aligned 4
""", "%item %c31", "%item %c16"),
    "a division by zero": ("undefined", 1, """
%x = OpUDiv %i32 %c100 %item
%to = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %to %x Aligned 4
""", "%c100 %item", "%item %c100"),
    "the end of what cannot be": ("unreachable", 1, """
%few = OpULessThan %bool %lane %c3
OpSelectionMerge %behind None
OpBranchConditional %few %then %behind
%then = OpLabel
OpUnreachable
%behind = OpLabel
""", "OpUnreachable", "OpBranch %behind"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_kind(name: str) -> None:
    kind, warps, body, wrong, right = MISTAKES[name]
    out = np.zeros(64, np.int32)
    found = machine.run(opencl(body, warps=warps), 1, [out])
    assert found.kinds == {kind}, found
    item = found.errors[0]
    assert item.line > 0 and item.instruction
    assert wrong in body
    assert not machine.run(opencl(body.replace(wrong, right, 1), warps=warps), 1, [out])


def test_undefined_that_is_not_used() -> None:
    """What a selection leaves out may be anything; so may a product with zero."""
    out = np.full(64, 9, np.int32)
    found = machine.run(opencl("""
%x = OpUDiv %i32 %c100 %item
%zero = OpIEqual %bool %item %c0
%y = OpSelect %i32 %zero %c5 %x
%to = OpInBoundsPtrAccessChain %p_global %a0 %item
OpStore %to %y Aligned 4
"""), 1, [out])
    assert not found, found
    assert out[:9].tolist() == [5, 100, 50, 33, 25, 20, 16, 14, 9]


def test_counting_from_what_nobody_wrote() -> None:
    """is no mistake as long as nobody looks at the count."""
    body = """
%at = OpAccessChain %p_shared %shared %c5
%old = OpAtomicIAdd %i32 %at %workgroup %relaxed %c1
"""
    out = np.zeros(64, np.int32)
    assert not machine.run(opencl(body), 1, [out])
    look = body + """
OpControlBarrier %workgroup %workgroup %on_shared
%x = OpLoad %i32 %at Aligned 4
OpStore %a0 %x Aligned 4
"""
    assert machine.run(opencl(look), 1, [out]).kinds == {"uninitialised"}


WAITING = """
%sender = OpIEqual %bool %group %c0
OpSelectionMerge %end None
OpBranchConditional %sender %send %receive
%send = OpLabel
%to = OpInBoundsPtrAccessChain %p_global %a1 %item
OpStore %to %item Aligned 4
OpControlBarrier %workgroup %workgroup %on_both
%is_first = OpIEqual %bool %item %c0
OpSelectionMerge %sent None
OpBranchConditional %is_first %flag %sent
%flag = OpLabel
OpAtomicStore %a0 %device %release %c1
OpBranch %sent
%sent = OpLabel
OpBranch %end
%receive = OpLabel
%polls = OpIEqual %bool %item %c0
OpSelectionMerge %polled None
OpBranchConditional %polls %loop %polled
%loop = OpLabel
OpLoopMerge %seen %again None
OpBranch %look
%look = OpLabel
%x = OpAtomicLoad %i32 %a0 %device %relaxed
%is_set = OpIEqual %bool %x %c1
OpBranchConditional %is_set %seen %again
%again = OpLabel
OpBranch %loop
%seen = OpLabel
OpMemoryBarrier %device %acquire
OpBranch %polled
%polled = OpLabel
OpControlBarrier %workgroup %workgroup %on_both
%other = OpBitwiseXor %i32 %item %c15
%from = OpInBoundsPtrAccessChain %p_global %a1 %other
%y = OpLoad %i32 %from Aligned 4
%out = OpInBoundsPtrAccessChain %p_global %a2 %item
OpStore %out %y Aligned 4
OpBranch %end
%end = OpLabel
"""


@pytest.mark.parametrize("wrong, right", [
    ("%polled = OpLabel\nOpControlBarrier %workgroup %workgroup %on_both", "%polled = OpLabel"),
    ("OpMemoryBarrier %device %acquire\n", ""),
    ("%device %release %c1", "%device %relaxed %c1"),
    ("OpControlBarrier %workgroup %workgroup %on_both\n%is_first", "%is_first"),
], ids=("barrier behind the poll", "acquire", "release", "barrier before the release"))
def test_one_program_waits_for_another(wrong: str, right: str) -> None:
    """A flag by release and acquire, with barriers on both sides; each of the four is needed."""
    def launch(body: str) -> tuple[machine.Findings, np.ndarray]:
        out = np.zeros(16, np.int32)
        return machine.run(opencl(body, 3, warps=2), 2, [np.zeros(1, np.int32), np.zeros(16, np.int32),
                                                         out]), out
    found, out = launch(WAITING)
    assert not found, found
    assert out.tolist() == list(range(15, -1, -1))
    assert wrong in WAITING
    found, _ = launch(WAITING.replace(wrong, right, 1))
    assert found.kinds == {"race-of-programs"}, found
