// The library's end of the channel: starts the process, sends requests, takes replies.
#include "simulator.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;
bool device_lost;
char *device_view;
static int connection = -1;
static pid_t owner;

// Reserves the device's addresses here, where nobody may touch them, and makes the second view for copies.
static int share_memory(void) {
    int memory = memfd_create("simulated-gpu", 0);
    if (memory < 0 || ftruncate(memory, DEVICE_BYTES)) return -1;
    void *range = mmap((void *)DEVICE_BASE, DEVICE_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    void *view = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (range != (void *)DEVICE_BASE || view == MAP_FAILED) return -1;
    device_view = view;
    return memory;
}

int device_memory = -1;

cl_int start_process(void) {
    if (connection >= 0) return device_lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    int sockets[2];
    Dl_info here;
    char path[PATH_MAX], numbers[2][16];
    if (device_memory < 0 && (device_memory = share_memory()) < 0) return CL_OUT_OF_HOST_MEMORY;
    if (!dladdr((void *)start_process, &here) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return CL_OUT_OF_RESOURCES;
    snprintf(path, sizeof path, "%s", here.dli_fname);
    snprintf(strrchr(path, '/'), 16, "/process");
    fcntl(sockets[1], F_SETFD, 0);
    snprintf(numbers[0], 16, "%d", sockets[1]);
    snprintf(numbers[1], 16, "%d", device_memory);
    char *words[] = {path, numbers[0], numbers[1], DRIVER, NULL};
    pid_t child;
    if (posix_spawn(&child, path, NULL, NULL, words, environ)) return CL_OUT_OF_RESOURCES;
    close(sockets[1]);
    fcntl(device_memory, F_SETFD, FD_CLOEXEC);
    connection = sockets[0], owner = getpid();
    return CL_SUCCESS;
}

static bool transfer(void *data, size_t bytes, bool sending) {
    for (char *at = data; bytes;) {
        ssize_t count = sending ? send(connection, at, bytes, MSG_NOSIGNAL) : recv(connection, at, bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count, bytes -= (size_t)count;
    }
    return true;
}

// text: where to put what follows the reply, to be freed; NULL: it is dropped
struct Reply ask(const struct Request *request, const void *data, char **text) {
    struct Reply reply = {.status = CL_OUT_OF_RESOURCES}, lost = reply;
    if (text) *text = NULL;
    if (getpid() != owner) {
        violation("a process that was forked uses the GPU of its parent: Intel's driver does not know the child");
        return reply;
    }
    if (device_lost || !transfer((void *)request, sizeof *request, true) ||
        !transfer((void *)data, request->bytes, true) || !transfer(&reply, sizeof reply, false)) {
        if (!device_lost) violation("the simulated device's process has ended");
        device_lost = true;
        return lost;
    }
    char *buffer = malloc(reply.bytes + 1);
    transfer(buffer, reply.bytes, false);
    buffer[reply.bytes] = 0;
    if (text) *text = buffer; else free(buffer);
    if (reply.status == FAULTED) device_lost = true;
    return reply;
}
