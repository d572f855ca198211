// A host that forks: LAUNCHER KERNEL PROGRAMS THREADS CHILDREN. While so many threads launch a kernel that multiplies,
// it forks children, each of which launches, too. Says "right", or what is wrong.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "host.h"

namespace {

std::atomic<bool> ends{false};

void work(int programs) {
    int32_t n = programs * 64;
    std::vector<float> x(n, 1.5f), out(n);
    void *data[] = {x.data(), out.data()};
    float factor = 2;
    void *given[] = {data[0], data[1], &factor, &n, nullptr};
    try {
        launch(programs, 1, 1, 1, given, kernel);
    } catch (const std::exception &error) {
        end(error.what());
    }
    for (float value : out)
        if (value != 3) end("wrong");
}

void wait(pid_t child) {
    int status = 0;
    for (int look = 0; look < 60000; look++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            if (status) end("a child failed");
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    end("a child hangs");
}

}  // namespace

int main(int, char **arguments) {
    open_libraries(arguments, "scaled_kernel");
    const int programs = std::atoi(arguments[3]);
    std::vector<std::thread> threads(std::atoi(arguments[4]));
    for (auto &thread : threads)
        thread = std::thread([programs] { while (!ends) work(programs); });
    for (int child = 0; child < std::atoi(arguments[5]); child++) {
        if (child != 1) work(programs);
        const pid_t forked = fork();
        if (!forked) {
            for (int size : {programs, 1, 3, programs}) work(size);
            std::thread(work, programs).join();
            std::_Exit(0);
        }
        wait(forked);
    }
    ends = true;
    for (auto &thread : threads) thread.join();
    end("right");
}
