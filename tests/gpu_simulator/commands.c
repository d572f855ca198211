// Commands: checked and kept when they are enqueued, run when somebody waits for them.
#include "simulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static cl_ulong now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (cl_ulong)time.tv_sec * 1000000000ull + (cl_ulong)time.tv_nsec;
}

// ---- running

// Host memory that a copy reads or writes may be gone by now; then this process shall not fault, but be told.
static bool moved(void *target, const void *source, size_t bytes) {
    struct iovec to = {in_view(target), bytes}, from = {in_view(source), bytes};
    if (is_device_address(target) && is_device_address(source)) return memmove(to.iov_base, from.iov_base, bytes);
    ssize_t count = is_device_address(source) ? process_vm_writev(getpid(), &from, 1, &to, 1, 0)
                                              : process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    // one call moves 2 GB at most
    if (count > 0 && (size_t)count < bytes) return moved((char *)target + count, (const char *)source + count, bytes - (size_t)count);
    return count == (ssize_t)bytes;
}

static cl_int launched(struct Command *command) {
    struct Reply reply = ask((struct Request *)command->request, command->request + sizeof(struct Request), NULL);
    if (reply.status == FAULTED) {
        char what[160];
        describe_address(reply.value, what, sizeof what);
        violation("%s: the kernel faults (signal %u) at %#llx, %s", command->program->module.name, reply.number,
                  (unsigned long long)reply.value, what);
        return CL_OUT_OF_RESOURCES;
    }
    if (reply.status) violation("%s: the launch failed: %d", command->program->module.name, reply.status);
    return reply.status;
}

static cl_int run(struct Command *command) {
    switch (command->task) {
    case RUN_KERNEL: return launched(command);
    case COPY:
        if (moved(command->target, command->source, command->bytes)) return CL_SUCCESS;
        violation("a copy of %zu bytes from %p to %p: the host's memory is not there any more", command->bytes,
                  command->source, command->target);
        return CL_OUT_OF_RESOURCES;
    case FILL:
        for (size_t i = 0; i < command->bytes; i += command->pattern_bytes)
            memcpy((char *)in_view(command->target) + i, command->pattern, command->pattern_bytes);
        return CL_SUCCESS;
    case MARK: return CL_SUCCESS;
    }
    return CL_INVALID_OPERATION;
}

// up to a command, or all
cl_int run_queue(cl_command_queue queue, const struct Command *up_to) {
    cl_int first_error = CL_SUCCESS;
    for (struct Command *command = queue->first; command; command = queue->first) {
        for (cl_uint i = 0; i < command->wait_count; i++) wait_for(command->waits[i]);
        command->event->times[1] = command->event->times[2] = now();
        cl_int code = run(command);
        command->event->times[3] = now();
        command->event->status = code ? code : CL_COMPLETE, command->event->command = NULL;
        if (!first_error) first_error = code;
        queue->first = command->next;
        if (!queue->first) queue->last = NULL;
        for (cl_uint i = 0; i < command->wait_count; i++) clReleaseEvent(command->waits[i]);
        clReleaseEvent(command->event);
        if (command->program) clReleaseProgram(command->program);
        bool done = command == up_to;
        free(command->waits), free(command->request), free(command->touched), free(command);
        if (done) break;
    }
    return first_error;
}

cl_int wait_for(cl_event event) {
    return event->command ? run_queue(event->command->queue, event->command) : CL_SUCCESS;
}

// ---- order

