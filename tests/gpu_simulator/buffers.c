// OpenCL's buffers, for what pyopencl's arrays and loaders of bundles need. Their memory is the host's until a kernel
// gets one as an argument: then it is an allocation of the device. Each command is done when it is enqueued, behind all
// of its queue; that it may be later is not simulated.
#include "simulator.h"
#include <stdlib.h>
#include <string.h>

VISIBLE cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *source, cl_int *code) {
    ENTER;
    bool wants_source = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    cl_int result = !ALIVE(context, CONTEXT)                    ? CL_INVALID_CONTEXT
                    : !size || size > memory_of(context->device) ? CL_INVALID_BUFFER_SIZE
                    : wants_source != (source != NULL)           ? CL_INVALID_HOST_PTR
                                                                 : CL_SUCCESS;
    if (code) *code = result;
    if (result) return NULL;
    cl_mem buffer = new_object(BUFFER, sizeof *buffer);
    buffer->context = context, buffer->size = size, buffer->flags = flags, buffer->data = malloc(size);
    memset(buffer->data, 0xA5, size);
    if (source) memcpy(buffer->data, source, size);
    return buffer;
}

VISIBLE cl_int clRetainMemObject(cl_mem buffer) {
    ENTER;
    return ALIVE(buffer, BUFFER) ? (buffer->references++, CL_SUCCESS) : CL_INVALID_MEM_OBJECT;
}

VISIBLE cl_int clReleaseMemObject(cl_mem buffer) {
    ENTER;
    if (!ALIVE(buffer, BUFFER)) return CL_INVALID_MEM_OBJECT;
    if (buffer->references == 1 && buffer->maps) violation("%s: %p is mapped", __func__, (void *)buffer);
    void *place = buffer->place;
    char *data = buffer->data;
    cl_context context = buffer->context;
    if (!lose_reference(buffer)) return CL_SUCCESS;
    if (place) return clMemBlockingFreeINTEL(context, place);  // the driver, too, frees it behind what uses it
    free(data);
    return CL_SUCCESS;
}

const void *place_of(cl_mem buffer) {
    if (buffer->place) return buffer->place;
    if (buffer->maps) violation("a mapped buffer, %p, is the argument of a kernel", (void *)buffer);
    void *place = clDeviceMemAllocINTEL(buffer->context, NULL, NULL, buffer->size, 0, NULL);
    if (!place) return NULL;
    memcpy(in_view(place), buffer->data, buffer->size);
    free(buffer->data);
    buffer->data = in_view(place);
    return buffer->place = place;
}

VISIBLE cl_int clGetMemObjectInfo(cl_mem buffer, cl_mem_info what, size_t room, void *to, size_t *bytes_to) {
    ENTER;
    if (!ALIVE(buffer, BUFFER)) return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE: return GIVE(cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS: return GIVE(cl_mem_flags, buffer->flags);
    case CL_MEM_SIZE: return GIVE(size_t, buffer->size);
    case CL_MEM_MAP_COUNT: return GIVE(cl_uint, buffer->maps);
    case CL_MEM_CONTEXT: return GIVE(cl_context, buffer->context);
    case CL_MEM_REFERENCE_COUNT: return GIVE(cl_uint, buffer->references);
    default: return CL_INVALID_VALUE;
    }
}

// Where the part of a buffer lies that a command is for, when all before it has run; NULL: *code says why not
static char *part(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, cl_uint count,
                  const cl_event *waits, cl_event *event, cl_int *code) {
    *code = CL_INVALID_MEM_OBJECT;
    if (!is_alive(buffer, BUFFER, "clEnqueue...Buffer")) return NULL;
    *code = CL_INVALID_VALUE;
    if (!bytes || offset > buffer->size || bytes > buffer->size - offset) {
        violation("%zu bytes at %zu are not within a buffer of %zu", bytes, offset, buffer->size);
        return NULL;
    }
    if ((*code = clEnqueueBarrierWithWaitList(queue, count, waits, event))) return NULL;
    if (queue->context != buffer->context) *code = CL_INVALID_CONTEXT;
    else *code = run_queue(queue, NULL);
    return *code ? NULL : buffer->data + offset;
}

VISIBLE cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                                   void *target, cl_uint count, const cl_event *waits, cl_event *event) {
    ENTER;
    (void)blocking;
    cl_int code;
    char *from = part(queue, buffer, offset, bytes, count, waits, event, &code);
    if (from) memcpy(target, from, bytes);
    return code;
}

VISIBLE cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                    size_t bytes, const void *source, cl_uint count, const cl_event *waits,
                                    cl_event *event) {
    ENTER;
    (void)blocking;
    cl_int code;
    char *to = part(queue, buffer, offset, bytes, count, waits, event, &code);
    if (to) memcpy(to, source, bytes);
    return code;
}

VISIBLE cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                   size_t offset, size_t bytes, cl_uint count, const cl_event *waits, cl_event *event) {
    ENTER;
    cl_int code;
    if (!pattern_bytes || offset % pattern_bytes || bytes % pattern_bytes) return CL_INVALID_VALUE;
    char *to = part(queue, buffer, offset, bytes, count, waits, event, &code);
    for (size_t i = 0; to && i < bytes; i += pattern_bytes) memcpy(to + i, pattern, pattern_bytes);
    return code;
}

VISIBLE void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                 size_t offset, size_t bytes, cl_uint count, const cl_event *waits, cl_event *event,
                                 cl_int *code_to) {
    ENTER;
    (void)blocking, (void)flags;
    cl_int code;
    char *from = part(queue, buffer, offset, bytes, count, waits, event, &code);
    if (from) buffer->maps++;
    if (code_to) *code_to = code;
    return from;
}

VISIBLE cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *place, cl_uint count,
                                       const cl_event *waits, cl_event *event) {
    ENTER;
    cl_int code;
    if (!ALIVE(buffer, BUFFER)) return CL_INVALID_MEM_OBJECT;
    size_t offset = (size_t)((char *)place - buffer->data);
    if (!buffer->maps || offset >= buffer->size) {
        violation("%s: %p is not mapped memory of the buffer", __func__, place);
        return CL_INVALID_VALUE;
    }
    if (part(queue, buffer, offset, 1, count, waits, event, &code)) buffer->maps--;
    return code;
}
