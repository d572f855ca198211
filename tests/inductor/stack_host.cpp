// A host of a kernel that sums a tile down and then along: LAUNCHER KERNEL ROWS PROGRAMS THREADS KILOBYTES. So many
// threads, with stacks of so many kilobytes, launch it at once; 0: the main thread does. Says "right", or what is wrong.
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <vector>

#include "host.h"

namespace {

constexpr int COLUMNS = 1024;
int rows, programs;

void *work(void *) {
    std::vector<float> x(rows * COLUMNS, 1.f), out(rows * COLUMNS);
    void *data[] = {x.data(), out.data()};
    for (int32_t really : {0, 1, 0, 1, 1}) {
        std::fill(out.begin(), out.end(), 0.f);
        void *given[] = {data[0], data[1], &really, nullptr, nullptr};
        try {
            launch(programs, 1, 1, 1, given, kernel);
        } catch (const std::exception &error) {
            end(error.what());
        }
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < COLUMNS; column++)
                if (out[row * COLUMNS + column] != (really ? (row + 1.f) * (column + 2.f) : 0.f)) end("wrong");
    }
    return nullptr;
}

}  // namespace

int main(int, char **arguments) {
    open_libraries(arguments, "sums_kernel");
    rows = std::atoi(arguments[3]);
    programs = std::atoi(arguments[4]);
    std::vector<pthread_t> threads(std::atoi(arguments[5]));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (!threads.empty() && pthread_attr_setstacksize(&attributes, std::atoi(arguments[6]) << 10)) end("no such stack");
    if (threads.empty()) work(nullptr);
    for (auto &thread : threads)
        if (pthread_create(&thread, &attributes, work, nullptr)) end("no thread");
    for (auto &thread : threads) pthread_join(thread, nullptr);
    end("right");
}
