// The accesses of SPV_INTEL_predicated_io, for OpenCL devices that have none. Elements are integers of so many
// bits, as many as the last number says; memory is only touched where `here` is not 0.

#define SCALAR(TYPE, BITS)                                                                                  \
    TYPE ts_where_load_##BITS##_1(global const TYPE *from, TYPE other, int here) {                          \
        return here ? *from : other;                                                                        \
    }                                                                                                       \
    void ts_where_store_##BITS##_1(global TYPE *to, TYPE value, int here) {                                 \
        if (here) *to = value;                                                                              \
    }

#define VECTOR(TYPE, BITS, COUNT)                                                                           \
    TYPE##COUNT ts_where_load_##BITS##_##COUNT(global const TYPE##COUNT *from, TYPE##COUNT other, int here) { \
        return here ? vload##COUNT(0, (global const TYPE *)from) : other;                                   \
    }                                                                                                       \
    void ts_where_store_##BITS##_##COUNT(global TYPE##COUNT *to, TYPE##COUNT value, int here) {             \
        if (here) vstore##COUNT(value, 0, (global TYPE *)to);                                               \
    }

#define EVERY(TYPE, BITS)                                                                                   \
    SCALAR(TYPE, BITS)                                                                                      \
    VECTOR(TYPE, BITS, 2)                                                                                   \
    VECTOR(TYPE, BITS, 4)                                                                                   \
    VECTOR(TYPE, BITS, 8)                                                                                   \
    VECTOR(TYPE, BITS, 16)

EVERY(uchar, 8)
EVERY(ushort, 16)
EVERY(uint, 32)
EVERY(ulong, 64)
