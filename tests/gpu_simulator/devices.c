// The devices, and what they say of themselves.
//
// What it rests on. Extensions: `ocloc query CL_DEVICE_EXTENSIONS -device ...` of ocloc 26.27, which gives what the driver
// reports but for what needs the machine (cl_khr_pci_bus_info). IP versions: `ocloc ids`. Shared memory, doubles, integrated
// or not, no fine-grained SVM, no access to the host's memory: the tables hw_info_*.cpp of the driver's public source.
// Largest allocation: 4 GB and 8 kB less, as the driver caps it. Names, ids, units: Intel's product pages.
// Guesses: work-groups of 1024 on all; memory of the integrated device (half of 32 GB).
#include "simulator.h"
#include <string.h>

#define COMMON                                                                                                      \
    "cl_khr_byte_addressable_store cl_khr_device_uuid cl_khr_fp16 cl_khr_global_int32_base_atomics "                 \
    "cl_khr_global_int32_extended_atomics cl_khr_icd cl_khr_icd_unloadable cl_khr_local_int32_base_atomics "         \
    "cl_khr_local_int32_extended_atomics cl_intel_command_queue_families cl_intel_subgroups "                        \
    "cl_intel_required_subgroup_size cl_intel_subgroups_short cl_intel_accelerator cl_intel_driver_diagnostics "     \
    "cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue cl_intel_subgroups_char "               \
    "cl_intel_subgroups_long cl_khr_il_program cl_intel_mem_force_host_memory cl_khr_subgroup_extended_types "       \
    "cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot cl_khr_subgroup_non_uniform_arithmetic "                \
    "cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce "                     \
    "cl_intel_device_attribute_query cl_khr_expect_assume cl_khr_extended_bit_ops "                                  \
    "cl_khr_suggested_local_work_size cl_intel_split_work_group_barrier cl_khr_int64_base_atomics "                  \
    "cl_khr_int64_extended_atomics cl_khr_integer_dot_product cl_intel_spirv_subgroups cl_khr_spirv_linkonce_odr "   \
    "cl_khr_spirv_no_integer_wrap_decoration cl_khr_spirv_queries cl_intel_unified_shared_memory "                   \
    "cl_ext_float_atomics cl_intel_kernel_allocations_info cl_khr_external_memory "                                  \
    "cl_intel_create_buffer_with_properties cl_intel_subgroup_local_block_io cl_khr_pci_bus_info "
#define IMAGES                                                                                                      \
    "cl_khr_mipmap_image cl_khr_mipmap_image_writes cl_intel_planar_yuv cl_intel_packed_yuv "                        \
    "cl_khr_image2d_from_buffer cl_khr_depth_images cl_khr_3d_image_writes "
#define MEDIA "cl_intel_spirv_media_block_io cl_intel_media_block_io "
#define MATRIX "cl_intel_bfloat16_conversions cl_intel_subgroup_matrix_multiply_accumulate "
#define BLOCKS                                                                                                      \
    "cl_khr_subgroups cl_intel_subgroup_matrix_multiply_accumulate_tf32 cl_khr_subgroup_named_barrier "              \
    "cl_intel_subgroup_extended_block_read cl_intel_subgroup_2d_block_io cl_intel_subgroup_buffer_prefetch "

#define IP(architecture, release, revision) ((architecture) << 22 | (release) << 14 | (revision))
#define GB (1ull << 30)

static const struct Model pvc = {
    "Intel(R) Data Center GPU Max 1100", "pvc", COMMON "cl_khr_fp64 " MATRIX BLOCKS, 0x0BDA, IP(12, 60, 7), 448,
    {16, 32}, 1024, 128 << 10, 48 * GB, true, false, 1, 1};
static const struct Model pvc_two = {  // of a tile: units, memory
    "Intel(R) Data Center GPU Max 1550", "pvc", COMMON "cl_khr_fp64 " MATRIX BLOCKS, 0x0BD5, IP(12, 60, 7), 512,
    {16, 32}, 1024, 128 << 10, 64 * GB, true, false, 1, 2};
static const struct Model bmg = {
    "Intel(R) Arc(TM) B580 Graphics", "bmg", COMMON "cl_khr_fp64 " IMAGES MATRIX BLOCKS, 0xE20B, IP(20, 1, 4), 160,
    {16, 32}, 1024, 128 << 10, 12 * GB, true, false, 1, 1};
static const struct Model dg2 = {
    "Intel(R) Arc(TM) A770 Graphics", "acm-g10",
    COMMON IMAGES MEDIA MATRIX "cl_intel_subgroup_split_matrix_multiply_accumulate ", 0x56A0, IP(12, 55, 8), 512,
    {8, 16, 32}, 1024, 64 << 10, 16 * GB, false, false, 1, 1};
