// The process that stands for the device: it runs kernels by Intel's OpenCL driver for CPUs. Its memory is its own, but
// for the file of the device's memory. Of that a kernel sees what is resident: the allocations of its arguments, and
// those that were announced. A kernel that accesses anything else ends the process, after a word about the address.
//
//     process SOCKET MEMORY DRIVER     two file descriptors, the path of the driver's library
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#include "channel.h"
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int connection, memory;
static volatile bool running;

// ---- the driver

#define FUNCTIONS(F)                                                                                                \
    F(clGetPlatformIDs) F(clGetDeviceIDs) F(clCreateContext) F(clCreateCommandQueueWithProperties)                   \
    F(clCreateProgramWithIL) F(clBuildProgram) F(clGetProgramBuildInfo) F(clReleaseProgram) F(clCreateKernel)        \
    F(clReleaseKernel) F(clSetKernelArg) F(clSetKernelArgSVMPointer) F(clEnqueueNDRangeKernel) F(clFinish)           \
    F(clGetKernelWorkGroupInfo) F(clCreateProgramWithSource) F(clCompileProgram) F(clLinkProgram)                    \
    F(clCreateKernelsInProgram)
#define DECLARE(name) static __typeof__(&name) driver_##name;
FUNCTIONS(DECLARE)

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void fail(const char *what) {
    fprintf(stderr, "simulated GPU: its process ends: %s\n", what);
    _exit(1);
}

static void open_driver(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) fail(dlerror());
#define FIND(name) if (!(driver_##name = (__typeof__(&name))dlsym(library, #name))) fail(#name);
    FUNCTIONS(FIND)
    cl_platform_id platform;
    cl_int code;
    if (driver_clGetPlatformIDs(1, &platform, NULL) ||
        driver_clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL)) fail("no CPU device");
    context = driver_clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    queue = driver_clCreateCommandQueueWithProperties(context, device, NULL, &code);
    if (code) fail("no queue");
}

// ---- messages

static void receive(void *data, size_t bytes) {
    for (char *at = data; bytes;) {
        ssize_t count = read(connection, at, bytes);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) continue;
            _exit(0);  // the library's process has ended
        }
        at += count, bytes -= (size_t)count;
    }
}

static void transmit(const void *data, size_t bytes) {
    for (const char *at = data; bytes;) {
        ssize_t count = write(connection, at, bytes);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) continue;
            _exit(0);
        }
        at += count, bytes -= (size_t)count;
    }
}

static void answer(int32_t status, uint32_t number, uint64_t value, const char *text) {
    struct Reply reply = {status, number, value, text ? strlen(text) : 0};
    transmit(&reply, sizeof reply);
    transmit(text, reply.bytes);
}

static void faulted(int signal, siginfo_t *information, void *unused) {
    (void)unused;
    if (running) {
        struct Reply reply = {FAULTED, (uint32_t)signal, (uint64_t)information->si_addr, 0};
        transmit(&reply, sizeof reply);
    }
    _exit(1);
}

// ---- programs

static cl_program programs[1 << 16];
static cl_kernel kernels[1 << 16];  // of each; made by the first launch
static uint32_t program_count;

static char *log_of(cl_program program) {
    size_t size = 0;
    driver_clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = calloc(size + 1, 1);
    driver_clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    return text;
}

// Shared memory of a work-group of its kernel
static uint64_t shared_bytes(cl_program program) {
    cl_kernel kernel;
    cl_ulong bytes = 0;
    if (driver_clCreateKernelsInProgram(program, 1, &kernel, NULL)) return 0;
    driver_clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    kernels[program_count] = kernel;
    return bytes;
}

static void forget(uint32_t number) {
    if (kernels[number]) driver_clReleaseKernel(kernels[number]);
    driver_clReleaseProgram(programs[number]);
    answer(0, 0, 0, NULL);
}

// The driver's optimiser costs minutes for large kernels of many lanes, and it is not what is tested: of one of 400
// instructions, whose SPIR-V is right by an interpreter of it, it made wrong code. So functions as large as those that
// the CPU's own targets with lanes leave alone say OptNone (SPV_EXT_optnone); but without its optimiser the driver gives
// wrong results of clustered reductions.
static bool is_phi_above(const uint32_t *first, const uint32_t *at, uint32_t id) {
    for (; first < at; first += first[0] >> 16)
        if (first[2] == id) return true;
    return false;
}

// Does a phi of the block that begins here take another one of it? Without its optimiser the driver writes one after the
// other (quirk permuted_phis).
static bool mixes_phis(const uint32_t *block) {
    enum { PHI = 245 };
    const uint32_t *end = block;
    while ((end[0] & 0xFFFF) == PHI) end += end[0] >> 16;
    for (const uint32_t *at = block; at < end; at += at[0] >> 16)
        for (uint32_t i = 3; i < at[0] >> 16; i += 2)
            if (at[i] != at[2] && is_phi_above(block, end, at[i])) return true;
    return false;
}

