// A driver for tests: Intel's, with which this is linked, but it counts launches, and can give wrong functions.
// Also a caller that makes text of C++ exceptions.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <exception>

namespace {

template <typename Type>
Type *next(const char *name) {
    static void *driver = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Type *>(dlsym(driver, name));
}

// As the probe of called_programs.py, but for the order of its arguments.
void reversed(uint32_t **arguments, uint32_t x, uint32_t y, uint32_t z, uint32_t nx, uint32_t ny, uint32_t nz) {
    const uint32_t found[] = {nz, ny, nx, z, y, x, 13};
    std::memcpy(*arguments, found, sizeof found);
}

int wrong_address(void *, void *, const char *, uint64_t *found) {
    *found = reinterpret_cast<uint64_t>(&reversed);
    return 0;
}

}  // namespace

extern "C" {

int launches = 0, functions = 0;  // functions: 0: the driver's; 1: none; 2: wrong ones

int clEnqueueNDRangeKernel(void *queue, void *kernel, uint32_t axes, const size_t *first, const size_t *global,
                           const size_t *local, uint32_t count, void *const *events, void **event) {
    __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
    return next<int(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *const *,
                    void **)>("clEnqueueNDRangeKernel")(queue, kernel, axes, first, global, local, count, events, event);
}

void *clGetExtensionFunctionAddressForPlatform(void *platform, const char *name) {
    if (functions == 1) return nullptr;
    if (functions == 2) return reinterpret_cast<void *>(&wrong_address);
    return next<void *(void *, const char *)>("clGetExtensionFunctionAddressForPlatform")(platform, name);
}

int caught(void (*launch)(uint32_t, uint32_t, uint32_t, int, void **, void *), uint32_t x, uint32_t y, uint32_t z,
           void **arguments, void *kernel, char *text, size_t size) {
    try {
        launch(x, y, z, 1, arguments, kernel);
        return 0;
    } catch (const std::exception &error) {
        std::strncpy(text, error.what(), size - 1);
        return 1;
    }
}

}  // extern "C"
