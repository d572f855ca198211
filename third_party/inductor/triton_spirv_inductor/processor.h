// Has the processor what a kernel needs? As triton_spirv/runtime/processor.py finds it.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernel.h"

namespace {

// What the setting of Intel's driver can name, to compile for an older processor than the one that is here.
constexpr const char *PROCESSORS[] = {"corei7", "corei7-avx", "core-avx2", "skx", "icelake-server", "sapphirerapids"};

constexpr const char *SETTING = "CL_CONFIG_CPU_TARGET_ARCH";
constexpr int NEWEST = 5;

// Does the driver's compiler take the processor for an older one, whose model's number a virtual machine shows?
bool is_misled() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid(0, &a, &b, &c, &d);
    if (b != signature_INTEL_ebx || !__get_cpuid(1, &a, &b, &c, &d) || (a >> 8 & 15) != 6) return false;
    const unsigned model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    const bool tiles = d >> 24 & 1;
    if (model == 143 || model == 173 || model == 174 || model == 207 || (model == 85 && !tiles)) return false;
    return tiles || __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

// Has the processor what the newest name stands for, beside what kernels ask for by name?
bool is_newest() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    const bool half = d >> 23 & 1, serialize = d >> 14 & 1, tiles = d >> 22 & d >> 24 & d >> 25 & 1;
    __get_cpuid_count(7, 1, &a, &b, &c, &d);
    return half && serialize && tiles && (a >> 4 & 1) && __builtin_cpu_supports("avx512bf16") &&
           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni") &&
           __builtin_cpu_supports("vpclmulqdq");
#else
    return false;
#endif
}

// Before the driver is loaded: tell it what to compile for, where it would be misled.
void tell(const char *driver) {
    void *loaded = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
    if (loaded) dlclose(loaded);
    if (!loaded && is_misled() && is_newest()) setenv(SETTING, PROCESSORS[NEWEST], 0);
}

// May the driver compile for this one of them, or for newer ones?
bool may_compile_for(int processor) {
    const char *set = std::getenv(SETTING);
    if (!set && processor == NEWEST && is_misled()) return false;
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
    if (needs & TILES && (!may_compile_for(NEWEST) || syscall(SYS_arch_prctl, 0x1023, 18))) return "amx_tile";
    if (needs & AVX && !HAS("avx", 1)) return "avx";
    if (needs & AVX2 && !HAS("avx2", 2)) return "avx2";
    if (needs & AVX512 && !HAS("avx512dq", 3)) return "avx512dq";
    if (needs & AVX512_VNNI && !HAS("avx512vnni", 4)) return "avx512_vnni";
    if (needs & AVX512_BF16 && !HAS("avx512bf16", NEWEST)) return "avx512_bf16";
    return nullptr;
#undef HAS
#else
    return needs & ~STACK ? "instructions of x86" : nullptr;
#endif
}

}  // namespace
