// The CPU driver knows neither the matrix unit nor 2D block messages, nor builtins of the GPU's compiler. Modules that use
// them are rewritten: instructions become calls of functions of tests/emulation/matrix.cl, which are linked in, builtins
// are functions below that call those.
#include "simulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char BUILTINS[] =
    "float8 __builtin_IB_sub_group_fdpas_hf_hf_8_8(float8 c, int8 a, int8 b) { return ts_matrix_f16_8(a, b, c); }\n"
    "float8 __builtin_IB_sub_group_fdpas_bf_bf_8_8(float8 c, int8 a, int8 b) { return ts_matrix_bf16_8(a, b, c); }\n"
    "int8 __builtin_IB_sub_group_idpas_s8_s8_8_8(int8 c, int8 a, int8 b) { return ts_matrix_i8_8(a, b, c); }\n"
    "float8 __builtin_IB_sub_group16_fdpas_f_f_hf_hf_8_8(float8 c, short8 a, int8 b) { return ts_matrix_f16_16(a, b, c); }\n"
    "float8 __builtin_IB_sub_group16_fdpas_f_f_bf_bf_8_8(float8 c, short8 a, int8 b) { return ts_matrix_bf16_16(a, b, c); }\n"
    "int8 __builtin_IB_sub_group16_idpas_s8_s8_8_8(int8 c, short8 a, int8 b) { return ts_matrix_i8_16(a, b, c); }\n"
    "long __builtin_IB_read_cycle_counter(void) {\n"
    "    static global atomic_long ticks;\n"
    "    return 1000 * atomic_fetch_add_explicit(&ticks, 1L, memory_order_relaxed, memory_scope_device);\n"
    "}\n";

const char *matrix_library(void) {
    static char *text;
    if (text) return text;
    FILE *file = fopen(EMULATION, "r");
    if (!file) return "";
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    text = calloc(bytes + sizeof BUILTINS, 1);
    bytes = fread(text, 1, bytes, file);
    strcpy(text + bytes, BUILTINS);
    fclose(file);
    return text;
}

enum { EXTENSION = 10, CAPABILITY = 17, TYPE_VOID = 19, TYPE_INT = 21, TYPE_POINTER = 32, TYPE_FUNCTION = 33,
       FUNCTION = 54, FUNCTION_PARAMETER = 55, FUNCTION_END = 56, FUNCTION_CALL = 57, DECORATE = 71, TYPE_OPAQUE_END = 39,
       BITCAST = 124, LABEL = 248, MULTIPLY = 6237, LOAD = 6231, LOAD_TRANSFORM, LOAD_TRANSPOSE, PREFETCH, STORE };

struct Words { uint32_t *at; size_t count, room; };

static void add(struct Words *to, const uint32_t *words, size_t count) {
    if (to->count + count > to->room) to->at = realloc(to->at, (to->room = 2 * (to->count + count) + 64) * 4);
    memcpy(to->at + to->count, words, count * 4);
    to->count += count;
}

#define ADD(to, opcode, ...)                                                                                        \
    do {                                                                                                             \
        uint32_t all[] = {0, __VA_ARGS__};                                                                           \
        all[0] = (uint32_t)(sizeof all / 4) << 16 | (opcode);                                                        \
        add(to, all, sizeof all / 4);                                                                                \
    } while (0)

// A module while it is rewritten: what comes before the types, with them, and with the functions
struct Rewriting {
    const uint32_t *words;
    size_t count;
    uint32_t bound, *types;  // of each id
    uint32_t lanes, void_type, byte_pointer;
    struct Words decorations, declarations, body;
    struct { char name[48]; uint32_t id; } made[16];
    unsigned made_count;
};

// The id of a function that is linked in; its type follows from that of its operands
static uint32_t imported(struct Rewriting *r, const char *name, uint32_t result, const uint32_t *operands, uint32_t count) {
    for (unsigned i = 0; i < r->made_count; i++)
        if (!strcmp(r->made[i].name, name)) return r->made[i].id;
    uint32_t type = r->bound++, function = r->bound++;
    uint32_t line[16] = {(3 + count) << 16 | TYPE_FUNCTION, type, result};
    for (uint32_t i = 0; i < count; i++) line[3 + i] = r->types[operands[i]];
    add(&r->declarations, line, 3 + count);
    ADD(&r->body, FUNCTION, result, function, 0, type);
    for (uint32_t i = 0; i < count; i++) ADD(&r->body, FUNCTION_PARAMETER, line[3 + i], r->bound++);
    ADD(&r->body, FUNCTION_END);
    uint32_t text[32] = {0}, length = (uint32_t)strlen(name) / 4 + 1;
    text[0] = (4 + length) << 16 | DECORATE, text[1] = function, text[2] = 41 /* LinkageAttributes */;
    memcpy(text + 3, name, strlen(name));
    text[3 + length] = 1;  // Import
    add(&r->decorations, text, 4 + length);
    snprintf(r->made[r->made_count].name, sizeof r->made->name, "%s", name);
    return r->made[r->made_count++].id = function;
}

