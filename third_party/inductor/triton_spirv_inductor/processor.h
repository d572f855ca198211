// Has the processor what a kernel needs? As triton_spirv/runtime/processor.py finds it.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernel.h"

namespace {

// What the setting of Intel's driver can name, to compile for an older processor than the one that is here.
constexpr const char *PROCESSORS[] = {"corei7", "corei7-avx", "core-avx2", "skx", "icelake-server", "sapphirerapids"};

// May the driver compile for this one of them, or for newer ones?
bool may_compile_for(int processor) {
    const char *set = std::getenv("CL_CONFIG_CPU_TARGET_ARCH");
    for (int at = 0; set && at < processor; at++)
        if (!std::strcmp(set, PROCESSORS[at])) return false;
    return true;
}

// The first of a kernel's needs that is not met; null where all are.
const char *lacking(uint32_t needs) {
    using namespace triton_spirv;
#if defined(__x86_64__)
#define HAS(name, processor) (__builtin_cpu_supports(name) && may_compile_for(processor))
    // arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA): Linux gives tile registers to who asks
    if (needs & TILES && (!may_compile_for(5) || syscall(SYS_arch_prctl, 0x1023, 18))) return "amx_tile";
    if (needs & AVX && !HAS("avx", 1)) return "avx";
    if (needs & AVX2 && !HAS("avx2", 2)) return "avx2";
    if (needs & AVX512 && !HAS("avx512dq", 3)) return "avx512dq";
    if (needs & AVX512_VNNI && !HAS("avx512vnni", 4)) return "avx512_vnni";
    if (needs & AVX512_BF16 && !HAS("avx512bf16", 5)) return "avx512_bf16";
    return nullptr;
#undef HAS
#else
    return needs & ~STACK ? "instructions of x86" : nullptr;
#endif
}

}  // namespace
