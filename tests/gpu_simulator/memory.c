// Allocations: unified shared memory of Intel's extension, and OpenCL's own shared virtual memory. Each begins at a page
// and has an empty one behind it. What is freed is unmapped for kernels, and its addresses are not given again soon.
#include "simulator.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern int device_memory;
struct Allocation *allocations;
static uint64_t next_place = DEVICE_BASE + (1 << 20);

// the latest that were freed, for messages
static struct { uint64_t address, size; } freed[256];
static unsigned freed_count;

bool is_device_address(const void *pointer) {
    return (uint64_t)pointer >= DEVICE_BASE && (uint64_t)pointer < DEVICE_BASE + DEVICE_BYTES;
}

void *in_view(const void *pointer) {
    return is_device_address(pointer) ? device_view + ((uint64_t)pointer - DEVICE_BASE) : (void *)pointer;
}

struct Allocation *allocation_at(const void *pointer) {
    uint64_t address = (uint64_t)pointer;
    for (struct Allocation *one = allocations; one; one = one->next)
        if (address >= one->address && address < one->address + one->size) return one;
    return NULL;
}

bool describe_address(uint64_t address, char *text, size_t room) {
    if (!is_device_address((void *)address)) {
        snprintf(text, room, "memory of the host");
        return true;
    }
    struct Allocation *one = allocation_at((void *)address);
    if (one) {
        snprintf(text, room, "byte %llu of an allocation of %llu bytes that the kernel was not given",
                 (unsigned long long)(address - one->address), (unsigned long long)one->size);
        return true;
    }
    for (unsigned i = 0; i < 256 && i < freed_count; i++)
        if (address >= freed[i].address && address < freed[i].address + freed[i].size) {
            snprintf(text, room, "byte %llu of an allocation of %llu bytes that was freed",
                     (unsigned long long)(address - freed[i].address), (unsigned long long)freed[i].size);
            return true;
        }
    snprintf(text, room, "an address of the device where nothing is");
    return false;
}

