// Programs of kernels as functions that the calling thread calls, where the driver's compiler makes such. What is
// assumed of these functions, and why, is in triton_spirv/runtime/called_programs.py and program_code.py.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

// What the driver's compiler adds to a function's parameters. All are zero: a null pointer to private memory means
// the stack, and the others are not used by a function that asks for nothing of OpenCL.
struct Added {
    uint64_t words[23];
};

// The arguments, as a struct; the program's place along x, y and z; how many programs there are.
using Program = void (*)(const void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Added);

constexpr Added NOTHING = {};
constexpr uint32_t FLOATS = 0x1f80;  // MXCSR: rounding to nearest, denormal numbers are numbers, no exception

// TRITON_SPIRV_CALLS, as triton_spirv/settings.py reads a switch.
bool calls_are_on() {
    const char *variable = std::getenv("TRITON_SPIRV_CALLS");
    std::string text = variable ? variable : "";
    const auto first = text.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string::npos) return true;
    text = text.substr(first, text.find_last_not_of(" \t\r\n\f\v") + 1 - first);
    std::string word = text;
    for (char &letter : word)
        if (letter >= 'A' && letter <= 'Z') letter += 'a' - 'A';
    for (const char *yes : {"1", "on", "true", "yes"})
        if (word == yes) return true;
    for (const char *no : {"0", "off", "false", "no"})
        if (word == no) return false;
    throw std::runtime_error("triton-spirv: TRITON_SPIRV_CALLS='" + text + "': use 1 or 0");
}

// Runs all programs of a launch, x before y before z.
void call(Program program, const void *arguments, const uint32_t (&grid)[3]) {
#if defined(__x86_64__)
    const uint32_t floats = _mm_getcsr();
    _mm_setcsr(FLOATS);
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++) program(arguments, x, y, z, grid[0], grid[1], grid[2], NOTHING);
    _mm_setcsr(floats);
#endif
}

// Does a function take its arguments as C passes them? `probe` is that of called_programs.py's module: it stores its
// place, how many programs there are, and a number, from an address on.
bool takes_arguments(Program probe) {
#if defined(__x86_64__)
    uint32_t noted[8] = {};
    struct {
        uint32_t *out;
        uint32_t number;
    } arguments = {noted, 13};
    const uint32_t expected[8] = {3, 1u << 31, 5, 7, ~0u, 11, 13, 0};
    probe(&arguments, expected[0], expected[1], expected[2], expected[3], expected[4], expected[5], NOTHING);
    return !std::memcmp(noted, expected, sizeof expected);
#else
    return false;
#endif
}

}  // namespace
