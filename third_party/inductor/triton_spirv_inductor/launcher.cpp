// Launches kernels through Intel's OpenCL CPU driver, for C++ that AOTInductor or cpp_wrapper has written.
//
// torch calls run_from_nativert(grid, threads, arguments, kernel); what goes wrong is a C++ exception, which torch's
// code makes one of Python. The types and numbers of OpenCL are those of its specification; no header of it is needed.

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel.h"

namespace {

using triton_spirv::Kernel;
using Handle = void *;

constexpr uint64_t MOST_PROGRAMS = (1ull << 31) - 1;  // program ids are 32-bit integers
constexpr int64_t SHORT = 50000, LONG = 150000;  // nanoseconds; as in triton_spirv/runtime/launch.py
constexpr uint64_t CPU = 1 << 1, QUEUE_PROPERTIES = 0x1093, IN_CALLING_THREAD = 1ull << 31;
constexpr uint32_t BUILD_LOG = 0x1183;

[[noreturn]] void fail(const std::string &text) { throw std::runtime_error("triton-spirv: " + text); }

void check(const char *function, int code) {
    if (code) fail(std::string(function) + ": OpenCL error " + std::to_string(code));
}

struct Library {
    Handle handle = nullptr;
    std::string tried;

    Library() {
        for (const char *path : {TRITON_SPIRV_DRIVER, "libintelocl.so", "libOpenCL.so.1"}) {
            if ((handle = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return;
            tried += std::string(tried.empty() ? "" : "; ") + dlerror();
        }
        fail("no OpenCL CPU driver: pip install intel-opencl-rt intel-cmplr-lib-rt, and put the folder of "
             "libintelocl.so into LD_LIBRARY_PATH (" + tried + ")");
    }

    template <typename Type>
    Type *function(const char *name) const {
        void *found = dlsym(handle, name);
        if (!found) fail(std::string("the OpenCL library has no ") + name);
        return reinterpret_cast<Type *>(found);
    }
};

struct Driver {
    Library library;
#define FUNCTION(name, ...) int (*name)(__VA_ARGS__) = library.function<int(__VA_ARGS__)>(#name)
#define MAKER(name, ...) Handle (*name)(__VA_ARGS__, int *) = library.function<Handle(__VA_ARGS__, int *)>(#name)
    FUNCTION(clGetPlatformIDs, uint32_t, Handle *, uint32_t *);
    FUNCTION(clGetDeviceIDs, Handle, uint64_t, uint32_t, Handle *, uint32_t *);
    FUNCTION(clBuildProgram, Handle, uint32_t, const Handle *, const char *, void *, void *);
    FUNCTION(clGetProgramBuildInfo, Handle, Handle, uint32_t, size_t, void *, size_t *);
    FUNCTION(clSetKernelArg, Handle, uint32_t, size_t, const void *);
    FUNCTION(clEnqueueNDRangeKernel, Handle, Handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
             const Handle *, Handle *);
    FUNCTION(clFinish, Handle);
    MAKER(clCreateContext, const intptr_t *, uint32_t, const Handle *, void *, void *);
    MAKER(clCreateCommandQueueWithProperties, Handle, Handle, const uint64_t *);
    MAKER(clCreateProgramWithIL, Handle, const void *, size_t);
    MAKER(clCreateKernel, Handle, const char *);
    MAKER(clCloneKernel, Handle);
#undef FUNCTION
#undef MAKER
    Handle device = nullptr, context = nullptr;

    Driver() {
        uint32_t count = 0;
        Handle platforms[16];
        check("clGetPlatformIDs", clGetPlatformIDs(16, platforms, &count));
        for (uint32_t at = 0; at < count && at < 16 && !device; at++)
            if (clGetDeviceIDs(platforms[at], CPU, 1, &device, nullptr)) device = nullptr;
        if (!device) fail("the OpenCL driver has no CPU device");
        int code;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check("clCreateContext", code);
    }

    Handle queue(uint64_t properties) const {
        const uint64_t list[] = {QUEUE_PROPERTIES, properties, 0};
        int code;
        Handle made = clCreateCommandQueueWithProperties(context, device, list, &code);
        return code ? nullptr : made;
    }
};

// One for the process, never destroyed: the driver may end before static objects do.
Driver &driver() {
    static Driver &one = *new Driver;
    return one;
}

// What a launch needs for itself; threads take one and give it back.
struct Slot {
    Handle kernel = nullptr, queue = nullptr, local_queue = nullptr;
    uint32_t assertion[5] = {}, ticket = 0;
};

class Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<Slot>> free;

   public:
    std::unique_ptr<Slot> take() {
        std::lock_guard<std::mutex> guard(mutex);
        if (free.empty()) return nullptr;
        auto slot = std::move(free.back());
        free.pop_back();
        return slot;
    }
    void give(std::unique_ptr<Slot> slot) {
        std::lock_guard<std::mutex> guard(mutex);
        free.push_back(std::move(slot));
    }
};

void require_processor(const Kernel &kernel) {
    const char *lacks = nullptr;
    // arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA): Linux gives tile registers to who asks
    if (kernel.needs & triton_spirv::TILES && syscall(SYS_arch_prctl, 0x1023, 18)) lacks = "amx_tile";
    if (kernel.needs & triton_spirv::AVX2 && !__builtin_cpu_supports("avx2")) lacks = "avx2";
    if (kernel.needs & triton_spirv::AVX512_VNNI && !__builtin_cpu_supports("avx512vnni")) lacks = "avx512_vnni";
    if (kernel.needs & triton_spirv::AVX512_BF16 && !__builtin_cpu_supports("avx512bf16")) lacks = "avx512_bf16";
    if (lacks)
        fail(std::string(kernel.entry) + " was compiled for a processor with " + lacks +
             ", which this one lacks or this process may not use: compile the model on a processor like this one");
}

struct Built {
    Handle kernel = nullptr;
    Pool pool;
    std::atomic<uint64_t> serial{0}, ceiling;  // programs that the calling thread runs; the bound of that
    std::atomic<uint32_t> slow{0};

