"""The machine code of a launch in the calling thread, as a function of Python's: it calls the kernel's
programs (program_code.py), or asks the driver to.

Two calls through ctypes, with thirteen arguments between them, take as long as the driver does for a small
kernel, and asking a clock twice takes a tenth of that. This code does the same. As Python sees it, it is a
function of one argument: the bytes that clSetKernelArg copies; `sized` finds the three global sizes, of 64
bits each, before them. `direct` is a function of addresses and integers, and makes these bytes itself; it is
for one thread. What is the same for all launches of a kernel in a thread stands in a block of words, which is
the function's own `self`:

    +0    address of the thread's word in the table of running_kernels.py; +8 of the kernel's text
    +16   clSetKernelArg; +24 clEnqueueNDRangeKernel
    +32   the kernel; +40 bytes of its struct; +48 the queue; +56 the address of the local sizes
    +64   the nanoseconds that a launch may take; +72 the lowest address of memory
    +80   PyEval_SaveThread; +88 PyEval_RestoreThread; +96 PyLong_FromLong; +104 clock_gettime
    +112  address of the gate, a word: 0, or the address of the word of the thread that is about to fork: no
          other thread begins a launch
    +120  the three global sizes
    +144  the thread of `direct`, as it stands at fs:0; +152 where in the block its arguments are told, +160
          where its bytes are
    +168  PyLong_AsUnsignedLongLong; +176 PyLong_AsLongLong; +184 PyErr_Occurred; +192 PyErr_Clear
    +200  0, or where in the block the team is told that shares the launch (team_code.py)
    +208  the address of a program's function, which is called instead of the driver (program_code.py), or 0
    +216  how many pointers there are; behind it a word for each: where it is in the struct, and, from bit 32
          on, the bits that it must not have
          of `direct`, how many arguments there are; behind it a word for each: where it is among the bytes,
          and, in bits 32 and 33, what it is (ADDRESS, LONG, INT); a word with bit 63
          the bytes of `direct`: the three global sizes, the struct

It gives back 0, an error code of the driver, which is below 0, MISFIT where a pointer is not as it must be,
and nothing was launched, or the nanoseconds where the launch took more than it may. Nor does `direct` launch
what does not fit its type, NUMBER, or in another thread, ELSEWHERE. It launches without the interpreter's
lock, writes to nothing but the thread's word and the bytes of `direct`, and Python runs no code of this
thread meanwhile.
The gate is read and the word written before that lock is given up: who has shut the gate and finds no
kernel, as a fork does, knows that no thread is inside of the driver. A launch at a gate that is shut looks
again every millisecond.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence

from ..dataclass import dataclass
from ..once import Once
from . import machine_code, program_code, team_code

#: what it gives back where a pointer is below the lowest address, or not aligned
MISFIT = 1
#: `direct`: an argument does not fit its type; this is not the function's thread
NUMBER, ELSEWHERE = 2, 3
#: arguments of `direct`: 64 bits without a sign; with one; 32 bits with one
ADDRESS, LONG, INT = 0, 1, 3
#: behind the last argument
END = 1 << 63
#: where the contents of CPython's `bytes` begin, from the object's address
CONTENTS = 0x20
#: a function of `self` and one argument, as Python's headers call it
METH_O = 0x0008
#: of `self`, an array of arguments, and how many there are
METH_FASTCALL = 0x0080

LISTING = f"""
direct:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4155                  push r13
    4883ec38              sub rsp, 0x38
    488d5f20              lea rbx, [rdi + 0x20]
    bf03000000            mov edi, 3
    64488b042500000000    mov rax, qword ptr fs:[0]
    483b8390000000        cmp rax, qword ptr [rbx + 0x90]
    0f85df010000          jne answer
    4989f5                mov r13, rsi
    4c8ba398000000        mov r12, qword ptr [rbx + 0x98]
    4901dc                add r12, rbx
    488baba0000000        mov rbp, qword ptr [rbx + 0xa0]
    4801dd                add rbp, rbx
    bf02000000            mov edi, 2
    493b1424              cmp rdx, qword ptr [r12]
    0f85b9010000          jne answer
next:
    4983c408              add r12, 8
    498b0424              mov rax, qword ptr [r12]
    4885c0                test rax, rax
    7872                  js ready
    498b7d00              mov rdi, qword ptr [r13]
    4983c508              add r13, 8
    480fbae020            bt rax, 0x20
    7208                  jb number
    ff93a8000000          call qword ptr [rbx + 0xa8]
    eb06                  jmp made
number:
    ff93b0000000          call qword ptr [rbx + 0xb0]
made:
    4883f8ff              cmp rax, -1
    7512                  jne fine
    ff93b8000000          call qword ptr [rbx + 0xb8]
    4885c0                test rax, rax
    7534                  jne refused
    48c7c0ffffffff        mov rax, 0xffffffffffffffff
