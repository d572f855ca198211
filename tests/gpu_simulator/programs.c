// Programs and kernels: builds go to the process, arguments are kept and checked here.
#include "simulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A binary: these words, the device's IP version, bytes of the options, the options, the SPIR-V. The driver's own holds
// machine code; either is of use on a device of the same kind only.
static const char MAGIC[16] = "simulated-gpu-1";

struct Head {
    char magic[16];
    uint32_t ip_version, option_bytes;
};

static cl_program new_program(cl_context context, const void *words, size_t bytes) {
    cl_program program = new_object(PROGRAM, sizeof *program);
    program->context = context, program->word_count = bytes / 4, program->words = malloc(bytes + 4);
    program->options = strdup(""), program->log = strdup(""), program->status = CL_BUILD_NONE;
    memcpy(program->words, words, bytes);
    return program;
}

VISIBLE cl_program clCreateProgramWithIL(cl_context context, const void *words, size_t bytes, cl_int *code) {
    ENTER;
    cl_int result = !ALIVE(context, CONTEXT) ? CL_INVALID_CONTEXT
                  : bytes < 20 || bytes % 4 || *(const uint32_t *)words != 0x07230203 ? CL_INVALID_VALUE : CL_SUCCESS;
    if (code) *code = result;
    return result ? NULL : new_program(context, words, bytes);
}

VISIBLE cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *list,
                                             const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                             cl_int *code) {
    ENTER;
    cl_int result = !ALIVE(context, CONTEXT) ? CL_INVALID_CONTEXT : count != 1 ? CL_INVALID_VALUE
                  : *list != context->device ? CL_INVALID_DEVICE : CL_SUCCESS;
    const struct Head *head = result ? NULL : (const void *)*binaries;
    if (head && (*sizes < sizeof *head || memcmp(head->magic, MAGIC, sizeof MAGIC) ||
                 head->ip_version != context->device->model->ip_version)) result = CL_INVALID_BINARY;
    if (status) *status = result;
    if (code) *code = result;
    if (result) return NULL;
    const char *options = (const char *)(head + 1);
    cl_program program = new_program(context, options + head->option_bytes,
                                     *sizes - sizeof *head - head->option_bytes);
    free(program->options);
    program->options = strdup(options);
    return program;
}

// ---- options

// Those of OpenCL, and those of Intel's compiler that its public source lists
static const char *const KNOWN[] = {
    "-cl-mad-enable", "-cl-opt-disable", "-cl-fast-relaxed-math", "-cl-denorms-are-zero", "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-uniform-work-group-size", "-cl-single-precision-constant", "-cl-kernel-arg-info", "-cl-strict-aliasing",
    "-cl-intel-256-GRF-per-thread", "-cl-intel-128-GRF-per-thread", "-cl-intel-enable-auto-large-GRF-mode",
    "-cl-intel-greater-than-4GB-buffer-required", "-cl-intel-no-prera-scheduling", "-cl-std=CL1.2", "-cl-std=CL2.0",
    "-cl-std=CL3.0", "-g", "-w", "-Werror", "-I"};  // folders of headers, which pyopencl adds, are for sources

static void check_options(const char *options, const struct Model *model) {
    char *copy = strdup(options), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool known = *word == '/' || !strncmp(word, "-cl-intel-reqd-eu-thread-count=", 31) || !strncmp(word, "-igc_opts", 9) || *word == '\'';
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) known |= !strcmp(word, KNOWN[i]);
        if (!known) violation("clBuildProgram: Intel's compiler does not know the option %s", word);
        if (!model->large_registers && strstr(word, "GRF"))
            violation("clBuildProgram: %s: threads of %s have no other register file", word, model->name);
    }
    free(copy);
}

bool large_buffers(cl_program program) {
    return strstr(program->options, "-cl-intel-greater-than-4GB-buffer-required");
}

static bool has_builtins(cl_program program) {
    return memmem(program->words, program->word_count * 4, "__builtin_IB_", 13);
}

static cl_int failed(cl_program program, char *log) {
    free(program->log);
    program->log = log, program->status = CL_BUILD_ERROR;
    return CL_BUILD_PROGRAM_FAILURE;
}

VISIBLE cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *list, const char *options,
                              void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    ENTER;
    (void)count, (void)notify, (void)data;
    if (!ALIVE(program, PROGRAM)) return CL_INVALID_PROGRAM;
    if (list && *list != program->context->device) return CL_INVALID_DEVICE;
    const struct Model *model = program->context->device->model;
    counts.builds++;
    if (options && *options) free(program->options), program->options = strdup(options);
    check_options(program->options, model);
    read_module(program->words, program->word_count, model, &program->module);
    if (*program->module.refusal) return failed(program, strdup(program->module.refusal));
    size_t words = program->word_count;
    uint32_t *plain = without_matrix_unit(program->words, &words);
    const char *library = plain || has_builtins(program) ? matrix_library() : "";
    struct Request request = {.operation = BUILD, .bytes = strlen(library) + 1 + words * 4};
    char *message = malloc(request.bytes), *log;
    strcpy(message, library);
    memcpy(message + strlen(library) + 1, plain ? plain : program->words, words * 4);
    struct Reply reply = ask(&request, message, &log);
    free(message), free(plain);
    if (reply.status) return failed(program, log ? log : strdup("the device is lost"));
    free(program->log);
    program->log = log, program->number = reply.number, program->shared_bytes = reply.value;
    program->status = CL_BUILD_SUCCESS;
    return CL_SUCCESS;
}