static void leave_large_ones(uint32_t *words, size_t count) {
    enum { CAPABILITY = 17, FUNCTION = 54, FUNCTION_END = 56, LABEL = 248, CLUSTERED = 67, OPT_NONE = 1 << 16, LARGE = 200 };
    uint32_t *function = NULL, size = 0;
    bool mixed = false;
    for (uint32_t *at = words + 5; at < words + count && at[0] >> 16; at += at[0] >> 16, size++) {
        if ((at[0] & 0xFFFF) == CAPABILITY && at[1] == CLUSTERED) return;
        if ((at[0] & 0xFFFF) == FUNCTION) function = at, size = 0, mixed = false;
        if ((at[0] & 0xFFFF) == LABEL) mixed |= mixes_phis(at + 2);
        if ((at[0] & 0xFFFF) == FUNCTION_END && size > LARGE && !mixed) function[3] |= OPT_NONE;
    }
}

// data: OpenCL C that is linked with the module, and a zero, then the module's words
static void build(const char *data, size_t bytes) {
    size_t source_bytes = strlen(data);
    cl_int code;
    bytes -= source_bytes + 1;
    uint32_t *words = malloc(bytes);
    memcpy(words, data + source_bytes + 1, bytes);
    leave_large_ones(words, bytes / 4);
    cl_program program = driver_clCreateProgramWithIL(context, words, bytes, &code);
    free(words);
    if (!program || program_count == sizeof programs / sizeof *programs) return answer(code, 0, 0, NULL);
    if (source_bytes) {
        cl_program other = driver_clCreateProgramWithSource(context, 1, &data, NULL, &code), parts[] = {program, other};
        code = driver_clCompileProgram(program, 1, &device, NULL, 0, NULL, NULL, NULL, NULL);
        if (code) return answer(code, 0, 0, log_of(program));
        code = driver_clCompileProgram(other, 1, &device, "-cl-std=CL3.0", 0, NULL, NULL, NULL, NULL);
        if (code) return answer(code, 0, 0, log_of(other));
        program = driver_clLinkProgram(context, 1, &device, NULL, 2, parts, NULL, NULL, &code);
        if (!program) return answer(code, 0, 0, NULL);
    } else {
        code = driver_clBuildProgram(program, 1, &device, "", NULL, NULL);
    }
    char *text = log_of(program);
    uint64_t shared = code ? 0 : shared_bytes(program);
    if (!code) programs[program_count++] = program;
    answer(code, program_count - 1, shared, text);
    free(text);
}

// ---- memory

static void map(uint64_t address, uint64_t size) {
    void *place = mmap((void *)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory,
                       (off_t)(address - DEVICE_BASE));
    answer(place == (void *)address ? 0 : -errno, 0, 0, NULL);
}

static void unmap(uint64_t address, uint64_t size) {
    munmap((void *)address, size);
    answer(0, 0, 0, NULL);
}

// ---- kernels

static cl_int run(const struct Request *request, const char *data) {
    const char *name = data;
    const char *at = data + PADDED(strlen(name) + 1);
    cl_int code = CL_SUCCESS;
    cl_kernel *kept = &kernels[request->program], kernel;
    if (!*kept) *kept = driver_clCreateKernel(programs[request->program], name, &code);
    if (code) return code;
    kernel = *kept;
    for (uint64_t i = 0; i < request->address && !code; i++) {
        const struct Argument *argument = (const void *)at;
        const void *value = at + sizeof *argument;
        code = argument->is_pointer
            ? driver_clSetKernelArgSVMPointer(kernel, (cl_uint)i, *(void *const *)value)
            : driver_clSetKernelArg(kernel, (cl_uint)i, argument->bytes, value);
        at += sizeof *argument + PADDED(argument->bytes);
    }
    const struct Range *resident = (const void *)at;
    for (uint64_t i = 0; i < request->size; i++)
        mprotect((void *)resident[i].address, resident[i].size, PROT_READ | PROT_WRITE);
    running = true;
    if (!code)
        code = driver_clEnqueueNDRangeKernel(queue, kernel, 3, NULL, (const size_t *)request->global,
                                             (const size_t *)request->local, 0, NULL, NULL);
    if (!code) code = driver_clFinish(queue);
    running = false;
    fflush(stdout);  // what the kernel has printed: this process ends without a word when the program does
    for (uint64_t i = 0; i < request->size; i++)
        mprotect((void *)resident[i].address, resident[i].size, PROT_NONE);
    return code;
}

// A kernel may wait for what nobody writes any more: its program's end is the device's, whatever runs
static void *watch(void *unused) {
    struct pollfd end = {.fd = connection, .events = POLLRDHUP};
    while (poll(&end, 1, -1) < 0 && errno == EINTR) continue;
    _exit(0);
    return unused;
}

int main(int count, char **words) {
    if (count != 4) fail("it is started by the library");
    connection = atoi(words[1]), memory = atoi(words[2]);
    signal(SIGINT, SIG_IGN);  // Ctrl-C is for the program that launched
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL)) fail("no thread");
    open_driver(words[3]);
    struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
    for (;;) {
        struct Request request;
        receive(&request, sizeof request);
        char *data = malloc(request.bytes + 1);
        receive(data, request.bytes);
        data[request.bytes] = 0;
        switch (request.operation) {
        case BUILD: build(data, request.bytes); break;
        case FORGET_PROGRAM: forget(request.program); break;
        case MAP: map(request.address, request.size); break;
        case UNMAP: unmap(request.address, request.size); break;
        case LAUNCH: answer(run(&request, data), 0, 0, NULL); break;
        default: fail("an unknown request");
        }
        free(data);
    }
}