static const struct Model arl = {
    "Intel(R) Arc(TM) 140T GPU", "arl-h", COMMON "cl_khr_fp64 " IMAGES MEDIA MATRIX, 0x7D51, IP(12, 74, 4), 128,
    {8, 16, 32}, 1024, 64 << 10, 16 * GB, true, true, 1, 1};
static const struct Model mtl = {
    "Intel(R) Arc(TM) Graphics", "mtl-h", COMMON "cl_khr_fp64 " IMAGES MEDIA, 0x7D55, IP(12, 71, 4), 128,
    {8, 16, 32}, 1024, 64 << 10, 16 * GB, true, true, 1, 1};

static struct _cl_platform_id platform = {.dispatch = &dispatch_table, .kind = PLATFORM, .references = 1};

// by their places on the bus; two of a kind, as in a machine with two cards, and one of two tiles
const struct Model *const cards[] = {&pvc, &bmg, &bmg, &dg2, &arl, &mtl, &pvc_two, NULL};

cl_int give(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_to) {
    if (to && room < bytes) return CL_INVALID_VALUE;
    if (to) memcpy(to, value, bytes);
    if (bytes_to) *bytes_to = bytes;
    return CL_SUCCESS;
}

#define TEXT(text) give(text, strlen(text) + 1, room, to, bytes_to)
#define SIZE(number) GIVE(size_t, number)
#define UINT(number) GIVE(cl_uint, number)
#define ULONG(number) GIVE(cl_ulong, number)

// ---- platforms

VISIBLE cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *to, cl_uint *count) {
    if (!listed()->count) return CL_OUT_OF_HOST_MEMORY;  // the driver's word for: no device
    if (to && room) *to = &platform;
    if (count) *count = 1;
    return CL_SUCCESS;
}

// As a loader gives it, which passes over drivers that fail
VISIBLE cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count) {
    return clIcdGetPlatformIDsKHR(room, to, count) ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
}

VISIBLE cl_int clGetPlatformInfo(cl_platform_id one, cl_platform_info what, size_t room, void *to, size_t *bytes_to) {
    if (one != &platform) return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_NAME: return TEXT("Intel(R) OpenCL Graphics");
    case CL_PLATFORM_VENDOR: return TEXT("Intel(R) Corporation");
    case CL_PLATFORM_VERSION: return TEXT("OpenCL 3.0 simulated");
    case CL_PLATFORM_PROFILE: return TEXT("FULL_PROFILE");
    case CL_PLATFORM_EXTENSIONS: return TEXT(COMMON);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return TEXT("INTEL");
    case CL_PLATFORM_NUMERIC_VERSION: return UINT(CL_MAKE_VERSION(3, 0, 0));
    default: return CL_INVALID_VALUE;
    }
}

// ---- devices

VISIBLE cl_int clGetDeviceIDs(cl_platform_id one, cl_device_type type, cl_uint room, cl_device_id *to, cl_uint *count) {
    if (one != &platform) return CL_INVALID_PLATFORM;
    bool meant = type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT);  // CL_DEVICE_TYPE_ALL has all bits
    if (!meant) return CL_DEVICE_NOT_FOUND;
    const struct Listing *all = listed();
    for (cl_uint i = 0; to && i < room && i < all->count; i++) to[i] = all->devices[i];
    if (count) *count = all->count;
    return CL_SUCCESS;
}

VISIBLE cl_int clRetainDevice(cl_device_id device) { return device ? CL_SUCCESS : CL_INVALID_DEVICE; }
VISIBLE cl_int clReleaseDevice(cl_device_id device) { return device ? CL_SUCCESS : CL_INVALID_DEVICE; }

// 16 bytes that differ between devices of a kind; the last one is 0 for a card, its number and 1 for a tile
static cl_int uuid(cl_device_id device, size_t room, void *to, size_t *bytes_to) {
    unsigned char bytes[16] = {0x86, 0x80, device->model->id & 0xFF, device->model->id >> 8 & 0xFF, 8, 0, 0, 0,
                               (unsigned char)(device->number + 3)};
    if (device->is_tile) bytes[15] = (unsigned char)(__builtin_ctz(device->tiles) + 1);
    return give(bytes, sizeof bytes, room, to, bytes_to);
}