// Was the one command waited for by what the other waits for? In its own queue all earlier ones are.
static bool comes_before(const struct Command *early, const struct Command *late) {
    for (cl_uint i = 0; i < late->wait_count; i++) {
        const struct Command *waited = late->waits[i]->command;
        if (!waited) continue;
        if (waited == early || comes_before(early, waited)) return true;
        bool in_order = !(waited->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        for (const struct Command *one = waited->queue->first; in_order && one && one != waited; one = one->next)
            if (one == early) return true;
    }
    return false;
}

static void check_pair(const struct Command *early, const struct Command *late) {
    for (size_t i = 0; i < early->touched_count; i++)
        for (size_t j = 0; j < late->touched_count; j++) {
            uint64_t one = early->touched[i], other = late->touched[j];
            if (one >> 1 == other >> 1 && (one | other) & 1) {
                violation("two commands use the allocation at %#llx, one of them writes, and nothing orders them: "
                          "queues %u and %u", (unsigned long long)(one & ~1ull), early->queue->number, late->queue->number);
                return;
            }
        }
}

static void check_order(const struct Command *late) {
    bool in_order = !(late->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (cl_command_queue queue = all_queues; queue; queue = queue->next)
        for (const struct Command *early = queue->first; early; early = early->next)
            if (!(queue == late->queue && in_order) && !comes_before(early, late)) check_pair(early, late);
}

bool is_in_use(const struct Allocation *allocation) {
    for (cl_command_queue queue = all_queues; queue; queue = queue->next)
        for (const struct Command *one = queue->first; one; one = one->next)
            for (size_t i = 0; i < one->touched_count; i++)
                if ((one->touched[i] & ~1ull) == allocation->address) return true;
    return false;
}

static void touch(struct Command *command, const struct Allocation *allocation, bool writes) {
    command->touched = realloc(command->touched, (command->touched_count + 1) * sizeof *command->touched);
    command->touched[command->touched_count++] = allocation->address | writes;
}

// ---- enqueuing

static cl_int enqueue(struct Command *command, cl_command_queue queue, cl_uint count, const cl_event *waits,
                      cl_event *event, bool blocking) {
    for (cl_uint i = 0; i < count; i++)
        if (!ALIVE(waits[i], EVENT)) return CL_INVALID_EVENT_WAIT_LIST;
    command->queue = queue, command->wait_count = count, command->waits = malloc(count * sizeof *waits + 1);
    for (cl_uint i = 0; i < count; i++) command->waits[i] = waits[i], waits[i]->references++;
    cl_event own = command->event = new_object(EVENT, sizeof *own);
    live_events++;
    own->context = queue->context, own->command = command, own->times[0] = now();
    own->profiled = queue->properties & CL_QUEUE_PROFILING_ENABLE;
    if (event) own->references++, *event = own;
    check_order(command);
    if (queue->last) queue->last->next = command; else queue->first = command;
    queue->last = command;
    return blocking ? (counts.waits++, run_queue(queue, command)) : CL_SUCCESS;
}

static cl_int queue_problem(cl_command_queue queue, cl_uint count, const cl_event *waits) {
    if (!ALIVE(queue, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!count != !waits) return CL_INVALID_EVENT_WAIT_LIST;
    return device_lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static struct Command *new_command(enum Task task) {
    struct Command *command = calloc(1, sizeof *command);
    command->task = task;
    return command;
}

// One end of a copy: is it memory of the device that is there as far as the copy goes, or the host's?
static bool check_end(struct Command *command, const void *pointer, size_t bytes, bool writes, const char *function) {
    if (!is_device_address(pointer)) return true;
    struct Allocation *one = allocation_at(pointer);
    char what[160];
    if (!one) {
        describe_address((uint64_t)pointer, what, sizeof what);
        violation("%s: %p is %s", function, pointer, what);
        return false;
    }
    if (one->context != command->queue->context) {
        violation("%s: %p belongs to another context", function, pointer);
        return false;
    }
    if ((uint64_t)pointer + bytes > one->address + one->size) {
        violation("%s: %zu bytes at %p go beyond the allocation of %llu bytes", function, bytes, pointer,
                  (unsigned long long)one->size);
        return false;
    }
    touch(command, one, writes);
    return true;
}

VISIBLE cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *target, const void *source,
                                  size_t bytes, cl_uint count, const cl_event *waits, cl_event *event) {
    ENTER;
    cl_int code = queue_problem(queue, count, waits);
    if (code) return code;
    if (!target || !source) return CL_INVALID_VALUE;
    struct Command *command = new_command(COPY);
    command->queue = queue, command->target = target, command->source = source, command->bytes = bytes;
    if (!check_end(command, target, bytes, true, __func__) || !check_end(command, source, bytes, false, __func__))
        return CL_INVALID_VALUE;
    bool to_device = is_device_address(target), from_device = is_device_address(source);
    struct Allocation *reached = allocation_at(target);
    if (reached) reached->source = reached->source_end = 0;
    if (reached && !from_device) reached->source = (uint64_t)source, reached->source_end = (uint64_t)source + bytes;
    if (to_device && from_device) counts.copies_on_device++;
    else if (to_device) counts.copies_to_device++, counts.bytes_to_device += bytes;
    else if (from_device) counts.copies_from_device++, counts.bytes_from_device += bytes;
    return enqueue(command, queue, count, waits, event, blocking);
}

VISIBLE cl_int clEnqueueMemcpyINTEL(cl_command_queue queue, cl_bool blocking, void *target, const void *source,
                                    size_t bytes, cl_uint count, const cl_event *waits, cl_event *event) {
    return clEnqueueSVMMemcpy(queue, blocking, target, source, bytes, count, waits, event);
}

VISIBLE cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *target, const void *pattern, size_t pattern_bytes,
                                   size_t bytes, cl_uint count, const cl_event *waits, cl_event *event) {
    ENTER;
    cl_int code = queue_problem(queue, count, waits);
    if (code) return code;
    if (!pattern_bytes || pattern_bytes > 128 || pattern_bytes & (pattern_bytes - 1) || bytes % pattern_bytes ||
        (uint64_t)target % pattern_bytes) {
        violation("%s: %zu bytes at %p with a pattern of %zu", __func__, bytes, target, pattern_bytes);
        return CL_INVALID_VALUE;
    }
    struct Command *command = new_command(FILL);
    command->queue = queue, command->target = target, command->bytes = bytes, command->pattern_bytes = pattern_bytes;
    memcpy(command->pattern, pattern, pattern_bytes);
    if (!is_device_address(target) || !check_end(command, target, bytes, true, __func__)) return CL_INVALID_VALUE;
    return enqueue(command, queue, count, waits, event, false);
}

VISIBLE cl_int clEnqueueMemFillINTEL(cl_command_queue queue, void *target, const void *pattern, size_t pattern_bytes,
                                     size_t bytes, cl_uint count, const cl_event *waits, cl_event *event) {
    return clEnqueueSVMMemFill(queue, target, pattern, pattern_bytes, bytes, count, waits, event);
}

VISIBLE cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *waits,
                                            cl_event *event) {
    ENTER;
    cl_int code = queue_problem(queue, count, waits);
    return code ? code : enqueue(new_command(MARK), queue, count, waits, event, false);
}

VISIBLE cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *waits,
                                           cl_event *event) {
    return clEnqueueBarrierWithWaitList(queue, count, waits, event);
}

