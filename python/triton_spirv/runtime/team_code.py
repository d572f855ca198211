"""The machine code of a launch that the threads of an OpenMP team share, part of launch_code.py's.

The thread that launches begins a parallel region of OpenMP, whose threads are torch's own: they are awake if
torch has just computed something, and would hold the cores that the driver's threads wait for. Each member
of the team has a queue that runs kernels in the calling thread. They share a kernel object, whose argument is
set before they begin: the driver finds kernels under a lock, and members that set arguments at once would
sleep there. The longest axis of the grid, or the last that is long enough for four pieces a member, is dealt
out to the members. Where none is, as in a grid of 8x8 for 16 members, rows along the longest one are, one
behind the other; the next longest counts them. Each member launches its part in a few pieces, in the same
order each time, so that it finds in its caches what an earlier kernel left there. Each piece is half of what
the part still has, so that the last ones are small, and ends where its row does. Who is done goes on with the
parts of others. A piece is a launch with a global offset: where it begins, and in the upper 32 bits how long
the axis is (`Target.in_parts`).

    +0    GOMP_parallel; +8 omp_get_thread_num
    +16   how many members there are
    +24   the nanoseconds that the last launch took: its last pieces are smaller if that was long
    +32   a launch that took fewer than so many nanoseconds says how many
    +40   the three sizes of the grid; +64 the axis that is dealt out; +72 the fewest programs of a piece
    +80   an error code of the driver, or 0; +88 the axis that counts rows, or 3
    +96   address of the block
    +104  when the thread that launches had found no more pieces, in seconds and nanoseconds; +120 the
          nanoseconds that it waited then for the other members
    +128  for each member 64 bytes: its queue, where along the axis the next piece begins, where its part
          ends, of the first member the address of the crew, if it is one (crew_code.py), and of the second
          the system's number of the thread
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ..dataclass import dataclass
from . import crew_code

LISTING = """
share:
    4901d8                add r8, rbx
    4c89442420            mov qword ptr [rsp + 0x20], r8
    49895860              mov qword ptr [r8 + 0x60], rbx
    4989a8a0000000        mov qword ptr [r8 + 0xa0], rbp
    4d8b4810              mov r9, qword ptr [r8 + 0x10]
    4e8d148d00000000      lea r10, [r9*4]
    31c9                  xor ecx, ecx
    31ff                  xor edi, edi
    49894850              mov qword ptr [r8 + 0x50], rcx
axes:
    498b44cd00            mov rax, qword ptr [r13 + rcx*8]
    498944c828            mov qword ptr [r8 + rcx*8 + 0x28], rax
    4c39d0                cmp rax, r10
    7305                  jae longer
    4839f8                cmp rax, rdi
    7607                  jbe shorter
longer:
    4889c7                mov rdi, rax
    49894840              mov qword ptr [r8 + 0x40], rcx
shorter:
    ffc1                  inc ecx
    83f903                cmp ecx, 3
    75de                  jne axes
    ba03000000            mov edx, 3
    b801000000            mov eax, 1
    4c39d7                cmp rdi, r10
    7322                  jae chosen
    31c9                  xor ecx, ecx
others:
    493b4840              cmp rcx, qword ptr [r8 + 0x40]
    740f                  je another
    493944cd00            cmp qword ptr [r13 + rcx*8], rax
    7608                  jbe another
    498b44cd00            mov rax, qword ptr [r13 + rcx*8]
    4889ca                mov rdx, rcx
another:
    ffc1                  inc ecx
    83f903                cmp ecx, 3
    75e4                  jne others
    480faff8              imul rdi, rax
chosen:
    49895058              mov qword ptr [r8 + 0x58], rdx
    4a8d440fff            lea rax, [rdi + r9 - 1]
    31d2                  xor edx, edx
    49f7f1                div r9
    4989c2                mov r10, rax
    498b4818              mov rcx, qword ptr [r8 + 0x18]
    48c1e910              shr rcx, 0x10
    4883c102              add rcx, 2
    4883f908              cmp rcx, 8
    7605                  jbe pieces
    b908000000            mov ecx, 8
