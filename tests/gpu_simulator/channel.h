// What the library and the process that runs kernels say to each other: over a socket, one request and one reply at a
// time, structures as they lie in memory.
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdint.h>

// The device's memory: a file that both map. The process has allocations where kernels see them; in the library's
// process nobody may touch that range, except what the driver gives to the host, and copies go through a second view.
#define DEVICE_BASE 0x100000000000ull
#define DEVICE_BYTES (1ull << 38)
#define PAGE 4096ull

enum Operation { BUILD = 1, FORGET_PROGRAM, MAP, UNMAP, LAUNCH };

struct Request {
    uint32_t operation, program;
    uint64_t address, size;  // of MAP and UNMAP; LAUNCH: number of arguments, number of resident ranges
    uint64_t global[3], local[3];
    uint64_t bytes;  // of what follows
};

// Replies of LAUNCH: a kernel that accessed what is not there ends the process
#define FAULTED (-10000)

struct Reply {
    int32_t status;
    uint32_t number;   // BUILD: of the program
    uint64_t value;    // BUILD: bytes of shared memory of a work-group; FAULTED: the address
    uint64_t bytes;    // of what follows: BUILD: the log
};

// LAUNCH is followed by the kernel's name and a zero, padded to 8 bytes, by the arguments, each of which is a struct
// Argument and its bytes, padded to 8, and by the resident ranges.
struct Argument {
    uint32_t is_pointer, bytes;
};

struct Range {
    uint64_t address, size;
};

#define PADDED(bytes) (((bytes) + 7ull) & ~7ull)

#endif
