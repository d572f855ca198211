// What hosts of the C++ launcher have in common: LAUNCHER KERNEL are their first arguments.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void (*launch)(uint32_t, uint32_t, uint32_t, int, void **, void *);
void *kernel;

[[noreturn]] void end(const char *text) {
    std::puts(text);
    std::fflush(nullptr);
    std::_Exit(1);
}

void open_libraries(char **arguments, const char *name) {
    void *launcher = dlopen(arguments[1], RTLD_NOW), *kernels = dlopen(arguments[2], RTLD_NOW);
    if (!launcher || !kernels) end(dlerror());
    launch = reinterpret_cast<decltype(launch)>(dlsym(launcher, "run_from_nativert"));
    kernel = dlsym(kernels, name);
}

}  // namespace