pieces:
    ffc9                  dec ecx
    498d42ff              lea rax, [r10 - 1]
    48d3e8                shr rax, cl
    48ffc0                inc rax
    49894048              mov qword ptr [r8 + 0x48], rax
    498d8880000000        lea rcx, [r8 + 0x80]
    31c0                  xor eax, eax
deal:
    48894108              mov qword ptr [rcx + 8], rax
    4c01d0                add rax, r10
    4839f8                cmp rax, rdi
    480f47c7              cmova rax, rdi
    48894110              mov qword ptr [rcx + 0x10], rax
    4883c140              add rcx, 0x40
    49ffc9                dec r9
    75e5                  jne deal
    488d3d53000000        lea rdi, [rip + 0x53]
    488b742420            mov rsi, qword ptr [rsp + 0x20]
    31d2                  xor edx, edx
    31c9                  xor ecx, ecx
    ff16                  call qword ptr [rsi]
    e8f2feffff            call now
    488b4c2420            mov rcx, qword ptr [rsp + 0x20]
    4869516800ca9a3b      imul rdx, qword ptr [rcx + 0x68], 0x3b9aca00
    48035170              add rdx, qword ptr [rcx + 0x70]
    48f7da                neg rdx
    4801c2                add rdx, rax
    48895178              mov qword ptr [rcx + 0x78], rdx
    482b442418            sub rax, qword ptr [rsp + 0x18]
    48894118              mov qword ptr [rcx + 0x18], rax
    4883795000            cmp qword ptr [rcx + 0x50], 0
    7409                  je shared
    488b4150              mov rax, qword ptr [rcx + 0x50]
    e96bfeffff            jmp done
shared:
    483b4120              cmp rax, qword ptr [rcx + 0x20]
    0f8261feffff          jb done
    e954feffff            jmp timed
member:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4155                  push r13
    4156                  push r14
    4883ec60              sub rsp, 0x60
    4889fb                mov rbx, rdi
    4531e4                xor r12d, r12d
    ff5308                call qword ptr [rbx + 8]
    4189c5                mov r13d, eax
    4c8b7310              mov r14, qword ptr [rbx + 0x10]
    4d39f5                cmp r13, r14
    0f8354010000          jae home
    4d89ec                mov r12, r13
    49c1e406              shl r12, 6
    4901dc                add r12, rbx
    4983fd01              cmp r13, 1
    750f                  jne known
    b8ba000000            mov eax, 0xba
    0f05                  syscall
    4989842498000000      mov qword ptr [r12 + 0x98], rax
known:
    488b6b60              mov rbp, qword ptr [rbx + 0x60]
    31c9                  xor ecx, ecx
grid:
    488b44cb28            mov rax, qword ptr [rbx + rcx*8 + 0x28]
    488944cc40            mov qword ptr [rsp + rcx*8 + 0x40], rax
    48c1e020              shl rax, 0x20
    488944cc20            mov qword ptr [rsp + rcx*8 + 0x20], rax
    ffc1                  inc ecx
    83f903                cmp ecx, 3
    75e6                  jne grid
take:
    4c89ea                mov rdx, r13
    48c1e206              shl rdx, 6
    4801da                add rdx, rbx
    488b8288000000        mov rax, qword ptr [rdx + 0x88]
