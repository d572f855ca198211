"""The machine code of a crew: threads of this package's own that run kernels beside the one that launches.

A crew is asked as OpenMP is (team_code.py): `begin` takes the place of GOMP_parallel, `number` that of
omp_get_thread_num. OpenMP's leader waits until all threads have come, and a thread that sleeps comes when the
system wakes it, at times after milliseconds. A crew's leader sets to work at once, and waits in the end for
those alone that have begun; who comes later finds the launch closed.

    +0    the state, 32 bits, in a cache line of its own: bit 31, open; from bit 16 on how many members have
          joined; in bits 0 to 15 how many of them are at work
    +64   how many launches there have been, 32 bits, on which members sleep; +72 how many members have
          begun; +76 their looks of the second kind; +80 the processor that the last leader began on
    +128  how many of them sleep or are about to, 32 bits
    +192  the function of a launch; +200 what it is given
    +208  how often a member looks at the state before it sleeps, 32 bits: as fast as it can; +212 and then,
          letting others have the processor in between, if the launch before was not long ago; else once
    +216  the nanoseconds of work from which on sleepers are woken; +240 if the launch before was not long ago
    +224  when the last launch ended, as the processor counts time; +232 what is long

In a team's words it is told where the crew is, and it notes how many have had a part in its last launch, with
the leader. So the work of that one is known, by how long it took: waking somebody takes longer than a short
launch does.

The words of a launch are written while nobody is at work and the state is closed, and read by who has joined.
Who comes back from the function has found nothing left to do, so it closes the launch: no member joins twice.
A member has its number in r15, which functions keep, and the same one in each launch: so it begins with the
same part, of which its caches may hold something. The leader, and each member that joins, wakes two sleepers,
so that none waits for many calls of the system. Who is about to sleep counts itself, reads the number of
launches, and looks at the state once more; a launch opens, counts itself, and then looks for sleepers: so
neither misses the other. Launches in quick succession find members awake; after a single one they leave the
processors to others soon.

Systems like to wake a thread on the processor of whoever wakes it. The leader is at work there, the member
waits for it, and other processors have nothing to do. So a member that goes to sleep, or finds itself there,
says that it may run wherever the main thread may, but for the processor where the last leader was.
"""

from __future__ import annotations

#: where the address of the crew is among the words of a team, and how many had a part in the last launch
PLACE, CAME = 128 + 24, 128 + 40
#: bytes of a crew; where the words are that hold until the first launch, and those that stay
SIZE, FIRST, TOLD = 256, 76, 208
#: no processor's number
NOWHERE = 0x400

