// Launches kernels through Intel's OpenCL CPU driver, for C++ that AOTInductor or cpp_wrapper has written. Launches
// that are known to be short call the kernel's programs in the calling thread instead (programs.h).
//
// In front of this file cpp_wrapper.py writes what programs are tried out with: probe_words, probe_function.
//
// torch calls run_from_nativert(grid, threads, arguments, kernel); what goes wrong is a C++ exception, which torch's
// code makes one of Python. The types and numbers of OpenCL are those of its specification; no header of it is needed.

#include <dlfcn.h>

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

#include "forks.h"
#include "kernel.h"
#include "processor.h"
#include "programs.h"
#include "stacks.h"

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
            tell(path);
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
    FUNCTION(clReleaseProgram, Handle);
    MAKER(clCreateContext, const intptr_t *, uint32_t, const Handle *, void *, void *);
    MAKER(clCreateCommandQueueWithProperties, Handle, Handle, const uint64_t *);
    MAKER(clCreateProgramWithIL, Handle, const void *, size_t);
    MAKER(clCreateKernel, Handle, const char *);
    MAKER(clCloneKernel, Handle);
#undef FUNCTION
#undef MAKER
    Handle device = nullptr, platform = nullptr, context = nullptr;

    Driver() {
        uint32_t count = 0;
        Handle platforms[16];
        check("clGetPlatformIDs", clGetPlatformIDs(16, platforms, &count));
        for (uint32_t at = 0; at < count && at < 16 && !device; at++)
            if (clGetDeviceIDs(platform = platforms[at], CPU, 1, &device, nullptr)) device = nullptr;
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

    // Where a function of a program begins; null where the driver does not tell.
    Program address(Handle program, const char *name) const {
        auto extension = reinterpret_cast<void *(*)(Handle, const char *)>(
            dlsym(library.handle, "clGetExtensionFunctionAddressForPlatform"));
        auto ask = extension ? reinterpret_cast<int (*)(Handle, Handle, const char *, uint64_t *)>(
            extension(platform, "clGetDeviceFunctionPointerINTEL")) : nullptr;
        uint64_t found = 0;
        return ask && !ask(device, program, name, &found) ? reinterpret_cast<Program>(found) : nullptr;
    }

    // Can this driver's functions be called? It promises an address, but not how arguments are passed.
    bool has_functions() const {
        int code;
        const Handle program = clCreateProgramWithIL(context, probe_words, sizeof probe_words, &code);
        if (code) return false;
        const Program probe = clBuildProgram(program, 1, &device, "", nullptr, nullptr) ? nullptr
                                                                                        : address(program, probe_function);
        const bool found = probe && takes_arguments(probe);
        clReleaseProgram(program);
        return found;
    }
};

// One for the process, never destroyed: the driver may end before static objects do.
Driver &driver() {
    static Driver &one = *new Driver;
    return one;
}

// Asked once in a process.
bool has_functions() {
    static const bool found = driver().has_functions();
    return found;
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
    if (const char *lacks = lacking(kernel.needs))
        fail(std::string(kernel.entry) + " was compiled for a processor with " + lacks +
             ", which this one lacks or this process may not use: compile the model on a processor like this one");
}

struct Built {
    Handle kernel = nullptr;
    Pool pool;
    std::atomic<uint64_t> serial{0}, ceiling;  // programs that the calling thread runs; the bound of that
    std::atomic<uint32_t> slow{0};
    Program program = nullptr;  // null: the driver makes all launches
    uint64_t private_bytes = MOST_ON_STACKS;  // of kernels of older packages nobody knows
    const bool waits;

    explicit Built(const Kernel &from) : ceiling(from.waits ? 1 : MOST_PROGRAMS), waits(from.waits) {
        const Driver &cl = driver();  // first: it may be told what to compile for
        require_processor(from);
        const bool has_fields = from.needs & triton_spirv::STACK;
        const bool is_called = has_fields && from.program && calls_are_on() && has_functions();
        int code;
        const Handle built = cl.clCreateProgramWithIL(cl.context, from.words, from.bytes, &code);
        check("clCreateProgramWithIL", code);
        code = cl.clBuildProgram(built, 1, &cl.device, "", nullptr, nullptr);
        if (code) {
            size_t size = 0;
            cl.clGetProgramBuildInfo(built, cl.device, BUILD_LOG, 0, nullptr, &size);
            std::string log(size, ' ');
            cl.clGetProgramBuildInfo(built, cl.device, BUILD_LOG, size, log.data(), nullptr);
            fail(std::string(from.entry) + ": clBuildProgram: OpenCL error " + std::to_string(code) + ": " + log);
        }
        kernel = cl.clCreateKernel(built, from.entry, &code);
        check("clCreateKernel", code);
        if (has_fields) private_bytes = from.private_bytes;
        if (is_called) program = cl.address(built, from.program);
    }

    // Is the calling thread to run a launch? One program is no matter of pace: no other thread could help.
    bool is_serial(uint64_t programs) const { return programs == 1 || programs <= serial || shared->is_child; }

    // May it call the programs?
    bool is_called(uint64_t programs) const {
        return program && is_serial(programs) && (programs == 1 || !waits) && has_stack(private_bytes);
    }

    // May it be given to the driver in this thread? To a queue for the calling thread, or one that others wait for.
    bool is_launched(uint64_t programs) const {
        return has_stack_for_all() ||
               (is_serial(programs) && has_stack(std::min(private_bytes, MOST_ON_STACKS)));
    }