VISIBLE cl_int clRetainProgram(cl_program program) {
    ENTER;
    return ALIVE(program, PROGRAM) ? (program->references++, CL_SUCCESS) : CL_INVALID_PROGRAM;
}

static void forget(cl_program program) {
    if (!lose_reference(program)) return;
    struct Request request = {.operation = FORGET_PROGRAM, .program = program->number};
    if (program->status == CL_BUILD_SUCCESS && !device_lost) ask(&request, NULL, NULL);
}

VISIBLE cl_int clReleaseProgram(cl_program program) {
    ENTER;
    if (!ALIVE(program, PROGRAM)) return CL_INVALID_PROGRAM;
    forget(program);
    return CL_SUCCESS;
}

VISIBLE cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *bytes_to) {
    ENTER;
    if (!ALIVE(program, PROGRAM)) return CL_INVALID_PROGRAM;
    struct Head head = {"", program->context->device->model->ip_version, (uint32_t)strlen(program->options) + 1};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    size_t bytes = sizeof head + head.option_bytes + program->word_count * 4;
    switch (what) {
    case CL_PROGRAM_BINARY_SIZES: return GIVE(size_t, bytes);
    case CL_PROGRAM_BINARIES: {
        char *place = to && room >= sizeof(char *) ? *(char **)to : NULL;
        if (bytes_to) *bytes_to = sizeof(char *);
        if (!place) return CL_SUCCESS;
        memcpy(place, &head, sizeof head);
        memcpy(place + sizeof head, program->options, head.option_bytes);
        memcpy(place + sizeof head + head.option_bytes, program->words, program->word_count * 4);
        return CL_SUCCESS;
    }
    case CL_PROGRAM_CONTEXT: return GIVE(cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES: return GIVE(cl_uint, 1);
    case CL_PROGRAM_DEVICES: return GIVE(cl_device_id, program->context->device);
    case CL_PROGRAM_NUM_KERNELS: return GIVE(size_t, 1);
    case CL_PROGRAM_KERNEL_NAMES:
        return give(program->module.name, strlen(program->module.name) + 1, room, to, bytes_to);
    case CL_PROGRAM_REFERENCE_COUNT: return GIVE(cl_uint, program->references);
    default: return CL_INVALID_VALUE;
    }
}

VISIBLE cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                                     void *to, size_t *bytes_to) {
    ENTER;
    (void)device;
    if (!ALIVE(program, PROGRAM)) return CL_INVALID_PROGRAM;
    switch (what) {
    case CL_PROGRAM_BUILD_LOG: return give(program->log, strlen(program->log) + 1, room, to, bytes_to);
    case CL_PROGRAM_BUILD_STATUS: return GIVE(cl_build_status, program->status);
    case CL_PROGRAM_BUILD_OPTIONS: return give(program->options, strlen(program->options) + 1, room, to, bytes_to);
    default: return CL_INVALID_VALUE;
    }
}

// ---- kernels

VISIBLE cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    ENTER;
    cl_int result = !ALIVE(program, PROGRAM) ? CL_INVALID_PROGRAM
                  : program->status != CL_BUILD_SUCCESS ? CL_INVALID_PROGRAM_EXECUTABLE
                  : strcmp(name, program->module.name) ? CL_INVALID_KERNEL_NAME : CL_SUCCESS;
    if (code) *code = result;
    if (result) return NULL;
    cl_kernel kernel = new_object(KERNEL, sizeof *kernel);
    kernel->program = program;
    program->references++;
    return kernel;
}

VISIBLE cl_kernel clCloneKernel(cl_kernel source, cl_int *code) {
    ENTER;
    if (code) *code = CL_SUCCESS;
    if (!ALIVE(source, KERNEL)) return code ? *code = CL_INVALID_KERNEL : 0, NULL;
    cl_kernel kernel = new_object(KERNEL, sizeof *kernel);
    kernel->program = source->program;
    kernel->program->references++;
    for (unsigned i = 0; i < 256; i++) {
        kernel->values[i] = source->values[i];
        if (!source->values[i].data) continue;
        kernel->values[i].data = malloc(source->values[i].bytes);
        memcpy(kernel->values[i].data, source->values[i].data, source->values[i].bytes);
    }
    if (source->announced_count)
        clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, source->announced_count * sizeof(void *),
                            source->announced);
    memcpy(kernel->indirect, source->indirect, sizeof kernel->indirect);
    return kernel;
}

VISIBLE cl_int clRetainKernel(cl_kernel kernel) {
    ENTER;
    return ALIVE(kernel, KERNEL) ? (kernel->references++, CL_SUCCESS) : CL_INVALID_KERNEL;
}