// Functions that a module needs are declared before those that it defines; so this runs twice, first for names alone.
static bool rewritten(struct Rewriting *r, const uint32_t *at, struct Words *code) {
    static const char *const LOADS[] = {"plain", "transform", "transpose"};
    char name[48];
    uint32_t opcode = at[0] & 0xFFFF;
    if (opcode == MULTIPLY) {
        uint32_t form = at[7], operands[] = {at[4], at[5], at[6]};
        const char *elements = form & 1024 ? "f16" : form & 4096 ? "bf16" : form & 256 ? "tf32" : "i8";
        snprintf(name, sizeof name, "ts_matrix_%s_%u", elements, r->lanes);
        uint32_t callee = imported(r, name, at[1], operands, 3);
        if (code) ADD(code, FUNCTION_CALL, at[1], at[2], callee, at[4], at[5], at[6]);
    } else if (opcode >= LOAD && opcode <= LOAD_TRANSPOSE) {
        snprintf(name, sizeof name, "ts_load_%s_%u", LOADS[opcode - LOAD], r->lanes);
        uint32_t place = r->bound++, unused = r->bound++;
        uint32_t operands[10];
        memcpy(operands, at + 1, 36);
        operands[9] = place, r->types[place] = r->byte_pointer;
        uint32_t callee = imported(r, name, r->void_type, operands, 10);
        if (!code) return true;
        ADD(code, BITCAST, r->byte_pointer, place, at[10]);
        ADD(code, FUNCTION_CALL, r->void_type, unused, callee, at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8],
            at[9], place);
    } else if (opcode == STORE) {
        snprintf(name, sizeof name, "ts_store_%u", r->lanes);
        uint32_t place = r->bound++, unused = r->bound++;
        uint32_t operands[] = {at[1], at[2], at[3], at[4], at[6], at[7], at[8], at[9], at[10], place};
        r->types[place] = r->byte_pointer;
        uint32_t callee = imported(r, name, r->void_type, operands, 10);
        if (!code) return true;
        ADD(code, BITCAST, r->byte_pointer, place, at[5]);
        ADD(code, FUNCTION_CALL, r->void_type, unused, callee, at[1], at[2], at[3], at[4], at[6], at[7], at[8], at[9],
            at[10], place);
    } else {
        return opcode == PREFETCH;
    }
    return true;
}

static bool is_left_out(const uint32_t *at) {
    const char *text = (const char *)(at + 1);
    if ((at[0] & 0xFFFF) == CAPABILITY) return at[1] == 6236 || (at[1] >= 6228 && at[1] <= 6230);
    return (at[0] & 0xFFFF) == EXTENSION && (!strcmp(text, "SPV_INTEL_subgroup_matrix_multiply_accumulate") ||
                                             !strcmp(text, "SPV_INTEL_2d_block_io"));
}

// What an instruction's result is, as far as operands of these instructions are made by it
static void learn(struct Rewriting *r, const uint32_t *at, uint32_t *byte) {
    uint32_t opcode = at[0] & 0xFFFF, length = at[0] >> 16;
    if (opcode == TYPE_VOID) r->void_type = at[1];
    if (opcode == TYPE_INT && at[2] == 8) *byte = at[1];
    if (opcode == 16 && at[2] == 35) r->lanes = at[3];  // OpExecutionMode SubgroupSize
    // instructions without a result name what has a type already, or what none is asked of
    bool may_have = opcode == 1 || opcode == 12 || (opcode >= 43 && opcode != DECORATE && opcode != 72);
    if (may_have && length > 2 && at[1] < r->bound && at[2] < r->bound && !r->types[at[2]]) r->types[at[2]] = at[1];
}

// The module without them and its number of words, to be freed; NULL: it has none
uint32_t *without_matrix_unit(const uint32_t *words, size_t *count) {
    struct Rewriting r = {.words = words, .count = *count, .bound = words[3]};
    bool any = false;
    uint32_t byte = 0;
    r.types = calloc(r.bound + 2 * *count, 4);
    for (const uint32_t *at = words + 5; at < words + *count; at += at[0] >> 16) {
        any |= (at[0] & 0xFFFF) >= LOAD && (at[0] & 0xFFFF) <= MULTIPLY;
        learn(&r, at, &byte);
    }
    if (!any) return free(r.types), NULL;
    if (!byte) ADD(&r.declarations, TYPE_INT, byte = r.bound++, 8, 0);
    ADD(&r.declarations, TYPE_POINTER, r.byte_pointer = r.bound++, 7 /* Function */, byte);
    if (!r.void_type) ADD(&r.declarations, TYPE_VOID, r.void_type = r.bound++);
    for (const uint32_t *at = words + 5; at < words + *count; at += at[0] >> 16) rewritten(&r, at, NULL);
    struct Words made = {0};
    add(&made, words, 5);
    bool decorated = false, declared = false;
    for (const uint32_t *at = words + 5; at < words + *count; at += at[0] >> 16) {
        uint32_t opcode = at[0] & 0xFFFF;
        if (is_left_out(at)) continue;
        if (!decorated && opcode >= TYPE_VOID && opcode < TYPE_OPAQUE_END)
            add(&made, r.decorations.at, r.decorations.count), decorated = true;
        if (!declared && opcode == FUNCTION) {
            add(&made, r.declarations.at, r.declarations.count);
            add(&made, r.body.at, r.body.count);
            declared = true;
        }
        if (!rewritten(&r, at, &made)) add(&made, at, at[0] >> 16);
    }
    made.at[3] = r.bound;
    free(r.types), free(r.decorations.at), free(r.declarations.at), free(r.body.at);
    *count = made.count;
    return made.at;
}
