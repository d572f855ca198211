"""The machine code that calls a kernel's programs without the driver, part of launch_code.py's.

A kernel for the CPU device is a function of one program, which the driver's work-groups call
(environment/opencl/programs.py), and whose address the driver tells (cl_intel_function_pointers). So a
thread can run programs by itself: a launch through the driver takes 1.5 us, and the threads of a team meet
there under locks, where 16 of them wait for 20 us.

`programs` runs a part of a launch, x before y before z. rax: the function; rdi: the arguments, as a struct;
rsi: the place of the part's first program along x, y and z; rdx: how many there are of the part, rcx: of the
whole launch. All of these are three words of 64 bits, of which places and sizes of the launch are the lower
halves. The driver's compiler gives functions parameters of its own behind these: a null pointer to private
memory means the stack, and the others are not used by a function that asks for nothing of OpenCL. So 23 words
behind the parameters are zero. Floats are rounded to nearest, and denormal numbers are numbers, whatever the
thread has asked for (MXCSR), as on the driver's own threads.
"""

from __future__ import annotations

LISTING = """
programs:
    53                    push rbx
    55                    push rbp
    4154                  push r12
    4155                  push r13
    4156                  push r14
    4157                  push r15
    4881ece8000000        sub rsp, 0xe8
    4989c4                mov r12, rax
    4989fd                mov r13, rdi
    4889b424c0000000      mov qword ptr [rsp + 0xc0], rsi
    48899424c8000000      mov qword ptr [rsp + 0xc8], rdx
    4989cf                mov r15, rcx
    0fae9c24d0000000      stmxcsr dword ptr [rsp + 0xd0]
    c78424d4000000801f0000 mov dword ptr [rsp + 0xd4], 0x1f80
    0fae9424d4000000      ldmxcsr dword ptr [rsp + 0xd4]
    31ed                  xor ebp, ebp
plane:
    31db                  xor ebx, ebx
line:
    4531f6                xor r14d, r14d
program:
    660fefc0              pxor xmm0, xmm0
    0f290424              movaps xmmword ptr [rsp], xmm0
    0f29442410            movaps xmmword ptr [rsp + 0x10], xmm0
    0f29442420            movaps xmmword ptr [rsp + 0x20], xmm0
    0f29442430            movaps xmmword ptr [rsp + 0x30], xmm0
    0f29442440            movaps xmmword ptr [rsp + 0x40], xmm0
    0f29442450            movaps xmmword ptr [rsp + 0x50], xmm0
    0f29442460            movaps xmmword ptr [rsp + 0x60], xmm0
    0f29442470            movaps xmmword ptr [rsp + 0x70], xmm0
    0f29842480000000      movaps xmmword ptr [rsp + 0x80], xmm0
    0f29842490000000      movaps xmmword ptr [rsp + 0x90], xmm0
    0f298424a0000000      movaps xmmword ptr [rsp + 0xa0], xmm0
    0f298424b0000000      movaps xmmword ptr [rsp + 0xb0], xmm0
    418b4710              mov eax, dword ptr [r15 + 0x10]
    48890424              mov qword ptr [rsp], rax
    488b8424c0000000      mov rax, qword ptr [rsp + 0xc0]
    8b30                  mov esi, dword ptr [rax]
    4401f6                add esi, r14d
    8b5008                mov edx, dword ptr [rax + 8]
    01da                  add edx, ebx
    8b4810                mov ecx, dword ptr [rax + 0x10]
    01e9                  add ecx, ebp
    4c89ef                mov rdi, r13
    458b07                mov r8d, dword ptr [r15]
    458b4f08              mov r9d, dword ptr [r15 + 8]
    41ffd4                call r12
    488b8424c8000000      mov rax, qword ptr [rsp + 0xc8]
    49ffc6                inc r14
    4c3b30                cmp r14, qword ptr [rax]
    0f8275ffffff          jb program
    48ffc3                inc rbx
    483b5808              cmp rbx, qword ptr [rax + 8]
    0f8265ffffff          jb line
    48ffc5                inc rbp
    483b6810              cmp rbp, qword ptr [rax + 0x10]
    0f8256ffffff          jb plane
    0fae9424d0000000      ldmxcsr dword ptr [rsp + 0xd0]
    4881c4e8000000        add rsp, 0xe8
    415f                  pop r15
    415e                  pop r14
    415d                  pop r13
    415c                  pop r12
    5d                    pop rbp
    5b                    pop rbx
    c3                    ret
"""