fine:
    498b0c24              mov rcx, qword ptr [r12]
    480fbae121            bt rcx, 0x21
    7319                  jae whole
    4863d0                movsxd rdx, eax
    4839c2                cmp rdx, rax
    bf02000000            mov edi, 2
    0f855b010000          jne answer
    89c9                  mov ecx, ecx
    89440d00              mov dword ptr [rbp + rcx], eax
    eb9a                  jmp next
whole:
    89c9                  mov ecx, ecx
    4889440d00            mov qword ptr [rbp + rcx], rax
    eb91                  jmp next
refused:
    ff93c0000000          call qword ptr [rbx + 0xc0]
    bf02000000            mov edi, 2
    e93a010000            jmp answer
ready:
    4989ed                mov r13, rbp
    4883c518              add rbp, 0x18
    eb29                  jmp filled
launch:
    488d9798000000        lea rdx, [rdi + 0x98]
    488d4e20              lea rcx, [rsi + 0x20]
    eb08                  jmp go
sized:
    488d5620              lea rdx, [rsi + 0x20]
    488d4e38              lea rcx, [rsi + 0x38]
go:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4155                  push r13
    4883ec38              sub rsp, 0x38
    488d5f20              lea rbx, [rdi + 0x20]
    4889cd                mov rbp, rcx
    4989d5                mov r13, rdx
filled:
    488b8bd8000000        mov rcx, qword ptr [rbx + 0xd8]
check:
    48ffc9                dec rcx
    7828                  js fits
    488b84cbe0000000      mov rax, qword ptr [rbx + rcx*8 + 0xe0]
    89c2                  mov edx, eax
    488b541500            mov rdx, qword ptr [rbp + rdx]
    48c1e820              shr rax, 0x20
    4885c2                test rdx, rax
    7506                  jne misfit
    483b5348              cmp rdx, qword ptr [rbx + 0x48]
    73dd                  jae check
misfit:
    bf01000000            mov edi, 1
    e9d4000000            jmp answer
fits:
    488b4370              mov rax, qword ptr [rbx + 0x70]
    488b00                mov rax, qword ptr [rax]
    4885c0                test rax, rax
    7423                  je enter
    483b03                cmp rax, qword ptr [rbx]
    741e                  je enter
    ff5350                call qword ptr [rbx + 0x50]
    4989c4                mov r12, rax
    b807000000            mov eax, 7
    31ff                  xor edi, edi
    31f6                  xor esi, esi
    ba01000000            mov edx, 1
    0f05                  syscall
    4c89e7                mov rdi, r12
    ff5358                call qword ptr [rbx + 0x58]
    ebd1                  jmp fits
enter:
    488b03                mov rax, qword ptr [rbx]
    488b4b08              mov rcx, qword ptr [rbx + 8]
    488908                mov qword ptr [rax], rcx
    ff5350                call qword ptr [rbx + 0x50]
    4989c4                mov r12, rax
    e8cd000000            call now
    4889442418            mov qword ptr [rsp + 0x18], rax
    488b83d0000000        mov rax, qword ptr [rbx + 0xd0]
    4885c0                test rax, rax
    0f8589000000          jne called
    488b7b20              mov rdi, qword ptr [rbx + 0x20]
    31f6                  xor esi, esi
    488b5328              mov rdx, qword ptr [rbx + 0x28]
    4889e9                mov rcx, rbp
    ff5310                call qword ptr [rbx + 0x10]
    4898                  cdqe
    85c0                  test eax, eax
    754f                  jne done
    4c8b83c8000000        mov r8, qword ptr [rbx + 0xc8]
    4d85c0                test r8, r8
    0f85b3000000          jne share
    488b7b30              mov rdi, qword ptr [rbx + 0x30]
    488b7320              mov rsi, qword ptr [rbx + 0x20]
    ba03000000            mov edx, 3
    31c9                  xor ecx, ecx
    4d89e8                mov r8, r13
    4c8b4b38              mov r9, qword ptr [rbx + 0x38]
    48890c24              mov qword ptr [rsp], rcx
    48894c2408            mov qword ptr [rsp + 8], rcx
    48894c2410            mov qword ptr [rsp + 0x10], rcx
    ff5318                call qword ptr [rbx + 0x18]
    4898                  cdqe
    85c0                  test eax, eax
    7512                  jne done
ended:
    e860000000            call now
    482b442418            sub rax, qword ptr [rsp + 0x18]
timed:
    483b4340              cmp rax, qword ptr [rbx + 0x40]
    7702                  ja done
    31c0                  xor eax, eax
