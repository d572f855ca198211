"""The machine code of two signal handlers, for processors of the x86-64 family under Linux.

A handler in Python is of no use for a fault: it would run after an instruction that never ends. These need no
compiler, take no lock, allocate nothing, and make system calls only. Each line below is one instruction: its
bytes, and what they say. DATA is the address of a block that `running_kernels.py` fills:

    +0    address of the table: a word for each thread, 0 or the address of a kernel's text
    +8    number of words (32 bits); +12 (32 bits): bit 0, a thread has come to `fault`; bit 1, it has written
          the head; bit 2, all of the text
    +16   address of the head, written before the first kernel; +24 of the foot; +32 of what a second
          interruption writes
    +40   the action "default"
    +64   the actions that come next, 32 bytes for each signal: handler, flags, restorer, mask
    +1088 the actions that were in force before any of ours

A text is its length, a word, and that many bytes. Bit 63 of a word in the table says that the kernel has been
interrupted once.

`fault`: write the texts of the kernels that run, put the next action in force, and return: the instruction
faults once more, into the next handler, as if this one had never been. A signal that was sent (si_code not
above 0) is sent again. Several threads may fault at once, and a next handler may put this one in force again:
only the first thread writes, who comes later waits for it and puts the first action of all in force.

`interrupt`, for SIGINT: go on in the earlier handler; the second time while one and the same kernel runs in
the main thread, say so and end the process by the signal's default action.
"""

from __future__ import annotations

from . import machine_code

LISTING = """
fault:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4155                  push r13
    4156                  push r14
    4189fc                mov r12d, edi
    4989f5                mov r13, rsi
    48bd8877665544332211  movabs rbp, DATA
    f00fba6d0c00          lock bts dword ptr [rbp+0xc], 0x0
    724e                  jb later
    488b5d00              mov rbx, qword ptr [rbp+0x0]
    448b7508              mov r14d, dword ptr [rbp+0x8]
next:
    488b33                mov rsi, qword ptr [rbx]
    4883c308              add rbx, 0x8
    48d1e6                shl rsi, 1
    48d1ee                shr rsi, 1
    7417                  je skip
    0fba6d0c01            bts dword ptr [rbp+0xc], 0x1
    720b                  jb line
    56                    push rsi
    488b7510              mov rsi, qword ptr [rbp+0x10]
    e864000000            call write
    5e                    pop rsi
line:
    e85e000000            call write
skip:
    41ffce                dec r14d
    75d5                  jne next
    0fba650c01            bt dword ptr [rbp+0xc], 0x1
    7309                  jae written
    488b7518              mov rsi, qword ptr [rbp+0x18]
    e849000000            call write
written:
    0fba6d0c02            bts dword ptr [rbp+0xc], 0x2
    488d7540              lea rsi, [rbp+0x40]
    eb15                  jmp restore
later:
    b818000000            mov eax, 0x18
    0f05                  syscall
    0fba650c02            bt dword ptr [rbp+0xc], 0x2
    73f2                  jae later
    488db540040000        lea rsi, [rbp+0x440]
restore:
    4489e0                mov eax, r12d
    c1e005                shl eax, 0x5
    4801c6                add rsi, rax
    4489e7                mov edi, r12d
    e82c000000            call action
    41837d0800            cmp dword ptr [r13+0x8], 0x0
    7f08                  jg done
    4589e0                mov r8d, r12d
    e82d000000            call raise
done:
    415e                  pop r14
    415d                  pop r13
    415c                  pop r12
    5d                    pop rbp
    5b                    pop rbx
    c3                    ret
write:
    488b16                mov rdx, qword ptr [rsi]
    4883c608              add rsi, 0x8
    bf02000000            mov edi, 0x2
    b801000000            mov eax, 0x1
    0f05                  syscall
    c3                    ret
action:
    31d2                  xor edx, edx
    41ba08000000          mov r10d, 0x8
    b80d000000            mov eax, 0xd
    0f05                  syscall
    c3                    ret
raise:
    b827000000            mov eax, 0x27
    0f05                  syscall
    89c7                  mov edi, eax
    b8ba000000            mov eax, 0xba
    0f05                  syscall
    89c6                  mov esi, eax
    4489c2                mov edx, r8d
    b8ea000000            mov eax, 0xea
    0f05                  syscall
    c3                    ret
interrupt:
    48b88877665544332211  movabs rax, DATA
    488b08                mov rcx, qword ptr [rax]
    4c8b09                mov r9, qword ptr [rcx]
    49d1e1                shl r9, 1
    7408                  je chain
    f0480fba293f          lock bts qword ptr [rcx], 0x3f
    7211                  jb second
chain:
    488b8080000000        mov rax, qword ptr [rax+0x80]
    4883f801              cmp rax, 0x1
    772d                  ja jump
    742d                  je ignore
    eb09                  jmp end
second:
    488b7020              mov rsi, qword ptr [rax+0x20]
    e888ffffff            call write
end:
    48be8877665544332211  movabs rsi, DATA
    4883c628              add rsi, 0x28
    bf02000000            mov edi, 0x2
    e884ffffff            call action
    41b802000000          mov r8d, 0x2
    eb8c                  jmp raise
jump:
    ffe0                  jmp rax
ignore:
    c3                    ret
restorer:
    b80f000000            mov eax, 0xf
    0f05                  syscall
"""


def assembled(data: int) -> tuple[bytes, dict[str, int]]:
    """The code for a block at address `data`, and where in it each label is."""
    code, labels = machine_code.assembled(LISTING)
    placeholder = bytes.fromhex("8877665544332211")
    return code.replace(placeholder, data.to_bytes(8, "little")), labels