VISIBLE cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *bytes_to) {
    if (!ALIVE(device, DEVICE)) return CL_INVALID_DEVICE;
    const struct Model *model = device->model;
    const cl_ulong memory_bytes = memory_of(device);
    size_t sizes = 0;
    while (sizes < 4 && model->sub_group_sizes[sizes]) sizes++;
    switch (what) {
    case CL_DEVICE_TYPE: return ULONG(CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_VENDOR_ID: return UINT(0x8086);
    case CL_DEVICE_NAME: return TEXT(model->name);
    case CL_DEVICE_VENDOR: return TEXT("Intel(R) Corporation");
    case CL_DRIVER_VERSION: return TEXT("26.27.simulated");
    case CL_DEVICE_PROFILE: return TEXT("FULL_PROFILE");
    case CL_DEVICE_VERSION: return TEXT("OpenCL 3.0 NEO simulated");
    case CL_DEVICE_OPENCL_C_VERSION: return TEXT("OpenCL C 1.2");
    case CL_DEVICE_NUMERIC_VERSION: return UINT(CL_MAKE_VERSION(3, 0, 0));
    case CL_DEVICE_EXTENSIONS: return TEXT(model->extensions);
    case CL_DEVICE_IL_VERSION: return TEXT("SPIR-V_1.5 SPIR-V_1.4 SPIR-V_1.3 SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0");
    case CL_DEVICE_BUILT_IN_KERNELS: return TEXT("");
    case CL_DEVICE_PLATFORM: return GIVE(cl_platform_id, &platform);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return UINT(model->compute_units * (device->part_count ? device->part_count : 1));
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return UINT(3);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return SIZE(model->work_group_size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
        size_t most[3] = {model->work_group_size, model->work_group_size, model->work_group_size};
        return give(most, sizeof most, room, to, bytes_to);
    }
    case CL_DEVICE_MAX_NUM_SUB_GROUPS: return UINT((cl_uint)(model->work_group_size / model->sub_group_sizes[0]));
    case CL_DEVICE_SUB_GROUP_SIZES_INTEL:
        return give(model->sub_group_sizes, sizes * sizeof(size_t), room, to, bytes_to);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: return UINT(2000);
    case CL_DEVICE_ADDRESS_BITS: return UINT(64);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: {
        cl_ulong most = 4 * GB - 8192;
        return ULONG(memory_bytes < most ? memory_bytes : most);
    }
    case CL_DEVICE_GLOBAL_MEM_SIZE: return ULONG(memory_bytes);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: return ULONG(16 << 20);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: return UINT(64);
    case CL_DEVICE_LOCAL_MEM_SIZE: return ULONG(model->shared_bytes);
    case CL_DEVICE_LOCAL_MEM_TYPE: return UINT(CL_LOCAL);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return SIZE(2048);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return UINT(1024);
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return GIVE(cl_bool, model->integrated);
    case CL_DEVICE_AVAILABLE: case CL_DEVICE_COMPILER_AVAILABLE: case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE: return GIVE(cl_bool, CL_TRUE);
    case CL_DEVICE_IMAGE_SUPPORT: return GIVE(cl_bool, CL_FALSE);
    case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
        return ULONG(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return SIZE(52);
    case CL_DEVICE_SINGLE_FP_CONFIG: return ULONG(0x3F | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    case CL_DEVICE_HALF_FP_CONFIG: return ULONG(0x3F);
    case CL_DEVICE_DOUBLE_FP_CONFIG: return ULONG(model->doubles ? 0x3F : 0);
    case CL_DEVICE_SVM_CAPABILITIES: return ULONG(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL: case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:
        return ULONG(CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL);
    case CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
        return ULONG(CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL);
    case CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL: return ULONG(0);
    case CL_DEVICE_IP_VERSION_INTEL: return UINT(model->ip_version);
    case CL_DEVICE_ID_INTEL: return UINT(model->id);
    case CL_DEVICE_UUID_KHR: return uuid(device, room, to, bytes_to);
    case CL_DEVICE_PCI_BUS_INFO_KHR: {
        cl_uint place[4] = {0, device->number + 3, 0, 0};
        return give(place, sizeof place, room, to, bytes_to);
    }
    case CL_DEVICE_PARENT_DEVICE: return GIVE(cl_device_id, device->parent);
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES: return UINT(device->part_count);
    case CL_DEVICE_PARTITION_PROPERTIES: {
        cl_device_partition_property ways[2] = {device->part_count ? CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN : 0, 0};
        return give(ways, sizeof ways, room, to, bytes_to);
    }
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: return ULONG(device->part_count ? AFFINITY_DOMAINS : 0);
    case CL_DEVICE_PARTITION_TYPE: {
        cl_device_partition_property made[3] = {0};
        if (device->parent) made[0] = CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, made[1] = CL_DEVICE_AFFINITY_DOMAIN_NUMA;
        return give(made, sizeof made, room, to, bytes_to);
    }
    case CL_DEVICE_REFERENCE_COUNT: return UINT(1);
    default: return CL_INVALID_VALUE;
    }
}