done:
    4889c5                mov rbp, rax
    488b0b                mov rcx, qword ptr [rbx]
    48c70100000000        mov qword ptr [rcx], 0
    4c89e7                mov rdi, r12
    ff5358                call qword ptr [rbx + 0x58]
    4889ef                mov rdi, rbp
answer:
    ff5360                call qword ptr [rbx + 0x60]
    4883c438              add rsp, 0x38
    415d                  pop r13
    415c                  pop r12
    5d                    pop rbp
    5b                    pop rbx
    c3                    ret
called:
    4c8b83c8000000        mov r8, qword ptr [rbx + 0xc8]
    4d85c0                test r8, r8
    7544                  jne share
    31c9                  xor ecx, ecx
    48890c24              mov qword ptr [rsp], rcx
    48894c2408            mov qword ptr [rsp + 8], rcx
    48894c2410            mov qword ptr [rsp + 0x10], rcx
    4889ef                mov rdi, rbp
    4889e6                mov rsi, rsp
    4c89ea                mov rdx, r13
    4c89e9                mov rcx, r13
    e8ea020000            call programs
    eb9b                  jmp ended
now:
    4883ec18              sub rsp, 0x18
    bf01000000            mov edi, 1
    4889e6                mov rsi, rsp
    ff5368                call qword ptr [rbx + 0x68]
    4869042400ca9a3b      imul rax, qword ptr [rsp], 0x3b9aca00
    4803442408            add rax, qword ptr [rsp + 8]
    4883c418              add rsp, 0x18
    c3                    ret
{team_code.LISTING.strip()}
{program_code.LISTING.strip()}
"""

#: bytes of a launch, or its arguments -> 0, an error code, or nanoseconds
Call = Callable[..., int]


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("documentation", ctypes.c_char_p))


@dataclass(frozen=True)
class Block:
    """The words of a block: `sizes` is None where each launch brings its own; pointers are (place in the
    struct, bits that must not be). Of `direct` also its thread, and arguments as (place behind the three
    sizes, what it is); there are none of other functions. `team`: who shares the launch; None: nobody.
    `program`: the address of the kernel's function, or 0."""

    word: int
    text: int
    set_argument: int
    enqueue: int
    kernel: int
    struct_bytes: int
    queue: int
    local_sizes: int
    longest: int
    lowest: int
    gate: int
    sizes: tuple[int, int, int] | None
    pointers: Sequence[tuple[int, int]]
    thread: int = 0
    arguments: Sequence[tuple[int, int]] = ()
    team: team_code.Team | None = None
    program: int = 0


@Once
def maker() -> Callable[[Block], Call] | None:
    """A function that makes the call of a block; None where there is no such code."""
    if not machine_code.has_code() or sys.implementation.name != "cpython" \
            or bytes.__basicsize__ != CONTENTS + 1:
        return None
    code, labels = machine_code.assembled(LISTING)
    start = machine_code.executable(code)
    if start is None:
        return None
    definitions = {label: _Definition(b"launch", start + labels[label], flags, None) for label, flags in (
        ("launch", METH_O), ("sized", METH_O), ("direct", METH_FASTCALL))}
    machine_code.keep_for_good(definitions)  # the interpreter's end looks at them for each function
    python, library = ctypes.pythonapi, ctypes.CDLL(None)

    def addresses(*functions: object) -> list[int]:
        return [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]  # type: ignore

    launching = addresses(python.PyEval_SaveThread, python.PyEval_RestoreThread, python.PyLong_FromLong,
                          library.clock_gettime)
    converting = addresses(python.PyLong_AsUnsignedLongLong, python.PyLong_AsLongLong, python.PyErr_Occurred,
                           python.PyErr_Clear)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", python))

    def made(block: Block) -> Call:
        sizes = block.sizes or (0, 0, 0)
        pointers = [at | forbidden << 32 for at, forbidden in block.pointers]
        arguments = [at + 24 | kind << 32 for at, kind in block.arguments]
        told = 28 + len(pointers)  # words before the arguments are told
        words = [block.word, block.text, block.set_argument, block.enqueue, block.kernel, block.struct_bytes,
                 block.queue, block.local_sizes, block.longest, block.lowest, *launching, block.gate, *sizes,
                 block.thread, 8 * told, 8 * (told + 2 + len(arguments)), *converting, 0, block.program,
                 len(pointers), *pointers, len(arguments), *arguments, END, *sizes,
                 *[0] * -(-block.struct_bytes // 8)]
        if block.team is not None:
            words[team_code.PLACE // 8] = 8 * len(words)
            words += block.team.words()
        label = "direct" if arguments else "sized" if block.sizes is None else "launch"
        call: Call = new(ctypes.addressof(definitions[label]), struct.pack(f"<{len(words)}Q", *words), None)
        return call

    return made