    // A launch of so many programs took so many nanoseconds, in the calling thread or by the driver's.
    void took(uint64_t programs, int64_t nanoseconds, bool here) {
        if (!here) {
            if (nanoseconds < SHORT && programs <= ceiling && programs > serial) serial = programs;
        } else if (programs == 1 || nanoseconds <= LONG) {
            if (slow) slow = 0;
        } else if (++slow > 1) {  // twice: the first may have been interrupted
            serial = programs - 1;
            ceiling = programs - 1;
        }
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

Built &made(const Kernel &kernel) {
    static auto &all = *new std::unordered_map<const Kernel *, std::unique_ptr<Built>>;
    watch_forks();
    std::lock_guard<std::mutex> guard(shared->building);
    auto &found = all[&kernel];
    if (!found) found = std::make_unique<Built>(kernel);
    return *found;
}

// Each thread remembers some kernels: what all threads share is behind a lock.
Built &built(const Kernel &kernel) {
    static thread_local struct { const Kernel *kernel; Built *built; } known[64];
    auto &entry = known[reinterpret_cast<uintptr_t>(&kernel) * 0x9e3779b97f4a7c15 >> 58];
    if (entry.kernel != &kernel) {
        Built *found = nullptr;
        const auto make = [&] { found = &made(kernel); };
        if (has_stack_for_all())
            make();
        else
            elsewhere(make);
        entry = {&kernel, found};
    }
    return *entry.built;
}

// The kernel's argument: the caller's numbers and addresses, and the kernel's hidden ones.
class Arguments {
    alignas(64) unsigned char few[1024];
    std::vector<unsigned char> many;

   public:
    unsigned char *bytes = few;

    Arguments(const Kernel &kernel, void *const *given, const uint32_t *assertion, uint32_t *ticket) {
        if (kernel.struct_size > sizeof few) {
            many.resize(kernel.struct_size);
            bytes = many.data();
        }
        for (uint32_t at = 0; at < kernel.count; at++) {
            const auto &field = kernel.fields[at];
            const void *from = field.is_pointer ? static_cast<const void *>(given + field.argument) : given[field.argument];
            std::memcpy(bytes + field.offset, from, field.size);
        }
        if (kernel.assertion >= 0) std::memcpy(bytes + kernel.assertion, &assertion, sizeof assertion);
        if (kernel.ticket >= 0) std::memcpy(bytes + kernel.ticket, &ticket, sizeof ticket);
        *ticket = 0;
    }
};

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

void launch(const Kernel &kernel, Built &ready, const uint32_t (&grid)[3], uint64_t programs, void *const *given) {
    const Driver &cl = driver();
    const Launching launching;
    auto slot = ready.slot();
    if (shared->is_child && (!slot->local_queue || (kernel.waits && programs > 1)))
        fail(std::string(kernel.entry) + ": this process was forked after kernels had been launched, and it lacks the "
             "driver's threads, which this launch needs: fork earlier");
    const Arguments arguments(kernel, given, slot->assertion, &slot->ticket);
    size_t global[3], local[3];
    for (int axis = 0; axis < 3; axis++) {
        local[axis] = kernel.local[axis];
        global[axis] = grid[axis] * local[axis];
    }
    const bool here = slot->local_queue && ready.is_serial(programs);
    const Handle queue = here ? slot->local_queue : slot->queue;
    const int64_t start = now();
    if (kernel.struct_size)
        check("clSetKernelArg", cl.clSetKernelArg(slot->kernel, 0, kernel.struct_size, arguments.bytes));
    check("clEnqueueNDRangeKernel",
          cl.clEnqueueNDRangeKernel(queue, slot->kernel, 3, nullptr, global, local, 0, nullptr, nullptr));
    check("clFinish", cl.clFinish(queue));
    ready.took(programs, now() - start, here);
    uint32_t words[5];
    std::memcpy(words, slot->assertion, sizeof words);
    if (words[0]) std::memset(slot->assertion, 0, sizeof words);
    ready.pool.give(std::move(slot));
    if (words[0]) raise_assertion(kernel, words);
}

void call(const Kernel &kernel, Built &ready, const uint32_t (&grid)[3], uint64_t programs, void *const *given) {
    uint32_t assertion[5] = {}, ticket;
    const Arguments arguments(kernel, given, assertion, &ticket);
    const int64_t start = now();
    call(ready.program, arguments.bytes, grid);
    ready.took(programs, now() - start, true);
    if (assertion[0]) raise_assertion(kernel, assertion);
}

}  // namespace

extern "C" void run_from_nativert(uint32_t x, uint32_t y, uint32_t z, int, void **arguments, void *which) {
    const Kernel &kernel = *static_cast<const Kernel *>(which);
    const uint32_t grid[] = {x, y, z};
    uint64_t programs = 1;
    for (uint64_t size : grid) {
        if (size > MOST_PROGRAMS) fail(std::string(kernel.entry) + ": a grid has at most 2147483647 programs");
        programs *= size;
        if (programs > MOST_PROGRAMS) fail(std::string(kernel.entry) + ": a grid has at most 2147483647 programs");
    }
    if (!programs) return;
    Built &ready = built(kernel);
    if (ready.is_called(programs))
        call(kernel, ready, grid, programs, arguments);
    else if (ready.is_launched(programs))
        launch(kernel, ready, grid, programs, arguments);
    else
        elsewhere([&] { launch(kernel, ready, grid, programs, arguments); });
}
