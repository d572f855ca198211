// Has the calling thread's stack room for a kernel, and for the driver? What has none is left to a thread that has.
//
// The driver has private arrays of up to 7.3 MB on the stack of whoever runs the program, and who waits for a queue
// runs programs of other threads' launches, too (triton_spirv/runtime/stacks.py). Its compiler takes some as well.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "forks.h"

namespace {

// Bytes: what a thread needs besides private arrays, of a small stack a half, but not less than LEAST_SPARE; of stacks
// at most; what runs any kernel of the driver's; a helping thread's stack.
constexpr uintptr_t SPARE = 2 << 20, LEAST_SPARE = 256 << 10, MOST_FREE = 64 << 20, ANY_KERNEL = 15 << 19,
                    ROOMY = 16 << 20;
constexpr uint64_t MOST_ON_STACKS = 8 << 20;  // of arrays, by the driver

// The bytes that the calling thread has left of its stack; 0 where this runs on no thread's own, as a coroutine's.
uintptr_t free_stack() {
    static thread_local struct { uintptr_t low, high; bool asked; } stack;
    if (!stack.asked) {
        stack.asked = true;
        pthread_attr_t attributes;
        void *low;
        size_t size;
        if (!pthread_getattr_np(pthread_self(), &attributes)) {
            if (!pthread_attr_getstack(&attributes, &low, &size)) {
                stack.low = reinterpret_cast<uintptr_t>(low);
                stack.high = stack.low + size;
            }
            pthread_attr_destroy(&attributes);
        }
    }
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return here < stack.low || here >= stack.high ? 0 : std::min(here - stack.low, MOST_FREE);
}

// Is there room for private arrays of so many bytes?
bool has_stack(uint64_t arrays) {
    const uintptr_t free = free_stack(), spare = std::max(std::min(SPARE, free / 2), LEAST_SPARE);
    return free >= spare && arrays <= free - spare;
}

// May the driver run any program on this stack?
bool has_stack_for_all() { return free_stack() >= ANY_KERNEL; }

// A thread with a large stack, which waits for work; it never ends.
class Helper {
    std::mutex mutex;
    std::condition_variable changed;
    void (*job)(void *) = nullptr;
    void *given = nullptr;
    std::exception_ptr error;

    static void *loop(void *self) { static_cast<Helper *>(self)->work(); return nullptr; }

    void work() {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return job; });
            try {
                job(given);
            } catch (...) {
                error = std::current_exception();
            }
            job = nullptr;
            changed.notify_all();
        }
    }

   public:
    Helper() {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, ROOMY);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        sigset_t all, before;  // signals are for the program's own threads, but for faults
        sigfillset(&all);
        for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread;
        const int code = pthread_create(&thread, &attributes, loop, this);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        pthread_attr_destroy(&attributes);
        if (code) throw std::runtime_error("triton-spirv: no thread with a stack of 16 MB can be made");
    }

    // Calls a function in that thread; what it throws is thrown here.
    void run(void (*function)(void *), void *with) {
        std::unique_lock<std::mutex> lock(mutex);
        job = function;
        given = with;
        changed.notify_all();
        changed.wait(lock, [this] { return !job; });
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
    }
};

// Calls work() in a thread that has room for any kernel.
template <typename Work>
void elsewhere(Work work) {
    Shared &all = *shared;
    Helper *helper = nullptr;
    {
        std::lock_guard<std::mutex> guard(all.choosing);
        if (!all.helpers.empty()) {
            helper = all.helpers.back();
            all.helpers.pop_back();
        }
    }
    if (!helper) helper = new Helper;
    struct Return {
        Shared &all;
        Helper *helper;
        ~Return() {
            std::lock_guard<std::mutex> guard(all.choosing);
            all.helpers.push_back(helper);
        }
    } back{all, helper};
    helper->run([](void *work) { (*static_cast<Work *>(work))(); }, &work);
}

}  // namespace