// The part of this process' view that the host may use
static void host_access(const struct Allocation *one, bool allowed) {
    uint64_t bytes = (one->size + PAGE - 1) / PAGE * PAGE;
    if (allowed)
        mmap((void *)one->address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device_memory,
             (off_t)(one->address - DEVICE_BASE));
    else
        mmap((void *)one->address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void *allocate(cl_context context, enum Placement placement, size_t size, cl_uint alignment, cl_int *code) {
    uint64_t bytes = (size + PAGE - 1) / PAGE * PAGE;
    // a device's whole memory can be asked for; that part of it is in use is not simulated
    if (next_place + bytes + (1 << 16) > DEVICE_BASE + DEVICE_BYTES || size > memory_of(context->device)) {
        *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    uint64_t place = (next_place + (1 << 16) - 1) >> 16 << 16;  // the driver's pages for this are of 64 kB and more
    (void)alignment;
    next_place = place + bytes + PAGE;
    struct Request request = {.operation = MAP, .address = place, .size = bytes};
    *code = ask(&request, NULL, NULL).status ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (*code) return NULL;
    struct Allocation *one = calloc(1, sizeof *one);
    *one = (struct Allocation){place, size, placement, context, false, 0, 0, allocations};
    allocations = one;
    counts.allocations_made++;
    // memory of the device begins as rubbish, that nobody relies on zeros
    memset(in_view((void *)place), 0xA5, size < (1 << 20) ? size : (1 << 20));
    if (placement == ON_HOST || placement == SHARED_USM) host_access(one, true);
    return (void *)place;
}

// waits: clMemBlockingFreeINTEL
static cl_int release(cl_context context, void *pointer, const char *function, bool waits) {
    if (!pointer) return CL_SUCCESS;
    for (struct Allocation **link = &allocations; *link; link = &(*link)->next) {
        struct Allocation *one = *link;
        if (one->address != (uint64_t)pointer) continue;
        if (one->context != context) {
            violation("%s: %p belongs to another context", function, pointer);
            return CL_INVALID_VALUE;
        }
        if (waits)
            for (cl_command_queue queue = all_queues; queue; queue = queue->next) run_queue(queue, NULL);
        if (is_in_use(one)) violation("%s: %p is freed while a command that was not waited for uses it", function, pointer);
        struct Request request = {.operation = UNMAP, .address = one->address, .size = (one->size + PAGE - 1) / PAGE * PAGE};
        ask(&request, NULL, NULL);
        if (one->placement != ON_DEVICE) host_access(one, false);
        fallocate(device_memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(one->address - DEVICE_BASE),
                  (off_t)request.size);
        freed[freed_count % 256].address = one->address, freed[freed_count++ % 256].size = one->size;
        *link = one->next;
        free(one);
        counts.allocations_freed++;
        return CL_SUCCESS;
    }
    char what[128];
    describe_address((uint64_t)pointer, what, sizeof what);
    violation("%s: %p is not the start of an allocation, it is %s", function, pointer, what);
    return CL_INVALID_VALUE;
}

// ---- OpenCL's shared virtual memory. The host may touch it while it is mapped only. NULL for what cannot be, without
// a word, as the driver does it: alignment beyond the largest type's, a size beyond the largest allocation's.

VISIBLE void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
    ENTER;
    cl_int code;
    if (!ALIVE(context, CONTEXT) || !size || alignment & (alignment - 1) || alignment > 128) return NULL;
    if (flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)) return NULL;
    cl_ulong most = 0;
    clGetDeviceInfo(context->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (size > most && !(flags & (1 << 23))) return NULL;
    return allocate(context, COARSE_SVM, size, alignment, &code);
}

VISIBLE void clSVMFree(cl_context context, void *pointer) {
    ENTER;
    if (ALIVE(context, CONTEXT)) release(context, pointer, __func__, false);
}

VISIBLE cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer, size_t size,
                               cl_uint count, const cl_event *waits, cl_event *event) {
    ENTER;
    (void)flags, (void)size;
    struct Allocation *one = allocation_at(pointer);
    if (!ALIVE(queue, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!one || one->placement != COARSE_SVM) return CL_INVALID_VALUE;
    cl_int code = clEnqueueBarrierWithWaitList(queue, count, waits, event);
    if (!code) code = run_queue(queue, NULL);
    if (blocking) counts.waits++;
    host_access(one, one->mapped = true);
    return code;
}

VISIBLE cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint count, const cl_event *waits,
                                 cl_event *event) {
    ENTER;
    struct Allocation *one = allocation_at(pointer);
    if (!ALIVE(queue, QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!one || !one->mapped) return CL_INVALID_VALUE;
    host_access(one, one->mapped = false);
    return clEnqueueBarrierWithWaitList(queue, count, waits, event);
}

// ---- unified shared memory

// Properties as the driver's parser takes them; false: it refuses them
static bool parse(const cl_mem_properties_intel *properties, cl_ulong *flags) {
    *flags = 0;
    for (; properties && *properties; properties += 2) {
        if (*properties == CL_MEM_FLAGS || *properties == 0x10001 /* CL_MEM_FLAGS_INTEL */) *flags |= properties[1];
        else if (*properties != CL_MEM_ALLOC_FLAGS_INTEL) return false;
    }
    return true;
}

static void *unified(cl_context context, cl_device_id device, const cl_mem_properties_intel *properties, size_t size,
                     cl_uint alignment, cl_int *code_to, enum Placement placement) {
    cl_int unused, *code = code_to ? code_to : &unused;
    cl_ulong flags, most = 0;
    if (!is_alive(context, CONTEXT, "clMemAllocINTEL")) return *code = CL_INVALID_CONTEXT, NULL;
    if (device && device != context->device) return *code = CL_INVALID_DEVICE, NULL;
    if (!parse(properties, &flags) || alignment & (alignment - 1)) return *code = CL_INVALID_VALUE, NULL;
    clGetDeviceInfo(context->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (!size || (size > most && !(flags & (1 << 23)))) return *code = CL_INVALID_BUFFER_SIZE, NULL;
    return allocate(context, placement, size, alignment, code);
}

VISIBLE void *clDeviceMemAllocINTEL(cl_context context, cl_device_id device, const cl_mem_properties_intel *properties,
                                    size_t size, cl_uint alignment, cl_int *code) {
    ENTER;
    return unified(context, device, properties, size, alignment, code, ON_DEVICE);
}

VISIBLE void *clHostMemAllocINTEL(cl_context context, const cl_mem_properties_intel *properties, size_t size,
                                  cl_uint alignment, cl_int *code) {
    ENTER;
    return unified(context, NULL, properties, size, alignment, code, ON_HOST);
}

VISIBLE void *clSharedMemAllocINTEL(cl_context context, cl_device_id device, const cl_mem_properties_intel *properties,
                                    size_t size, cl_uint alignment, cl_int *code) {
    ENTER;
    return unified(context, device, properties, size, alignment, code, SHARED_USM);
}

VISIBLE cl_int clMemFreeINTEL(cl_context context, void *pointer) {
    ENTER;
    return ALIVE(context, CONTEXT) ? release(context, pointer, __func__, false) : CL_INVALID_CONTEXT;
}

VISIBLE cl_int clMemBlockingFreeINTEL(cl_context context, void *pointer) {
    ENTER;
    return ALIVE(context, CONTEXT) ? release(context, pointer, __func__, true) : CL_INVALID_CONTEXT;
}

VISIBLE cl_int clGetMemAllocInfoINTEL(cl_context context, const void *pointer, cl_mem_info_intel what, size_t room,
                                      void *to, size_t *bytes_to) {
    ENTER;
    struct Allocation *one = allocation_at(pointer);
    static const cl_uint types[] = {CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_SHARED_INTEL,
                                    CL_MEM_TYPE_SHARED_INTEL};
    if (!ALIVE(context, CONTEXT)) return CL_INVALID_CONTEXT;
    if (one && one->context != context) one = NULL;
    switch (what) {
    case CL_MEM_ALLOC_TYPE_INTEL: return GIVE(cl_uint, one ? types[one->placement] : CL_MEM_TYPE_UNKNOWN_INTEL);
    case CL_MEM_ALLOC_BASE_PTR_INTEL: return GIVE(uint64_t, one ? one->address : 0);
    case CL_MEM_ALLOC_SIZE_INTEL: return GIVE(size_t, one ? one->size : 0);
    case CL_MEM_ALLOC_DEVICE_INTEL:
        return GIVE(cl_device_id, one && one->placement != ON_HOST ? context->device : NULL);
    default: return CL_INVALID_VALUE;
    }
}
