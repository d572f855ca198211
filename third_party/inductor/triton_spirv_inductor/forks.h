// Forks of a process that launches. The child has none of the driver's threads, on which its scheduler counts for ever,
// and what another thread held is held there for good: locks of the driver's, too (triton_spirv/runtime/running_kernels.py).
// So a fork waits for other threads' launches, and a child launches in the calling thread.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace {

constexpr int64_t LONGEST_WAIT = 300000000;  // nanoseconds that a fork waits for launches, as in running_kernels.py

class Helper;

// What threads share of launches; never destroyed. A child has one of its own.
struct Shared {
    std::mutex building;         // held around what is done once for a kernel
    pthread_rwlock_t launching;  // launches read, a fork writes
    std::mutex choosing;
    std::vector<Helper *> helpers;  // that wait for work
    const bool is_child;            // of a process that had launched

    explicit Shared(bool is_child) : is_child(is_child) {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);  // a fork comes next, however busy the others are
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&launching, &attributes);
        pthread_rwlockattr_destroy(&attributes);
    }
};

Shared *shared = new Shared(false);
bool has_waited;  // of a fork under way: have all launches ended?
std::atomic<bool> has_launched{false};

void before_fork() {
    shared->building.lock();
    timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    const int64_t nanoseconds = end.tv_nsec + LONGEST_WAIT;
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    has_waited = !pthread_rwlock_timedwrlock(&shared->launching, &end);
}

void after_fork() {
    if (has_waited) pthread_rwlock_unlock(&shared->launching);
    shared->building.unlock();
}

// To be called before the driver is opened.
void watch_forks() {
    static const int registered = pthread_atfork(before_fork, after_fork, [] { shared = new Shared(has_launched); });
    (void)registered;
}

// Exists during a launch by the driver.
class Launching {
    pthread_rwlock_t *lock = &shared->launching;

   public:
    Launching() {
        pthread_rwlock_rdlock(lock);
        if (!has_launched) has_launched = true;
    }
    ~Launching() { pthread_rwlock_unlock(lock); }
    Launching(const Launching &) = delete;
};

}  // namespace
