// The table by which a loader reaches the functions, and how programs find those of extensions.
#include "simulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED(F)                                                                                                    \
    F(clGetPlatformIDs) F(clGetPlatformInfo) F(clGetDeviceIDs) F(clGetDeviceInfo) F(clRetainDevice)                  \
    F(clReleaseDevice) F(clCreateSubDevices) F(clCreateContext) F(clRetainContext) F(clReleaseContext)               \
    F(clGetContextInfo) F(clCreateCommandQueue) F(clCreateCommandQueueWithProperties) F(clRetainCommandQueue)        \
    F(clReleaseCommandQueue) F(clGetCommandQueueInfo) F(clFlush) F(clFinish) F(clWaitForEvents) F(clRetainEvent)     \
    F(clReleaseEvent) F(clGetEventInfo) F(clGetEventProfilingInfo) F(clSVMAlloc) F(clSVMFree) F(clEnqueueSVMMap)     \
    F(clEnqueueSVMUnmap) F(clEnqueueSVMMemcpy) F(clEnqueueSVMMemFill) F(clCreateProgramWithIL)                       \
    F(clCreateProgramWithBinary) F(clBuildProgram) F(clRetainProgram) F(clReleaseProgram) F(clGetProgramInfo)        \
    F(clGetProgramBuildInfo) F(clCreateKernel) F(clCloneKernel) F(clRetainKernel) F(clReleaseKernel)                 \
    F(clGetKernelInfo) F(clGetKernelWorkGroupInfo) F(clSetKernelArg) F(clSetKernelArgSVMPointer)                     \
    F(clSetKernelExecInfo) F(clEnqueueNDRangeKernel) F(clEnqueueBarrierWithWaitList)                                 \
    F(clEnqueueMarkerWithWaitList) F(clGetExtensionFunctionAddress) F(clGetExtensionFunctionAddressForPlatform)    \
    F(clCreateBuffer) F(clRetainMemObject) F(clReleaseMemObject) F(clGetMemObjectInfo) F(clEnqueueReadBuffer)        \
    F(clEnqueueWriteBuffer) F(clEnqueueFillBuffer) F(clEnqueueMapBuffer) F(clEnqueueUnmapMemObject)

extern void *clDeviceMemAllocINTEL(), *clHostMemAllocINTEL(), *clSharedMemAllocINTEL();
extern cl_int clMemFreeINTEL(), clMemBlockingFreeINTEL(), clGetMemAllocInfoINTEL(), clEnqueueMemcpyINTEL(),
    clEnqueueMemFillINTEL(), clSetKernelArgMemPointerINTEL(), clIcdGetPlatformIDsKHR();

#define EXTENSIONS(F)                                                                                               \
    F(clDeviceMemAllocINTEL) F(clHostMemAllocINTEL) F(clSharedMemAllocINTEL) F(clMemFreeINTEL)                       \
    F(clMemBlockingFreeINTEL) F(clGetMemAllocInfoINTEL) F(clEnqueueMemcpyINTEL) F(clEnqueueMemFillINTEL)             \
    F(clSetKernelArgMemPointerINTEL) F(clIcdGetPlatformIDsKHR)

VISIBLE void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name) {
    (void)platform;
#define COMPARE(function) if (!strcmp(name, #function)) return (void *)function;
    EXTENSIONS(COMPARE)
    return NULL;
}

VISIBLE void *clGetExtensionFunctionAddress(const char *name) {
    return clGetExtensionFunctionAddressForPlatform(NULL, name);
}

cl_icd_dispatch dispatch_table = {
#define MEMBER(function) .function = function,
    NAMED(MEMBER)
};

static void not_simulated(void) {
    fprintf(stderr, "simulated GPU: a function of OpenCL is called that is not simulated\n");
    abort();
}

__attribute__((constructor)) static void fill_table(void) {
    void (**entries)(void) = (void *)&dispatch_table;
    for (size_t i = 0; i < sizeof dispatch_table / sizeof *entries; i++)
        if (!entries[i]) entries[i] = not_simulated;
}