again:
    488b8a90000000        mov rcx, qword ptr [rdx + 0x90]
    4829c1                sub rcx, rax
    0f86df000000          jbe taken
    488d7101              lea rsi, [rcx + 1]
    48d1ee                shr rsi, 1
    488b7b48              mov rdi, qword ptr [rbx + 0x48]
    4839fe                cmp rsi, rdi
    480f42f7              cmovb rsi, rdi
    4839ce                cmp rsi, rcx
    480f47f1              cmova rsi, rcx
    4989d0                mov r8, rdx
    4989c1                mov r9, rax
    4c8b5340              mov r10, qword ptr [rbx + 0x40]
    4e8b54d328            mov r10, qword ptr [rbx + r10*8 + 0x28]
    31d2                  xor edx, edx
    49f7f2                div r10
    4929d2                sub r10, rdx
    4c39d6                cmp rsi, r10
    490f47f2              cmova rsi, r10
    4989c2                mov r10, rax
    4989d3                mov r11, rdx
    4c89c2                mov rdx, r8
    4c89c8                mov rax, r9
    488d3c30              lea rdi, [rax + rsi]
    f0480fb1ba88000000    lock cmpxchg qword ptr [rdx + 0x88], rdi
    759e                  jne again
    488b4b40              mov rcx, qword ptr [rbx + 0x40]
    488974cc40            mov qword ptr [rsp + rcx*8 + 0x40], rsi
    44895ccc20            mov dword ptr [rsp + rcx*8 + 0x20], r11d
    488b4b58              mov rcx, qword ptr [rbx + 0x58]
    48c744cc4001000000    mov qword ptr [rsp + rcx*8 + 0x40], 1
    448954cc20            mov dword ptr [rsp + rcx*8 + 0x20], r10d
    488b85d0000000        mov rax, qword ptr [rbp + 0xd0]
    4885c0                test rax, rax
    7542                  jne call
    31c0                  xor eax, eax
    48890424              mov qword ptr [rsp], rax
    4889442408            mov qword ptr [rsp + 8], rax
    4889442410            mov qword ptr [rsp + 0x10], rax
    498bbc2480000000      mov rdi, qword ptr [r12 + 0x80]
    488b7520              mov rsi, qword ptr [rbp + 0x20]
    ba03000000            mov edx, 3
    488d4c2420            lea rcx, [rsp + 0x20]
    4c8d442440            lea r8, [rsp + 0x40]
    4c8b4d38              mov r9, qword ptr [rbp + 0x38]
    ff5518                call qword ptr [rbp + 0x18]
    85c0                  test eax, eax
    0f8427ffffff          je take
    4898                  cdqe
    48894350              mov qword ptr [rbx + 0x50], rax
    eb34                  jmp home
call:
    488bbba0000000        mov rdi, qword ptr [rbx + 0xa0]
    488d742420            lea rsi, [rsp + 0x20]
    488d542440            lea rdx, [rsp + 0x40]
    488d4b28              lea rcx, [rbx + 0x28]
    e838000000            call programs
    e900ffffff            jmp take
taken:
    49ffc5                inc r13
    4c3b6b10              cmp r13, qword ptr [rbx + 0x10]
    7503                  jne following
    4531ed                xor r13d, r13d
following:
    49ffce                dec r14
    0f85ebfeffff          jne take
home:
    4939dc                cmp r12, rbx
    750c                  jne left
    bf01000000            mov edi, 1
    488d7368              lea rsi, [rbx + 0x68]
    ff5568                call qword ptr [rbp + 0x68]
left:
    4883c460              add rsp, 0x60
    415e                  pop r14
    415d                  pop r13
    415c                  pop r12
    5d                    pop rbp
    5b                    pop rbx
    c3                    ret
"""


#: where in a block it is told where the team's part begins
PLACE = 200
#: and where in that part the nanoseconds are that the leader waited, and the second member's thread
WAITED, WORKER = 120, 128 + 64 + 24


@dataclass(frozen=True)
class Team:
    """parallel, number: addresses of the two functions of OpenMP, or of a crew; shortest: see above; queues:
    each member's; crew: its address, or 0."""

    parallel: int
    number: int
    shortest: int
    queues: Sequence[int]
    crew: int = 0

    def words(self) -> list[int]:
        """Its part of a block."""
        words = [self.parallel, self.number, len(self.queues), 0, self.shortest, *[0] * 11]
        for queue in self.queues:
            words += [queue, *[0] * 7]
        words[crew_code.PLACE // 8] = self.crew
        return words


def waited(call: Callable[..., int]) -> int:
    """The nanoseconds that the last launch waited for members; `call` is a function with a team."""
    return _word(call, WAITED)


def worker(call: Callable[..., int]) -> int:
    """The number of the thread that was the second member; 0: there has been none."""
    return _word(call, WORKER)


def came(call: Callable[..., int]) -> int:
    """How many of a crew had a part in the last launch, with the leader."""
    return _word(call, crew_code.CAME)


def _word(call: Callable[..., int], at: int) -> int:
    block: bytes = call.__self__  # type: ignore[attr-defined]
    place, = struct.unpack_from("<Q", block, PLACE)
    found: int = struct.unpack_from("<q", block, place + at)[0]
    return found
