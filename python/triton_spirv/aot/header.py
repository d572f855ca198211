"""The C header of a kernel: for each target the entry, how arguments are passed, the local size."""

from __future__ import annotations

import keyword
import re
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bundle import Variant

#: type of a parameter -> how C holds it. 16-bit floats travel as their bits.
C_TYPES = {"ptr": "uint64_t", "i1": "uint8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t",
           "i64": "int64_t", "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double"}

#: C's words beside those that Python reserves too
C_WORDS = frozenset("auto case char const default do double enum extern float goto inline int long register "
                    "restrict short signed sizeof static struct switch typedef union unsigned void "
                    "volatile".split())


def header(stem: str, variants: Sequence[Variant]) -> str:
    """The text of STEM.h."""
    guard = f"TRITON_SPIRV_{identifier(stem).upper()}_H"
    first = variants[0]
    lines = [f"/* {first.kernel}({first.signature})", " *", " * Compiled ahead of time by triton-spirv.",
             " * The global size of a launch is the grid (programs in x, y, z) times the local size.", " */",
             f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>", "#include <stdint.h>"]
    for variant in variants:
        lines += ["", *_target(variant)]
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _target(variant: Variant) -> Iterator[str]:
    artifact = variant.artifact
    name = identifier(f"{variant.stem}_{variant.target}")
    upper = name.upper()
    yield f"/* ---- target {variant.target} */"
    yield f'#define {upper}_ENTRY "{artifact.entry}"'
    yield f'#define {upper}_SPV "{variant.spv_file}"'
    if variant.native:
        yield f'#define {upper}_NATIVE "{variant.native_file}"'
    yield f"#define {upper}_SHARED_BYTES {artifact.shared_bytes}"
    yield f"#define {upper}_SUB_GROUP_SIZE {artifact.sub_group_size}"
    x, y, z = artifact.local_size
    yield f"static const size_t {name}_local_size[3] = {{{x}, {y}, {z}}};"
    yield from _struct(variant, name) if artifact.passing == "struct" else _list(variant, name)


def _parameters(variant: Variant) -> Iterator[tuple[str, str, str]]:
    """(name, type, what it is) of all parameters, the hidden ones too."""
    artifact = variant.artifact
    written = artifact.written or (True,) * len(artifact.parameters)
    for parameter, writes in zip(artifact.parameters, written, strict=True):
        kind = variant.signature.types.get(parameter.name, "")
        note = f"{kind}, {'written' if writes else 'only read'}" if parameter.type == "ptr" else kind
        if parameter.name in variant.signature.divisible:
            note += ", divisible by 16"
        yield parameter.name, parameter.type, note or parameter.type
    for name in artifact.hidden:
        note = "address of a 32-bit word, 0 before the launch"
        if name == "assert_buffer":
            note = ("address of five 32-bit words, 0 before the launch; if assertion n failed then n, the "
                    "program's x, y, z, and the element's number in row-major order")
        if name == "overflow_buffer":
            note = f"address of {artifact.overflow_bytes} bytes for each program, of any contents"
        yield name, "ptr", note


def _struct(variant: Variant, name: str) -> Iterator[str]:
    """All in one by-value struct: clSetKernelArg(kernel, 0, sizeof, &arguments). Pointers are addresses."""
    rows = list(_parameters(variant))
    if not rows:
        yield "/* no arguments */"
        return
    size = struct.calcsize(variant.artifact.struct_format)
    yield "/* One argument: clSetKernelArg(kernel, 0, sizeof(struct), &it). Pointers are addresses that the"
    yield " * device can follow: of host memory with CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, else of SVM or USM."
    yield " */"
    yield f"struct {name}_arguments {{"
    for parameter, kind, note in rows:
        yield f"    {C_TYPES[kind]} {identifier(parameter)}; /* {note} */"
    yield "};"
    yield "#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L"
    yield f'_Static_assert(sizeof(struct {name}_arguments) == {size}, "argument layout");'
    yield "#endif"


def _list(variant: Variant, name: str) -> Iterator[str]:
    """One argument each."""
    yield "/* arguments one by one; pointers are cl_mem objects, or addresses by clSetKernelArgSVMPointer */"
    for index, (parameter, kind, note) in enumerate(_parameters(variant)):
        held = "pointer" if kind == "ptr" else C_TYPES[kind]
        yield f"#define {name.upper()}_ARG_{identifier(parameter).upper()} {index} /* {held}: {note} */"


def identifier(text: str) -> str:
    """A text as a C identifier."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    if name[:1].isdigit():
        return f"_{name}"
    return f"{name}_" if name in C_WORDS or keyword.iskeyword(name) else name
