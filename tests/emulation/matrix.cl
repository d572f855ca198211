// The matrix unit and the 2D block messages of Intel's GPUs, written with sub-group shuffles, for OpenCL devices
// that have neither. What a lane holds is as the specifications of cl_intel_subgroup_matrix_multiply_accumulate
// and SPV_INTEL_2d_block_io have it. A surface that hardware would refuse gives NaN everywhere, so that a test
// sees it.

float from_bf16(ushort x) { return as_float((uint)x << 16); }
float from_f16(ushort x) { return vload_half(0, (const private half *)&x); }
float from_tf32(float x) { return as_float(as_uint(x) & 0xFFFFE000u); }

// A row of A: `a[i]` of lane k / per_lane holds elements k of row i, `bits` each; B: word k / per_word of the lane.
#define PRODUCT(NAME, WORD, LANES, DEPTH, SUM, SUM8, CONVERT, BITS, MASK)                                   \
    __attribute__((noinline)) SUM8 NAME(WORD##8 a, int8 b, SUM8 c) {                                                                  \
        const int per_lane = DEPTH / LANES, per_word = 32 / BITS;                                           \
        _Pragma("nounroll") for (int i = 0; i < 8; i++)                                                    \
            _Pragma("nounroll") for (int k = 0; k < DEPTH; k++) {                                                             \
                uint x = (uint)sub_group_shuffle(a[i], k / per_lane) >> (k % per_lane * BITS) & MASK;       \
                uint y = (uint)b[k / per_word] >> (k % per_word * BITS) & MASK;                             \
                c[i] += (SUM)CONVERT(x) * (SUM)CONVERT(y);                                                  \
            }                                                                                               \
        return c;                                                                                           \
    }

int from_i8(uint x) { return (int)(char)x; }

PRODUCT(ts_matrix_f16_16, short, 16, 16, float, float8, from_f16, 16, 0xFFFF)
PRODUCT(ts_matrix_bf16_16, short, 16, 16, float, float8, from_bf16, 16, 0xFFFF)
PRODUCT(ts_matrix_i8_16, short, 16, 32, int, int8, from_i8, 8, 0xFF)
PRODUCT(ts_matrix_f16_8, int, 8, 16, float, float8, from_f16, 16, 0xFFFF)
PRODUCT(ts_matrix_bf16_8, int, 8, 16, float, float8, from_bf16, 16, 0xFFFF)
PRODUCT(ts_matrix_i8_8, int, 8, 32, int, int8, from_i8, 8, 0xFF)

__attribute__((noinline)) float8 ts_matrix_tf32_16(float4 a, float8 b, float8 c) {
    #pragma nounroll
    for (int i = 0; i < 8; i++)
        #pragma nounroll
        for (int k = 0; k < 8; k++)
            c[i] += from_tf32(sub_group_shuffle(a[i / 2], i % 2 * 8 + k)) * from_tf32(b[k]);
    return c;
}

bool is_refused(global const uchar *base, int width, int height, int pitch) {
    return (ulong)base % 64 || width < 64 || width % 4 || height < 1 || pitch < width || pitch % 16 ||
           width > 1 << 24 || height > 1 << 24 || pitch > 1 << 24;
}

uchar byte_at(global const uchar *base, int width, int height, int pitch, int column, int row) {
    bool inside = column >= 0 && column < width && row >= 0 && row < height;
    return inside ? base[(long)row * pitch + column] : 0;
}

#define SURFACE int size, int columns, int rows, int count, global uchar *base, int width, int height, int pitch, int2 at

// Elements in order of rows, a word for each lane, then the next; bytes come in pairs.
__attribute__((noinline)) void ts_load_plain_16(SURFACE, private uchar *to) {
    const int bytes = size == 1 ? 2 : size, lane = get_sub_group_local_id();
    const int wide = columns * size / bytes, words = wide * rows / 16;
    #pragma nounroll
    for (int block = 0; block < count; block++)
        #pragma nounroll
        for (int j = 0; j < words; j++) {
            int e = j * 16 + lane, row = e / wide, column = (at.x + block * columns) * size + e % wide * bytes;
            #pragma nounroll
            for (int t = 0; t < bytes; t++)
                to[(block * words + j) * bytes + t] = is_refused(base, width, height, pitch) ? 0xFF
                    : byte_at(base, width, height, pitch, column + t, at.y + row);
        }
}

// A lane has a column; a word holds the elements of two or four rows.
__attribute__((noinline)) void ts_load_transform_16(SURFACE, private uchar *to) {
    const int lane = get_sub_group_local_id(), words = rows * size / 4;
    #pragma nounroll
    for (int block = 0; block < count; block++)
        #pragma nounroll
        for (int i = 0; i < rows; i++)
            #pragma nounroll
            for (int t = 0; t < size; t++)
                to[block * words * 4 + i * size + t] = is_refused(base, width, height, pitch) ? 0xFF
                    : byte_at(base, width, height, pitch, (at.x + block * columns + lane) * size + t, at.y + i);
}

// A lane has a row of words.
__attribute__((noinline)) void ts_load_transpose_16(SURFACE, private uchar *to) {
    const int lane = get_sub_group_local_id();
    #pragma nounroll
    for (int j = 0; j < columns; j++)
        #pragma nounroll
        for (int t = 0; t < 4; t++)
            to[j * 4 + t] = is_refused(base, width, height, pitch) ? 0xFF
                : byte_at(base, width, height, pitch, (at.x + j) * 4 + t, at.y + lane);
}

// What ts_load_plain_16 loads; 32 bits or 16.
__attribute__((noinline)) void ts_store_16(SURFACE, private uchar *from) {
    const int lane = get_sub_group_local_id();
    #pragma nounroll
    for (int i = 0; i < rows; i++)
        #pragma nounroll
        for (int t = 0; t < size; t++) {
            int column = (at.x + lane) * size + t, row = at.y + i;
            if (column >= 0 && column < width && row >= 0 && row < height)
                base[(long)row * pitch + column] = is_refused(base, width, height, pitch) ? 0xFF : from[i * size + t];
        }
}