LISTING = """
begin:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4157                  push r15
    4883ec08              sub rsp, 8
    488b9e98000000        mov rbx, qword ptr [rsi + 0x98]
    4889f5                mov rbp, rsi
    4989fc                mov r12, rdi
    4889bbc0000000        mov qword ptr [rbx + 0xc0], rdi
    4889b3c8000000        mov qword ptr [rbx + 0xc8], rsi
    4531ff                xor r15d, r15d
    b800000080            mov eax, 0x80000000
    8703                  xchg dword ptr [rbx], eax
    f0ff4340              lock inc dword ptr [rbx + 0x40]
    0f01f9                rdtscp
    81e1ff0f0000          and ecx, 0xfff
    894b50                mov dword ptr [rbx + 0x50], ecx
    48c1e220              shl rdx, 0x20
    4809d0                or rax, rdx
    482b83e0000000        sub rax, qword ptr [rbx + 0xe0]
    488b5518              mov rdx, qword ptr [rbp + 0x18]
    480faf95a8000000      imul rdx, qword ptr [rbp + 0xa8]
    483b83e8000000        cmp rax, qword ptr [rbx + 0xe8]
    488b83d8000000        mov rax, qword ptr [rbx + 0xd8]
    b901000000            mov ecx, 1
    480f4283f0000000      cmovb rax, qword ptr [rbx + 0xf0]
    0f428bd4000000        cmovb ecx, dword ptr [rbx + 0xd4]
    894b4c                mov dword ptr [rbx + 0x4c], ecx
    4839c2                cmp rdx, rax
    7205                  jb short
    e853000000            call wake
short:
    4889ef                mov rdi, rbp
    41ffd4                call r12
    f08123ffffff7f        lock and dword ptr [rbx], 0x7fffffff
wait:
    b900040000            mov ecx, 0x400
busy:
    66833b00              cmp word ptr [rbx], 0
    740f                  je over
    f390                  pause
    ffc9                  dec ecx
    75f4                  jne busy
    b818000000            mov eax, 0x18
    0f05                  syscall
    ebe6                  jmp wait
over:
    0fb74302              movzx eax, word ptr [rbx + 2]
    ffc0                  inc eax
    488985a8000000        mov qword ptr [rbp + 0xa8], rax
    0f31                  rdtsc
    48c1e220              shl rdx, 0x20
    4809d0                or rax, rdx
    488983e0000000        mov qword ptr [rbx + 0xe0], rax
    4883c408              add rsp, 8
    415f                  pop r15
    415c                  pop r12
    5d                    pop rbp
    5b                    pop rbx
    c3                    ret
number:
    4489f8                mov eax, r15d
    c3                    ret
wake:
    83bb8000000000        cmp dword ptr [rbx + 0x80], 0
    7415                  je woken
    488d7b40              lea rdi, [rbx + 0x40]
    be81000000            mov esi, 0x81
    ba02000000            mov edx, 2
    b8ca000000            mov eax, 0xca
    0f05                  syscall
woken:
    c3                    ret
member:
    53                    push rbx
    4889fb                mov rbx, rdi
    41bc00040000          mov r12d, 0x400
    41bf01000000          mov r15d, 1
    f0440fc17b48          lock xadd dword ptr [rbx + 0x48], r15d
    41ffc7                inc r15d
awake:
    0f01f9                rdtscp
    81e1ff0f0000          and ecx, 0xfff
    3b4b50                cmp ecx, dword ptr [rbx + 0x50]
    7505                  jne apart
    e899000000            call part
apart:
    448b83d0000000        mov r8d, dword ptr [rbx + 0xd0]
look:
    8b03                  mov eax, dword ptr [rbx]
    85c0                  test eax, eax
    785b                  js join
    f390                  pause
    41ffc8                dec r8d
    75f3                  jne look
    448b434c              mov r8d, dword ptr [rbx + 0x4c]
yield:
    b818000000            mov eax, 0x18
    0f05                  syscall
    8b03                  mov eax, dword ptr [rbx]
    85c0                  test eax, eax
    7843                  js join
    0f01f9                rdtscp
    81e1ff0f0000          and ecx, 0xfff
    3b4b50                cmp ecx, dword ptr [rbx + 0x50]
    7405                  je sleep
    41ffc8                dec r8d
    75e0                  jne yield
sleep:
    e85c000000            call part
    f0ff8380000000        lock inc dword ptr [rbx + 0x80]
    8b5340                mov edx, dword ptr [rbx + 0x40]
    833b00                cmp dword ptr [rbx], 0
    7c13                  jl risen
    488d7b40              lea rdi, [rbx + 0x40]
    be80000000            mov esi, 0x80
    4531d2                xor r10d, r10d
    b8ca000000            mov eax, 0xca
    0f05                  syscall
risen:
    f0ff8b80000000        lock dec dword ptr [rbx + 0x80]
    eb85                  jmp awake
join:
    8d9001000100          lea edx, [rax + 0x10001]
    f00fb113              lock cmpxchg dword ptr [rbx], edx
    0f8575ffffff          jne awake
    e838ffffff            call wake
    488bbbc8000000        mov rdi, qword ptr [rbx + 0xc8]
    ff93c0000000          call qword ptr [rbx + 0xc0]
    f08123ffffff7f        lock and dword ptr [rbx], 0x7fffffff
    f0ff0b                lock dec dword ptr [rbx]
    e954ffffff            jmp awake
part:
    8b4350                mov eax, dword ptr [rbx + 0x50]
    4439e0                cmp eax, r12d
    7447                  je parted
    4189c4                mov r12d, eax
    3d00040000            cmp eax, 0x400
    733d                  jae parted
    4881ec88000000        sub rsp, 0x88
    b827000000            mov eax, 0x27
    0f05                  syscall
    89c7                  mov edi, eax
    be80000000            mov esi, 0x80
    4889e2                mov rdx, rsp
    b8cc000000            mov eax, 0xcc
    0f05                  syscall
    89c6                  mov esi, eax
    85c0                  test eax, eax
    7e11                  jle stay
    440fb32424            btr dword ptr [rsp], r12d
    31ff                  xor edi, edi
    4889e2                mov rdx, rsp
    b8cb000000            mov eax, 0xcb
    0f05                  syscall
stay:
    4881c488000000        add rsp, 0x88
parted:
    c3                    ret
"""
