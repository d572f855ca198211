// An OpenCL library that stands for Intel's driver of GPUs. Kernels run in a process of its own (process.c); this library
// is what a program loads. It answers for the devices of devices.c, checks each call as a validation layer does, and
// counts what calls cost. What a device of its kind would do rests on Intel's public sources of its driver, or is said
// to be a guess where it is one.
//
// Commands wait until somebody waits for them: a program that reads results too early, or lets go of what a command
// still needs, gets what it deserves each time, not now and then.
#ifndef SIMULATOR_H
#define SIMULATOR_H

#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "channel.h"
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))

// ---- every object begins with the table by which a loader finds functions, and ends as DEAD, never freed, so that
// ---- whoever uses it later is told

enum Kind { DEAD, PLATFORM, DEVICE, CONTEXT, QUEUE, PROGRAM, KERNEL, EVENT, BUFFER };

#define OBJECT                                                                                                      \
    const cl_icd_dispatch *dispatch;                                                                                 \
    enum Kind kind;                                                                                                  \
    unsigned references;

struct Object { OBJECT };

extern cl_icd_dispatch dispatch_table;

void *new_object(enum Kind kind, size_t bytes);
bool is_alive(const void *object, enum Kind kind, const char *function);
bool lose_reference(void *object);  // was it the last one?
#define ALIVE(object, kind) is_alive(object, kind, __func__)

// ---- devices.c

struct Model {
    const char *name, *family;      // as the driver has it; as ocloc has it
    const char *extensions;
    cl_uint id, ip_version;
    cl_uint compute_units;
    size_t sub_group_sizes[4];      // 0 behind the last
    size_t work_group_size;
    cl_ulong shared_bytes, memory_bytes;
    bool doubles, integrated;
    unsigned large_registers;       // threads may have 256
    unsigned tiles;                 // compute_units and memory_bytes are of one
};

struct _cl_platform_id { OBJECT };

enum { MOST_DEVICES = 16 };
// a card, whole or as much of it as there is, or one of its tiles
struct _cl_device_id {
    OBJECT
    const struct Model *model;
    unsigned number, tiles;  // of the card; a bit for each tile
    bool is_tile;
    cl_device_id parent, parts[2];
    unsigned part_count;
};

extern const struct Model *const cards[];
cl_int give(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_to);
#define GIVE(type, value) give(&(type){value}, sizeof(type), room, to, bytes_to)

// ---- tiles.c: which devices there are

struct Listing {
    char *hierarchy, *mask;
    cl_device_id devices[MOST_DEVICES];
    unsigned count;
    struct Listing *next;
};

#define AFFINITY_DOMAINS (CL_DEVICE_AFFINITY_DOMAIN_NUMA | CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE)
const struct Listing *listed(void);
cl_ulong memory_of(cl_device_id device);

// ---- contexts.c

struct _cl_context { OBJECT cl_device_id device; };

struct _cl_command_queue {
    OBJECT
    cl_context context;
    struct Command *first, *last;  // those that have not run
    cl_command_queue_properties properties;
    unsigned number;
    cl_command_queue next;
};

struct _cl_event {
    OBJECT
    cl_context context;
    struct Command *command;  // NULL when it has run
    cl_int status;
    bool profiled;
    cl_ulong times[4];
};

extern cl_command_queue all_queues;
extern unsigned live_events;

// ---- memory.c

enum Placement { ON_DEVICE, ON_HOST, SHARED_USM, COARSE_SVM };

struct Allocation {
    uint64_t address, size;
    enum Placement placement;
    cl_context context;
    bool mapped;
    uint64_t source, source_end;  // the host memory that was copied to it last
    struct Allocation *next;
};

extern struct Allocation *allocations;
struct Allocation *allocation_at(const void *pointer);
bool is_device_address(const void *pointer);
void *in_view(const void *pointer);  // where this process may read and write what is there
bool describe_address(uint64_t address, char *text, size_t room);  // was there something?

// ---- buffers.c

struct _cl_mem {
    OBJECT
    cl_context context;
    cl_mem_flags flags;
    size_t size;
    char *data;
    void *place;    // of its allocation, where it has one
    unsigned maps;  // that were not undone
};

const void *place_of(cl_mem buffer);  // the address by which kernels know it; NULL: there is no room

// ---- spirv.c: what a module says

struct Parameter {
    bool is_pointer, is_written;
    uint32_t bytes;
};

struct Module {
    char name[256];
    uint32_t parameter_count;
    struct Parameter parameters[256];
    uint32_t sub_group_size, local_size[3];
    char refusal[512];  // what the device's compiler would say
};

void read_module(const uint32_t *words, size_t count, const struct Model *model, struct Module *module);

// ---- matrix.c: the same module for the CPU driver, and OpenCL C that is linked with it

uint32_t *without_matrix_unit(const uint32_t *words, size_t *count);
const char *matrix_library(void);

// ---- programs.c

struct _cl_program {
    OBJECT
    cl_context context;
    uint32_t *words;
    size_t word_count;
    char *options, *log;
    struct Module module;
    uint32_t number;
    cl_ulong shared_bytes;
    cl_build_status status;
};

struct Value {
    bool is_set, is_pointer;
    uint32_t bytes;
    unsigned char *data;
};

struct _cl_kernel {
    OBJECT
    cl_program program;
    struct Value values[256];
    void **announced;
    size_t announced_count;
    bool indirect[3];  // ON_DEVICE, ON_HOST, SHARED_USM
};

bool large_buffers(cl_program program);

// ---- commands.c

enum Task { RUN_KERNEL, COPY, FILL, MARK };

struct Command {
    enum Task task;
    cl_command_queue queue;
    struct Command *next;
    cl_event event;  // the command's own reference, for times and status
    cl_uint wait_count;
    cl_event *waits;
    // a kernel
    cl_program program;
    char *request;  // the message to the process
    size_t request_bytes;
    uint64_t *touched;   // addresses of allocations; of those that it writes, plus 1
    size_t touched_count;
    // a copy or a fill
    void *target;
    const void *source;
    size_t bytes, pattern_bytes;
    unsigned char pattern[128];
};

cl_int run_queue(cl_command_queue queue, const struct Command *up_to);
cl_int wait_for(cl_event event);
bool is_in_use(const struct Allocation *allocation);

// ---- process.c's other end: link.c

cl_int start_process(void);
struct Reply ask(const struct Request *request, const void *data, char **text);
extern bool device_lost;
extern char *device_view;

// ---- report.c

void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define COUNTERS(C)                                                                                                 \
    C(copies_to_device) C(copies_from_device) C(copies_on_device) C(bytes_to_device) C(bytes_from_device)            \
    C(allocations_made) C(allocations_freed) C(launches) C(waits) C(builds)
#define FIELD(name) uint64_t name;
extern struct Counts { COUNTERS(FIELD) } counts;

// one call at a time: the lock of the library is held from the first line of a function to its end
void enter(void);
void leave(int *unused);
#define ENTER                                                                                                       \
    enter();                                                                                                         \
    __attribute__((cleanup(leave), unused)) int until_the_end;

#endif