// ---- kernels

// Copies of one memory of the host, of which each is written or read alone. Of shared virtual memory only, which stands
// for the host's during a launch; arrays of unified shared memory may be made of one buffer after another.
static void check_copies(const struct Command *command) {
    for (size_t i = 0; i < command->touched_count; i++)
        for (size_t j = 0; j < i; j++) {
            struct Allocation *one = allocation_at((void *)(command->touched[i] & ~1ull));
            struct Allocation *other = allocation_at((void *)(command->touched[j] & ~1ull));
            if (one->placement != COARSE_SVM || other->placement != COARSE_SVM) continue;
            if (one == other || one->source >= other->source_end || other->source >= one->source_end ||
                !((command->touched[i] | command->touched[j]) & 1)) continue;
            violation("%s: two of its allocations are copies of overlapping memory of the host, at %#llx and %#llx",
                      command->program->module.name, (unsigned long long)one->source, (unsigned long long)other->source);
            return;
        }
}

// What a launch makes resident: the allocations of its arguments and those that were announced
static void check_memory(cl_kernel kernel, struct Command *command) {
    const struct Module *module = &kernel->program->module;
    char what[160];
    for (uint32_t i = 0; i < module->parameter_count; i++) {
        if (!module->parameters[i].is_pointer || !kernel->values[i].is_set) continue;
        uint64_t address = *(uint64_t *)kernel->values[i].data;
        if (!address) continue;
        struct Allocation *one = allocation_at((void *)address);
        if (!one) one = allocation_at((void *)(address - 1));  // the end of one, where nothing may be accessed
        if (!one) {
            describe_address(address, what, sizeof what);
            violation("%s, argument %u: %#llx is %s", module->name, i, (unsigned long long)address, what);
            continue;
        }
        if (one->context != kernel->program->context) {
            violation("%s, argument %u: %#llx belongs to another context", module->name, i, (unsigned long long)address);
            continue;
        }
        if (one->mapped) violation("%s, argument %u: its memory is mapped by the host", module->name, i);
        if (one->size > 4ull << 30 && !large_buffers(kernel->program))
            violation("%s, argument %u: %llu bytes, and the kernel was not built with "
                      "-cl-intel-greater-than-4GB-buffer-required", module->name, i, (unsigned long long)one->size);
        touch(command, one, module->parameters[i].is_written);
    }
    for (size_t i = 0; i < kernel->announced_count; i++) {
        struct Allocation *one = allocation_at(kernel->announced[i]);
        if (one) touch(command, one, true);
        else violation("%s: the allocation at %p is announced to the launch and has been freed", module->name,
                       kernel->announced[i]);
    }
    for (struct Allocation *one = allocations; one; one = one->next)
        if (one->context == kernel->program->context && one->placement != COARSE_SVM && kernel->indirect[one->placement])
            touch(command, one, true);
    check_copies(command);
}