VISIBLE cl_int clReleaseKernel(cl_kernel kernel) {
    ENTER;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    if (lose_reference(kernel)) forget(kernel->program);
    return CL_SUCCESS;
}

VISIBLE cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void *to, size_t *bytes_to) {
    ENTER;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    const struct Module *module = &kernel->program->module;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return give(module->name, strlen(module->name) + 1, room, to, bytes_to);
    case CL_KERNEL_NUM_ARGS: return GIVE(cl_uint, module->parameter_count);
    case CL_KERNEL_CONTEXT: return GIVE(cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM: return GIVE(cl_program, kernel->program);
    case CL_KERNEL_REFERENCE_COUNT: return GIVE(cl_uint, kernel->references);
    default: return CL_INVALID_VALUE;
    }
}

VISIBLE cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                        size_t room, void *to, size_t *bytes_to) {
    ENTER;
    (void)device;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    const struct Model *model = kernel->program->context->device->model;
    bool large = strstr(kernel->program->options, "256-GRF");
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return GIVE(size_t, large ? model->work_group_size / 2 : model->work_group_size);
    case CL_KERNEL_LOCAL_MEM_SIZE: return GIVE(cl_ulong, kernel->program->shared_bytes);
    case 0x4109: return GIVE(cl_ulong, 0);  // bytes spilled: nobody compiles for registers here
    case 0x425B: return GIVE(cl_uint, large ? 256 : 128);
    default: return CL_INVALID_VALUE;
    }
}

static void keep(struct Value *value, const void *data, uint32_t bytes, bool is_pointer) {
    free(value->data);
    *value = (struct Value){true, is_pointer, bytes, malloc(bytes ? bytes : 1)};
    if (data) memcpy(value->data, data, bytes); else memset(value->data, 0, bytes);
}

VISIBLE cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *data) {
    ENTER;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    const struct Module *module = &kernel->program->module;
    if (index >= module->parameter_count) return CL_INVALID_ARG_INDEX;
    const void *place = NULL;
    if (module->parameters[index].is_pointer) {  // a buffer, or none at all
        cl_mem buffer = data && bytes == sizeof buffer ? *(const cl_mem *)data : NULL;
        if (is_device_address(buffer)) {
            violation("clSetKernelArg: argument %u is a pointer; addresses are given by other functions", index);
            return CL_INVALID_MEM_OBJECT;
        }
        if (buffer && (!ALIVE(buffer, BUFFER) || buffer->context != kernel->program->context)) return CL_INVALID_MEM_OBJECT;
        if (buffer && !(place = place_of(buffer))) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
        if (data) data = &place;
        else bytes = sizeof place;
    }
    if (bytes != module->parameters[index].bytes) {
        violation("clSetKernelArg: argument %u has %u bytes, it is given %zu", index, module->parameters[index].bytes,
                  bytes);
        return CL_INVALID_ARG_SIZE;
    }
    if (!data && !module->parameters[index].is_pointer) return CL_INVALID_ARG_VALUE;
    keep(&kernel->values[index], data, (uint32_t)bytes, module->parameters[index].is_pointer);
    return CL_SUCCESS;
}

// The driver takes any pointer by default, and the GPU faults later: so that is what happens here, after a word
VISIBLE cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer) {
    ENTER;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    const struct Module *module = &kernel->program->module;
    if (index >= module->parameter_count) return CL_INVALID_ARG_INDEX;
    if (!module->parameters[index].is_pointer) return CL_INVALID_ARG_VALUE;
    keep(&kernel->values[index], &pointer, sizeof pointer, true);
    return CL_SUCCESS;
}

VISIBLE cl_int clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint index, const void *pointer) {
    return clSetKernelArgSVMPointer(kernel, index, pointer);
}

VISIBLE cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, size_t bytes, const void *data) {
    ENTER;
    if (!ALIVE(kernel, KERNEL)) return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL: kernel->indirect[ON_DEVICE] = *(const cl_bool *)data; break;
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL: kernel->indirect[ON_HOST] = *(const cl_bool *)data; break;
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL: kernel->indirect[SHARED_USM] = *(const cl_bool *)data; break;
    case CL_KERNEL_EXEC_INFO_SVM_PTRS: case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL: {
        void *const *list = data;
        for (size_t i = 0; i < bytes / sizeof(void *); i++) {
            struct Allocation *one = allocation_at(list[i]);
            if (one && one->context == kernel->program->context) continue;
            char text[128];
            describe_address((uint64_t)list[i], text, sizeof text);
            violation("clSetKernelExecInfo: %p is %s", list[i], one ? "of another context" : text);
            return CL_INVALID_VALUE;
        }
        free(kernel->announced);
        kernel->announced_count = bytes / sizeof(void *);
        kernel->announced = malloc(bytes ? bytes : 1);
        if (bytes) memcpy(kernel->announced, data, bytes);
        break;
    }
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM: if (*(const cl_bool *)data) return CL_INVALID_OPERATION; break;
    default: return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}
