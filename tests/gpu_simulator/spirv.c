// What a SPIR-V module says of its kernel, and what the compiler for these GPUs would refuse. A module has one kernel.
//
// What it rests on: Intel's compiler ends a build for an extension that it does not know (seen with ocloc 26.27), for f64
// without cl_khr_fp64 and for sizes of sub-groups that the device does not have (the driver's and the compiler's public
// sources). Its list of extensions is longer than this one of those that it refuses.
#include "simulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY = 17, EXTENSION = 10, ENTRY_POINT = 15, EXECUTION_MODE = 16, TYPE_BOOL = 20, TYPE_INT = 21,
       TYPE_FLOAT = 22, TYPE_VECTOR = 23, TYPE_ARRAY = 28, TYPE_STRUCT = 30, TYPE_POINTER = 32, CONSTANT = 43,
       FUNCTION = 54, FUNCTION_PARAMETER = 55, FUNCTION_END = 56, DECORATE = 71 };
enum { LOCAL_SIZE = 17, SUBGROUP_SIZE = 35, FLOAT64 = 10, FUNC_PARAM_ATTR = 38, BY_VAL = 2, NO_WRITE = 6 };

static const char *const REFUSED[] = {"SPV_KHR_float_controls", "SPV_KHR_float_controls2", "SPV_KHR_fma",
                                      "SPV_KHR_untyped_pointers", "SPV_INTEL_masked_gather_scatter",
                                      "SPV_INTEL_maximum_registers"};

struct Type {
    uint32_t bytes, alignment, element;
    bool is_pointer, in_device_memory, is_double;
};

static void refuse(struct Module *module, const char *what, const char *name) {
    if (!*module->refusal) snprintf(module->refusal, sizeof module->refusal, "error: %s %s", what, name);
}

// Bytes of a type: as OpenCL lays it out
static struct Type described(const uint32_t *at, uint32_t count, const struct Type *types, const uint32_t *constants) {
    struct Type type = {0};
    switch (at[0] & 0xFFFF) {
    case TYPE_BOOL: type.bytes = type.alignment = 1; break;
    case TYPE_INT: case TYPE_FLOAT: type.bytes = type.alignment = at[2] / 8; break;
    case TYPE_VECTOR: type.bytes = type.alignment = types[at[2]].bytes * (at[3] == 3 ? 4 : at[3]); break;
    case TYPE_ARRAY:
        type = types[at[2]];
        type.bytes *= constants[at[3]];
        break;
    case TYPE_STRUCT:
        type.alignment = 1;
        for (uint32_t i = 2; i < count; i++) {
            const struct Type *member = &types[at[i]];
            uint32_t to = member->alignment ? member->alignment : 1;
            type.bytes = (type.bytes + to - 1) / to * to + member->bytes;
            if (to > type.alignment) type.alignment = to;
        }
        type.bytes = (type.bytes + type.alignment - 1) / type.alignment * type.alignment;
        break;
    case TYPE_POINTER:
        type.bytes = type.alignment = 8, type.is_pointer = true, type.element = at[3];
        type.in_device_memory = at[2] == 5 || at[2] == 0;  // CrossWorkgroup, UniformConstant
        break;
    }
    return type;
}

void read_module(const uint32_t *words, size_t count, const struct Model *model, struct Module *module) {
    memset(module, 0, sizeof *module);
    if (count < 5 || words[0] != 0x07230203) return refuse(module, "this is not", "SPIR-V");
    uint32_t bound = words[3], entry = 0, current = 0;
    struct Type *types = calloc(bound, sizeof *types);
    uint32_t *constants = calloc(bound, 4);
    unsigned char *attributes = calloc(bound, 1);
    for (const uint32_t *at = words + 5; at < words + count && at[0] >> 16; at += at[0] >> 16) {
        uint32_t length = at[0] >> 16;
        switch (at[0] & 0xFFFF) {
        case CAPABILITY:
            if (at[1] == FLOAT64 && !model->doubles) refuse(module, "double precision is not supported on", model->name);
            break;
        case EXTENSION:
            for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
                if (!strcmp((const char *)(at + 1), REFUSED[i])) refuse(module, "unknown extension", REFUSED[i]);
            break;
        case ENTRY_POINT:
            entry = at[2];
            snprintf(module->name, sizeof module->name, "%s", (const char *)(at + 3));
            break;
        case EXECUTION_MODE:
            if (at[2] == SUBGROUP_SIZE) module->sub_group_size = at[3];
            if (at[2] == LOCAL_SIZE) memcpy(module->local_size, at + 3, 12);
            break;
        case DECORATE:
            if (at[2] == FUNC_PARAM_ATTR) attributes[at[1]] |= (unsigned char)(1 << at[3]);
            break;
        case CONSTANT: constants[at[2]] = at[3]; break;
        case TYPE_BOOL: case TYPE_INT: case TYPE_FLOAT: case TYPE_VECTOR: case TYPE_ARRAY: case TYPE_STRUCT:
        case TYPE_POINTER: types[at[1]] = described(at, length, types, constants); break;
        case FUNCTION: current = at[2]; break;
        case FUNCTION_END: current = 0; break;
        case FUNCTION_PARAMETER:
            if (current == entry && module->parameter_count < 256) {
                const struct Type *type = &types[at[1]];
                bool by_value = attributes[at[2]] >> BY_VAL & 1;
                module->parameters[module->parameter_count++] = (struct Parameter){
                    .is_pointer = type->is_pointer && type->in_device_memory,
                    .is_written = !(attributes[at[2]] >> NO_WRITE & 1),
                    .bytes = by_value ? types[type->element].bytes : type->bytes};
            }
            break;
        }
    }
    bool known = !module->sub_group_size;
    for (int i = 0; i < 4; i++) known |= module->sub_group_size && model->sub_group_sizes[i] == module->sub_group_size;
    if (!known) refuse(module, "this size of sub-groups is not supported on", model->name);
    free(types), free(constants), free(attributes);
}
