"""Structured control flow: it validates in both worlds, and computes what the Python around it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spirv.building import I32, assert_valid, kernel, new_module
from spirv.interpreter import run
from triton_spirv.spirv import Bool, For, IfElse, Module, Value, While, if_, listing

# A program is a list of statements on two SSA values, a and b, and a variable in memory: see `execute`.
_simple = st.one_of(
    st.tuples(st.just("add"), st.sampled_from("ab"), st.sampled_from("ab"), st.integers(-3, 3)),
    st.tuples(st.just("store"), st.sampled_from("ab")),
    st.tuples(st.just("load"), st.sampled_from("ab")),
)
_limits = st.integers(-2, 4)


def _compound(programs: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.just("if"), _limits, programs),
        st.tuples(st.just("return if"), _limits),
        st.tuples(st.just("if else"), _limits, programs, programs),
        st.tuples(st.just("for"), _limits, _limits, st.integers(1, 2), st.booleans(), programs),
        st.tuples(st.just("while"), _limits, programs),
        st.just(("return",)),
    )


_programs = st.recursive(
    st.lists(_simple, max_size=2),
    lambda programs: st.lists(st.one_of(_simple, _compound(programs)), max_size=3),
    max_leaves=12)


class Returned(Exception):
    pass


def execute(program: list[Any], state: dict[str, int]) -> None:
    """What a program does, in Python."""
    for what, *arguments in program:
        if what == "add":
            target, source, number = arguments
            state[target] = _wrapped(state[target] + state[source] + number)
        elif what == "store":
            state["memory"] = state[arguments[0]]
        elif what == "load":
            state[arguments[0]] = state["memory"]
        elif what == "if" and state["a"] < arguments[0]:
            # Without else only memory can change: SSA values would need a phi.
            inner = dict(state)
            try:
                execute(arguments[1], inner)
            finally:
                state["memory"] = inner["memory"]
        elif what == "return" or (what == "return if" and state["a"] < arguments[0]):
            raise Returned
        elif what == "if else":
            execute(arguments[1] if state["a"] < arguments[0] else arguments[2], state)
        elif what == "for":
            lower, upper, step, inclusive, body = arguments
            for index in range(lower, upper + inclusive, step):
                state["b"] = _wrapped(state["b"] + index)
                execute(body, state)
        elif what == "while":
            count = 0
            while count < arguments[0]:
                count += 1
                execute(arguments[1], state)


def build(m: Module, program: list[Any], state: dict[str, Value]) -> None:
    """The same in SPIR-V; stops where a block has ended."""
    for what, *arguments in program:
        if m.terminated:
            return
        if what == "add":
            target, source, number = arguments
            total = m.emit("OpIAdd", state[target], state[source], type=I32)
            state[target] = m.emit("OpIAdd", total, m.constant(I32, number), type=I32)
        elif what == "store":
            m.emit("OpStore", state["memory"], state[arguments[0]])
        elif what == "load":
            state[arguments[0]] = m.emit("OpLoad", state["memory"], type=I32)
        elif what == "if":
            with if_(m, _below(m, state, arguments[0])):
                build(m, arguments[1], dict(state))
        elif what == "return":
            m.emit("OpReturn")
        elif what == "return if":
            with if_(m, _below(m, state, arguments[0])):
                m.emit("OpReturn")
        elif what == "if else":
            _build_if_else(m, state, *arguments)
        elif what == "for":
            _build_for(m, state, *arguments)
        elif what == "while":
            _build_while(m, state, *arguments)


def _build_if_else(m: Module, state: dict[str, Value], limit: int, then: list[Any],
                   otherwise: list[Any]) -> None:
    branch = IfElse(m, _below(m, state, limit))
    for arm, program in ((branch.then(), then), (branch.otherwise(), otherwise)):
        with arm:
            inner = dict(state)
            build(m, program, inner)
            branch.yield_([inner["a"], inner["b"]])
    if not m.terminated:
        state["a"], state["b"] = branch.results


def _build_for(m: Module, state: dict[str, Value], lower: int, upper: int, step: int, inclusive: bool,
               body: list[Any]) -> None:
    limits = [m.constant(I32, number) for number in (lower, upper, step)]
    loop = For(m, *limits, carried=[state["a"], state["b"]], inclusive=inclusive)
    with loop:
        inner = dict(state, a=loop.carried[0], b=m.emit("OpIAdd", loop.carried[1], loop.index, type=I32))
        build(m, body, inner)
        loop.yield_([inner["a"], inner["b"]])
    state["a"], state["b"] = loop.results


def _build_while(m: Module, state: dict[str, Value], limit: int, body: list[Any]) -> None:
    loop = While(m, [m.constant(I32, 0), state["a"], state["b"]])
    with loop.before():
        go_on = m.emit("OpSLessThan", loop.carried[0], m.constant(I32, limit), type=Bool())
        loop.condition(go_on, loop.carried)
    with loop.body():
        count = m.emit("OpIAdd", loop.arguments[0], m.constant(I32, 1), type=I32)
        inner = dict(state, a=loop.arguments[1], b=loop.arguments[2])
        build(m, body, inner)
        loop.yield_([count, inner["a"], inner["b"]])
    _, state["a"], state["b"] = loop.results


def _below(m: Module, state: dict[str, Value], limit: int) -> Value:
    return m.emit("OpSLessThan", state["a"], m.constant(I32, limit), type=Bool())


def _wrapped(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _module_of(program: list[Any], world: str) -> Module:
    m = new_module(world)
    results = {name: m.global_variable(I32, "Workgroup", name=name) for name in ("a", "b")}
    with kernel(m):
        state = {"a": m.constant(I32, 0), "b": m.constant(I32, 1),
                 "memory": m.variable(I32, m.constant(I32, 2))}
        m.name(state["memory"], "memory")
        build(m, program, state)
        if not m.terminated:
            for name, variable in results.items():
                m.emit("OpStore", variable, state[name])
    return m


@pytest.mark.parametrize("world", ["opencl", "vulkan"])
@settings(deadline=None, max_examples=60)
@given(_programs)
def test_nests_are_valid_and_compute_what_they_say(world: str, program: list[Any]) -> None:
    m = _module_of(program, world)
    assert_valid(m)
    state = {"a": 0, "b": 1, "memory": 2}
    try:
        execute(program, state)
    except Returned:
        state.update(a=None, b=None)
    assert run(m) == state
    assert listing(_module_of(program, world)) == listing(m)


def test_a_loop_that_does_not_run_gives_its_initial_values() -> None:
    m = _module_of([("for", 3, 3, 1, False, [("add", "a", "b", 1)])], "opencl")
    assert run(m) == {"a": 0, "b": 1, "memory": 2}


def test_unsigned_bounds() -> None:
    m = new_module()
    result = m.global_variable(I32, "Workgroup", name="rounds")
    with kernel(m):
        zero, one = m.constant(I32, 0), m.constant(I32, 1)
        lower, upper, step = (m.constant(I32, number) for number in (0xFFFFFFF0, -1, 5))
        loop = For(m, lower, upper, step, [zero], signed=False)
        with loop:
            loop.yield_([m.emit("OpIAdd", loop.carried[0], one, type=I32)])
        m.emit("OpStore", result, loop.results[0])
    assert_valid(m)
    assert run(m) == {"rounds": 3}


def test_a_value_that_both_ways_yield_needs_no_phi() -> None:
    m = new_module()
    with kernel(m, [Bool()]) as function:
        branch = IfElse(m, function.parameters[0])
        one = m.constant(I32, 1)
        with branch.then():
            branch.yield_([one])
        with branch.otherwise():
            branch.yield_([one])
        assert branch.results == [one]
    assert "OpPhi" not in listing(m)


def test_loop_control_is_written() -> None:
    m = new_module("vulkan")
    with kernel(m):
        zero, one = m.constant(I32, 0), m.constant(I32, 1)
        with For(m, zero, one, one, control="DontUnroll"):
            pass
        with For(m, zero, one, one, control=["Unroll", ("PartialCount", 4)]):
            pass
    assert_valid(m)
    assert "%continue DontUnroll" in listing(m)
    assert "%continue_1 Unroll|PartialCount 4" in listing(m)


def test_a_wrong_number_of_yielded_values_is_refused() -> None:
    m = new_module()
    m.function("f", I32, [Bool()])
    m.begin(m.label())
    zero = m.constant(I32, 0)
    with pytest.raises(ValueError, match="For: 1 values are carried, 0 are yielded"):
        with For(m, zero, zero, zero, [zero]):
            pass
    m = new_module()
    function = m.function("f", I32, [Bool()])
    m.begin(m.label())
    branch = IfElse(m, function.parameters[0])
    with branch.then():
        branch.yield_([zero])
    with pytest.raises(ValueError, match="IfElse: the two ways yield 1 and 0 values"):
        with branch.otherwise():
            pass


def test_before_needs_a_condition() -> None:
    m = new_module()
    m.function("f", I32, [])
    m.begin(m.label())
    with pytest.raises(ValueError, match="condition"):
        with While(m).before():
            pass


def test_an_error_inside_is_not_covered_up() -> None:
    m = new_module()
    m.function("f", I32, [])
    m.begin(m.label())
    zero = m.constant(I32, 0)
    with pytest.raises(KeyError, match="mine"):
        with For(m, zero, zero, zero, [zero]):
            raise KeyError("mine")


def test_a_value_of_one_way_is_refused_behind_it() -> None:
    m = new_module()
    with kernel(m, [Bool(), I32]) as function:
        condition, number = function.parameters
        with if_(m, condition):
            inside = m.emit("OpIAdd", number, number, type=I32)
            with if_(m, condition):
                m.emit("OpIAdd", inside, number, type=I32)
        with pytest.raises(ValueError, match=r"OpISub: its operand %\d+ = OpIAdd is made on one way only"):
            m.emit("OpISub", inside, number, type=I32)
        branch = IfElse(m, condition)
        with branch.then():
            first = m.emit("OpIAdd", number, number, type=I32)
            branch.yield_([first])
        with branch.otherwise():
            with pytest.raises(ValueError, match="one way only"):
                m.emit("OpISub", first, number, type=I32)
            branch.yield_([m.emit("OpISub", number, m.constant(I32, 7), type=I32)])
        m.emit("OpISub", branch.results[0], m.constant(I32, 7), type=I32)
        with For(m, *[m.constant(I32, n) for n in (0, 3, 1)]) as loop:
            inside = m.emit("OpIAdd", loop.index, number, type=I32)
        m.emit("OpISub", loop.index, number, type=I32)
        with pytest.raises(ValueError, match="one way only"):
            m.emit("OpStore", m.variable(I32), inside)
    assert_valid(m)


@pytest.mark.parametrize("ending", ["then", "otherwise"])
def test_a_value_of_the_only_way_may_be_used_behind_it(ending: str) -> None:
    m = new_module()
    with kernel(m, [Bool(), I32]) as function:
        condition, number = function.parameters
        branch = IfElse(m, condition)
        made = {}
        for name, arm in (("then", branch.then()), ("otherwise", branch.otherwise())):
            with arm:
                if name == ending:
                    m.emit("OpReturn")
                else:
                    made[name] = m.emit("OpIAdd", number, number, type=I32)
        m.emit("OpISub", *made.values(), number, type=I32)
    assert_valid(m)
