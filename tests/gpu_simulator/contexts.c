// Objects, contexts, queues, events.
#include "simulator.h"
#include <stdlib.h>
#include <string.h>

void *new_object(enum Kind kind, size_t bytes) {
    struct Object *object = calloc(1, bytes);
    object->dispatch = &dispatch_table, object->kind = kind, object->references = 1;
    return object;
}

bool is_alive(const void *object, enum Kind kind, const char *function) {
    if (object && ((const struct Object *)object)->kind == kind) return true;
    violation("%s: %p %s", function, object,
              object && ((const struct Object *)object)->kind == DEAD ? "has been released" : "is a handle of another kind");
    return false;
}

bool lose_reference(void *object) {
    struct Object *one = object;
    if (--one->references) return false;
    one->kind = DEAD;
    return true;
}

// ---- contexts

VISIBLE cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *list,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                                   cl_int *code) {
    ENTER;
    (void)properties, (void)notify, (void)data;
    cl_int result = count != 1 ? CL_INVALID_VALUE : !ALIVE(*list, DEVICE) ? CL_INVALID_DEVICE : start_process();
    if (code) *code = result;
    if (result) return NULL;
    cl_context context = new_object(CONTEXT, sizeof *context);
    context->device = *list;
    return context;
}

VISIBLE cl_int clRetainContext(cl_context context) {
    ENTER;
    return ALIVE(context, CONTEXT) ? (context->references++, CL_SUCCESS) : CL_INVALID_CONTEXT;
}

VISIBLE cl_int clReleaseContext(cl_context context) {
    ENTER;
    return ALIVE(context, CONTEXT) ? (lose_reference(context), CL_SUCCESS) : CL_INVALID_CONTEXT;
}

VISIBLE cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void *to, size_t *bytes_to) {
    ENTER;
    if (!ALIVE(context, CONTEXT)) return CL_INVALID_CONTEXT;
    switch (what) {
    case CL_CONTEXT_DEVICES: return GIVE(cl_device_id, context->device);
    case CL_CONTEXT_NUM_DEVICES: return GIVE(cl_uint, 1);
    case CL_CONTEXT_REFERENCE_COUNT: return GIVE(cl_uint, context->references);
    default: return CL_INVALID_VALUE;
    }
}

// ---- queues

cl_command_queue all_queues;

VISIBLE cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                            const cl_queue_properties *properties, cl_int *code) {
    ENTER;
    cl_command_queue_properties wanted = 0;
    cl_int result = !ALIVE(context, CONTEXT) ? CL_INVALID_CONTEXT : context->device != device ? CL_INVALID_DEVICE : 0;
    for (; properties && *properties; properties += 2)
        if (*properties == CL_QUEUE_PROPERTIES) wanted = properties[1];
    if (wanted & ~(cl_ulong)(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        result = CL_INVALID_QUEUE_PROPERTIES;
    if (code) *code = result;
    if (result) return NULL;
    static unsigned number;
    cl_command_queue queue = new_object(QUEUE, sizeof *queue);
    queue->context = context, queue->properties = wanted, queue->number = ++number;
    queue->next = all_queues, all_queues = queue;
    return queue;
}

VISIBLE cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                              cl_command_queue_properties wanted, cl_int *code) {
    return clCreateCommandQueueWithProperties(context, device,
                                              (cl_queue_properties[]){CL_QUEUE_PROPERTIES, wanted, 0}, code);
}

VISIBLE cl_int clRetainCommandQueue(cl_command_queue queue) {
    ENTER;
    return ALIVE(queue, QUEUE) ? (queue->references++, CL_SUCCESS) : CL_INVALID_COMMAND_QUEUE;
}

VISIBLE cl_int clReleaseCommandQueue(cl_command_queue queue) {
    ENTER;
    if (!ALIVE(queue, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (queue->references == 1) {
        run_queue(queue, NULL);  // a release flushes; what was submitted runs
        cl_command_queue *link = &all_queues;
        while (*link != queue) link = &(*link)->next;
        *link = queue->next;
    }
    lose_reference(queue);
    return CL_SUCCESS;
}

VISIBLE cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room, void *to,
                                     size_t *bytes_to) {
    ENTER;
    if (!ALIVE(queue, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT: return GIVE(cl_context, queue->context);
    case CL_QUEUE_DEVICE: return GIVE(cl_device_id, queue->context->device);
    case CL_QUEUE_PROPERTIES: return GIVE(cl_command_queue_properties, queue->properties);
    case CL_QUEUE_REFERENCE_COUNT: return GIVE(cl_uint, queue->references);
    default: return CL_INVALID_VALUE;
    }
}

VISIBLE cl_int clFlush(cl_command_queue queue) {
    ENTER;
    return ALIVE(queue, QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;  // it may begin; it need not yet
}

VISIBLE cl_int clFinish(cl_command_queue queue) {
    ENTER;
    counts.waits++;
    return ALIVE(queue, QUEUE) ? run_queue(queue, NULL) : CL_INVALID_COMMAND_QUEUE;
}

// ---- events

unsigned live_events;

VISIBLE cl_int clWaitForEvents(cl_uint count, const cl_event *events) {
    ENTER;
    counts.waits++;
    if (!count || !events) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!ALIVE(events[i], EVENT)) return CL_INVALID_EVENT;
        if (wait_for(events[i]) || events[i]->status < 0) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return CL_SUCCESS;
}

VISIBLE cl_int clRetainEvent(cl_event event) {
    ENTER;
    return ALIVE(event, EVENT) ? (event->references++, CL_SUCCESS) : CL_INVALID_EVENT;
}

VISIBLE cl_int clReleaseEvent(cl_event event) {
    ENTER;
    if (!ALIVE(event, EVENT)) return CL_INVALID_EVENT;
    if (lose_reference(event)) live_events--;
    return CL_SUCCESS;
}

VISIBLE cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *to, size_t *bytes_to) {
    ENTER;
    if (!ALIVE(event, EVENT)) return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_COMMAND_EXECUTION_STATUS: return GIVE(cl_int, event->command ? CL_QUEUED : event->status);
    case CL_EVENT_CONTEXT: return GIVE(cl_context, event->context);
    case CL_EVENT_REFERENCE_COUNT: return GIVE(cl_uint, event->references);
    default: return CL_INVALID_VALUE;
    }
}

VISIBLE cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *to,
                                       size_t *bytes_to) {
    ENTER;
    if (!ALIVE(event, EVENT)) return CL_INVALID_EVENT;
    if (!event->profiled || event->command) return CL_PROFILING_INFO_NOT_AVAILABLE;
    if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_END) return CL_INVALID_VALUE;
    return GIVE(cl_ulong, event->times[what - CL_PROFILING_COMMAND_QUEUED]);
}
