"""Everything that the stock front end and its passes print is read, printed, and read again; MLIR agrees."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

from ir import corpus
from ir.signature import check_uses, signature
from triton._C.libtriton import ir as mlir
from triton.compiler import make_backend
from triton_spirv.ir import parse
from triton_spirv.ir.dialects import OPERATIONS
from triton_spirv.ir.printer import print_module

# Operations of the tt dialect that no kernel of the corpus prints, and why.
NOT_PRINTED = {
    "tt.approx_divf",  # made by a pass of another target
    "tt.make_tensor_ptr", "tt.advance",  # gone since Triton 3.8
    "tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents",  # a CUDA target's
}  # fmt: skip


@pytest.mark.parametrize("name", corpus.KERNELS)
def test_read_print_read(name):
    for stage, text in corpus.texts(name).items():
        module = parse(text, f"{name}.{stage}")
        check_uses(module)
        expected = signature(module)
        for generic in (False, True):
            again = parse(print_module(module, generic), f"{name}.{stage} printed")
            assert signature(again) == expected, (stage, generic)


@pytest.mark.parametrize("name", corpus.KERNELS)
def test_mlir_reads_what_we_print(name, tmp_path):
    """MLIR's text of our text says what MLIR's first text said."""
    context = corpus.context_for(make_backend(corpus.TARGET))
    for stage, text in corpus.texts(name).items():
        path = tmp_path / stage
        module = parse(text)
        path.write_text(print_module(module))
        assert signature(parse(str(mlir.parse_mlir_module(str(path), context)))) == signature(module), stage


@pytest.mark.parametrize("name", ["matmul", "dots", "loops", "descriptors"])
def test_shared_memory_and_asynchronous_copies(name):
    module = parse(corpus.pipelined(name))
    assert signature(parse(print_module(module))) == signature(module)


def test_the_corpus_has_every_operation_of_tt():
    seen = set()
    for name in corpus.KERNELS:
        for text in corpus.texts(name).values():
            seen |= {op.name for op in parse(text).walk()}
    assert {name for name in OPERATIONS if name.startswith("tt.")} - seen == NOT_PRINTED


def test_operands_by_name():
    module = parse(corpus.texts("matmul")["ttir"])
    found = {op.name: op for op in module.walk()}
    loop, load, store, dot = (found[name] for name in ("scf.for", "tt.load", "tt.store", "tt.dot"))
    assert len(loop.init) == 3 and loop.step.defining_op.attributes["value"] == 1
    assert load.mask.type.shape == load.ptr.type.shape and load.other.type == load.result.type
    assert store.value is loop.results[2] and store.value.name.endswith("#2")
    assert dot.c.defining_op is None and dot.attributes["inputPrecision"] == "tf32"
    assert load.location.name == "v" and load.location.file.endswith("corpus.py")


def test_locations_of_inlined_functions():
    """tl.max is written in Triton's library and called from the kernel."""
    module = parse(corpus.texts("softmax")["ttir"])
    reduce = next(op for op in module.walk() if op.name == "tt.reduce")
    assert reduce.location.file.endswith("standard.py")
    assert [caller.file.rsplit("/", 1)[-1] for caller in reduce.location.callers] == ["corpus.py"]
