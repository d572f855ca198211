// What a kernel's library tells its launcher: the two are compiled by cpp_wrapper.py, each into a library.
#pragma once

#include <cstdint>

namespace triton_spirv {

// A field of the kernel's by-value argument: which of the caller's arguments it is, where it lies, how long it is.
struct Field {
    uint32_t argument, offset, size;
    bool is_pointer;
};

struct Message {
    const char *text;
    bool of_a_tensor;  // of which an element is to be named
};

struct Kernel {
    const char *entry;
    const uint32_t *words;  // the SPIR-V module
    uint64_t bytes;
    const Field *fields;
    uint32_t count, struct_size;
    uint32_t local[3];
    int32_t assertion, ticket;  // offsets of the hidden pointers; -1: there is none
    const Message *messages;  // of assertions
    uint32_t message_count;
    uint32_t needs;  // bits of Needs
    bool waits;  // may a program wait for another one of the same launch?
    // Only where `needs` has STACK; kernels of older packages end here.
    const char *program;  // the name of the function of one program, which can be called by its address; or null
    uint64_t private_bytes;  // of its private arrays
};

// Instructions that the module names itself: a driver would end a process whose processor lacks them.
// STACK is none of these: it says that a kernel has the last two fields.
enum Needs : uint32_t { TILES = 1, AVX2 = 2, AVX512_VNNI = 4, AVX512_BF16 = 8, STACK = 16, AVX = 32, AVX512 = 64 };

}  // namespace triton_spirv
