// Forks of a process that launches. The child has none of the driver's threads, on which its scheduler counts for ever,
// and what another thread held is held there for good: locks of the driver's, too (triton_spirv/runtime/running_kernels.py).
// So a fork waits for other threads' launches, and a child launches in the calling thread.
#pragma once

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

// As in running_kernels.py: nanoseconds that a fork waits for launches; so many looks, 0.1 ms apart, are for the
// driver's threads to fall asleep.
constexpr int64_t LONGEST_WAIT = 300000000;
constexpr int LOOKS_FOR_SLEEP = 100;

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

// Do all other threads sleep, as far as Linux tells? The driver's have no name that tells them from others.
bool others_sleep() {
    const auto thread = std::to_string(syscall(SYS_gettid));
    const std::unique_ptr<DIR, int (*)(DIR *)> threads(opendir("/proc/self/task"), closedir);
    while (const dirent *entry = threads ? readdir(threads.get()) : nullptr) {
        if (entry->d_name[0] == '.' || entry->d_name == thread) continue;
        std::string line;
        std::getline(std::ifstream(std::string("/proc/self/task/") + entry->d_name + "/stat"), line);
        const auto name_ends = line.rfind(") ");
        if (name_ends != line.npos && line[name_ends + 2] == 'R') return false;
    }
    return true;
}

void before_fork() {
    shared->building.lock();
    timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    const int64_t nanoseconds = end.tv_nsec + LONGEST_WAIT;
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    has_waited = !pthread_rwlock_timedwrlock(&shared->launching, &end);
    // when started, and after a launch, they look for work for a millisecond, with a lock in their hands at times
    for (int look = 0; look < LOOKS_FOR_SLEEP && !others_sleep(); look++) usleep(100);
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
