"""The object file that Intel's CPU driver made of a module, and the functions in it."""

from __future__ import annotations

from ..errors import TritonSpirvError
from ..native import elf


def read(data: bytes) -> elf.File:
    """TritonSpirvError for anything but an ELF file."""
    try:
        return elf.read(data)
    except elf.NotReadable as error:
        raise TritonSpirvError(f"the driver's binary is {error}") from error


def object_file(binary: bytes) -> bytes:
    """The object file in the binary of Intel's CPU driver."""
    file = read(binary)
    found = file.section(".ocl.obj")
    if found is None:
        raise TritonSpirvError(f"the driver's binary has no object file in it, only "
                               f"{', '.join(filter(None, (each.name for each in file.sections)))}")
    return found.data


#: what the name of a kernel's program ends with, where that is a function (environment/opencl/programs.py)
PROGRAM = "__program"


def function(data: bytes, name: str) -> tuple[int, bytes]:
    """Of a function of an object file: where it begins in its section, and its bytes. Of a kernel those of
    its program, where that is a function of its own, which the kernel does nothing but call."""
    file = read(data)
    symbols = {symbol.name: symbol for symbol in file.symbols() if 0 < symbol.section < len(file.sections)}
    for symbol in (symbols.get(name + PROGRAM), symbols.get(name)):
        if symbol is not None:
            code = file.sections[symbol.section].data
            end = symbol.value + symbol.size if symbol.size else len(code)
            return symbol.value, code[symbol.value:end]
    raise TritonSpirvError(f"the driver's object file has no function {name}")
