// What was wrong, what calls cost, and the lock.
#include "simulator.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void enter(void) { pthread_mutex_lock(&lock); }
void leave(int *unused) { (void)unused; pthread_mutex_unlock(&lock); }

static char text[1 << 16];
static size_t used;

void violation(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof text - used, before = used;
    if (room > 2) {
        int count = vsnprintf(text + used, room - 1, format, arguments);
        used += count < 0 ? 0 : (size_t)count < room - 2 ? (size_t)count : room - 2;
        text[used++] = '\n';
    }
    va_end(arguments);
    if (getenv("SIMULATED_GPU_SPEAKS")) fprintf(stderr, "simulated GPU: %.*s", (int)(used - before), text + before);
    const char *path = getenv("SIMULATED_GPU_LOG");  // where tests look for what all their processes did
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) fprintf(log, "%.*s", (int)(used - before), text + before), fclose(log);
}

struct Counts counts;

// ---- for tests

// What was wrong since the last call, a line each
VISIBLE size_t simulator_violations(char *to, size_t room) {
    ENTER;
    size_t bytes = used < room ? used : room;
    memcpy(to, text, bytes);
    used = 0;
    return bytes;
}

VISIBLE uint64_t simulator_count(const char *name) {
    ENTER;
#define COMPARE(field) if (!strcmp(name, #field)) return counts.field;
    COUNTERS(COMPARE)
    if (!strcmp(name, "live_events")) return live_events;
    if (!strcmp(name, "live_allocations") || !strcmp(name, "live_bytes")) {
        uint64_t number = 0, bytes = 0;
        for (struct Allocation *one = allocations; one; one = one->next) number++, bytes += one->size;
        return name[5] == 'a' ? number : bytes;
    }
    return UINT64_MAX;
}