    explicit Built(const Kernel &from) : ceiling(from.waits ? 1 : MOST_PROGRAMS) {
        require_processor(from);
        const Driver &cl = driver();
        int code;
        Handle program = cl.clCreateProgramWithIL(cl.context, from.words, from.bytes, &code);
        check("clCreateProgramWithIL", code);
        code = cl.clBuildProgram(program, 1, &cl.device, "", nullptr, nullptr);
        if (code) {
            size_t size = 0;
            cl.clGetProgramBuildInfo(program, cl.device, BUILD_LOG, 0, nullptr, &size);
            std::string log(size, ' ');
            cl.clGetProgramBuildInfo(program, cl.device, BUILD_LOG, size, log.data(), nullptr);
            fail(std::string(from.entry) + ": clBuildProgram: OpenCL error " + std::to_string(code) + ": " + log);
        }
        kernel = cl.clCreateKernel(program, from.entry, &code);
        check("clCreateKernel", code);
    }

    std::unique_ptr<Slot> slot() {
        if (auto found = pool.take()) return found;
        const Driver &cl = driver();
        auto made = std::make_unique<Slot>();
        int code;
        made->kernel = cl.clCloneKernel(kernel, &code);
        check("clCloneKernel", code);
        made->queue = cl.queue(0);
        if (!made->queue) fail("clCreateCommandQueueWithProperties failed");
        made->local_queue = cl.queue(IN_CALLING_THREAD);
        return made;
    }
};

Built &built(const Kernel &kernel) {
    static std::mutex &mutex = *new std::mutex;
    static auto &all = *new std::unordered_map<const Kernel *, std::unique_ptr<Built>>;
    std::lock_guard<std::mutex> guard(mutex);
    auto &found = all[&kernel];
    if (!found) found = std::make_unique<Built>(kernel);
    return *found;
}

void raise_assertion(const Kernel &kernel, const uint32_t *words) {
    const uint32_t number = words[0];
    const std::string program = " in program (" + std::to_string(words[1]) + ", " + std::to_string(words[2]) + ", " +
                                std::to_string(words[3]) + ")";
    if (number > kernel.message_count)
        fail(std::string(kernel.entry) + ": device-side assert number " + std::to_string(number) + program);
    const triton_spirv::Message &message = kernel.messages[number - 1];
    fail(message.text + program + (message.of_a_tensor ? ", element " + std::to_string(words[4]) : ""));
}

int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

extern "C" void run_from_nativert(uint32_t x, uint32_t y, uint32_t z, int, void **arguments, void *which) {
    const Kernel &kernel = *static_cast<const Kernel *>(which);
    const uint64_t grid[] = {x, y, z};
    uint64_t programs = 1;
    for (uint64_t size : grid) {
        if (size > MOST_PROGRAMS) fail(std::string(kernel.entry) + ": a grid has at most 2147483647 programs");
        programs *= size;
        if (programs > MOST_PROGRAMS) fail(std::string(kernel.entry) + ": a grid has at most 2147483647 programs");
    }
    if (!programs) return;
    Built &ready = built(kernel);
    const Driver &cl = driver();
    auto slot = ready.slot();

    std::vector<unsigned char> bytes(kernel.struct_size);
    auto put = [&](int64_t offset, const void *from, size_t size) { std::memcpy(bytes.data() + offset, from, size); };
    for (uint32_t at = 0; at < kernel.count; at++) {
        const auto &field = kernel.fields[at];
        void *const *given = arguments + field.argument;
        put(field.offset, field.is_pointer ? static_cast<const void *>(given) : *given, field.size);
    }
    const void *hidden[] = {slot->assertion, &slot->ticket};
    if (kernel.assertion >= 0) put(kernel.assertion, hidden, sizeof *hidden);
    if (kernel.ticket >= 0) put(kernel.ticket, hidden + 1, sizeof *hidden);
    slot->ticket = 0;

    size_t global[3], local[3];
    for (int axis = 0; axis < 3; axis++) {
        local[axis] = kernel.local[axis];
        global[axis] = grid[axis] * local[axis];
    }
    const bool here = slot->local_queue && programs <= ready.serial;
    const Handle queue = here ? slot->local_queue : slot->queue;
    const int64_t start = now();
    if (kernel.struct_size) check("clSetKernelArg", cl.clSetKernelArg(slot->kernel, 0, bytes.size(), bytes.data()));
    check("clEnqueueNDRangeKernel",
          cl.clEnqueueNDRangeKernel(queue, slot->kernel, 3, nullptr, global, local, 0, nullptr, nullptr));
    check("clFinish", cl.clFinish(queue));
    const int64_t taken = now() - start;
    if (here && programs > 1 && taken > LONG) {
        if (++ready.slow > 1) {  // twice: the first may have been interrupted
            ready.serial = programs - 1;
            ready.ceiling = std::max<uint64_t>(programs - 1, 1);
        }
    } else if (here) {
        ready.slow = 0;
    } else if (taken < SHORT && programs <= ready.ceiling && programs > ready.serial) {
        ready.serial = programs;
    }
    if (slot->assertion[0]) {
        uint32_t words[5];
        std::memcpy(words, slot->assertion, sizeof words);
        std::memset(slot->assertion, 0, sizeof words);
        ready.pool.give(std::move(slot));
        raise_assertion(kernel, words);
    }
    ready.pool.give(std::move(slot));
}