static void append(struct Command *command, const void *data, size_t bytes) {
    command->request = realloc(command->request, command->request_bytes + PADDED(bytes));
    memset(command->request + command->request_bytes, 0, PADDED(bytes));
    if (bytes) memcpy(command->request + command->request_bytes, data, bytes);
    command->request_bytes += PADDED(bytes);
}

// The message that lets the process run it: sizes are in its head already
static void write_request(cl_kernel kernel, struct Command *command, struct Request *head) {
    const struct Module *module = &kernel->program->module;
    append(command, head, sizeof *head);
    append(command, module->name, strlen(module->name) + 1);
    for (uint32_t i = 0; i < module->parameter_count; i++) {
        const struct Value *value = &kernel->values[i];
        struct Argument argument = {value->is_pointer, value->bytes};
        append(command, &argument, sizeof argument);
        append(command, value->data, value->bytes);
    }
    for (size_t i = 0; i < command->touched_count; i++) {
        struct Allocation *one = allocation_at((void *)(command->touched[i] & ~1ull));
        struct Range range = {one->address, (one->size + PAGE - 1) / PAGE * PAGE};
        append(command, &range, sizeof range);
    }
    struct Request *request = (void *)command->request;
    request->size = command->touched_count, request->bytes = command->request_bytes - sizeof *request;
}

static cl_int launch_problem(cl_kernel kernel, const struct Request *head) {
    const struct Module *module = &kernel->program->module;
    const struct Model *model = kernel->program->context->device->model;
    for (uint32_t i = 0; i < module->parameter_count; i++)
        if (!kernel->values[i].is_set) {
            violation("%s: argument %u has not been set", module->name, i);
            return CL_INVALID_KERNEL_ARGS;
        }
    uint64_t items = head->local[0] * head->local[1] * head->local[2], most = model->work_group_size;
    if (strstr(kernel->program->options, "256-GRF")) most /= 2;
    if (items > most) {
        violation("%s: a work-group of %llu, %s has %llu", module->name, (unsigned long long)items, model->name,
                  (unsigned long long)most);
        return CL_INVALID_WORK_GROUP_SIZE;
    }
    for (int i = 0; i < 3; i++) {
        if (module->local_size[0] && head->local[i] != module->local_size[i]) return CL_INVALID_WORK_GROUP_SIZE;
        if (!head->local[i] || head->global[i] % head->local[i]) return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (kernel->program->shared_bytes > model->shared_bytes) {
        violation("%s: %llu bytes of shared memory, %s has %llu", module->name,
                  (unsigned long long)kernel->program->shared_bytes, model->name, (unsigned long long)model->shared_bytes);
        return CL_OUT_OF_RESOURCES;
    }
    return CL_SUCCESS;
}

VISIBLE cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
                                      const cl_event *waits, cl_event *event) {
    ENTER;
    cl_int code = queue_problem(queue, count, waits);
    if (code) return code;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    if (kernel->program->context != queue->context) return CL_INVALID_CONTEXT;
    if (!dimensions || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
    if (offset || !local) return CL_INVALID_OPERATION;  // not simulated
    struct Request head = {.operation = LAUNCH, .program = kernel->program->number,
                           .address = kernel->program->module.parameter_count,
                           .global = {1, 1, 1}, .local = {1, 1, 1}};
    for (cl_uint i = 0; i < dimensions; i++) head.global[i] = global[i], head.local[i] = local[i];
    code = launch_problem(kernel, &head);
    if (code) return code;
    struct Command *command = new_command(RUN_KERNEL);
    command->queue = queue, command->program = kernel->program;
    kernel->program->references++;
    check_memory(kernel, command);
    write_request(kernel, command, &head);
    counts.launches++;
    return enqueue(command, queue, count, waits, event, false);
}
