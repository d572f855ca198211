"""The OpenCL functions that this package calls, bound with ctypes.

One class, `Library`, stands for whatever exports the cl* functions: a driver opened directly, or an ICD
loader in front of many. Handles are plain integers (0 is "none"); that keeps the launch path free of wrapper
objects. Every failing call raises `OpenCLError`, which names the function and the error as OpenCL's headers
spell it.

Source: OpenCL 3.0 API specification; constants from CL/cl.h and CL/cl_ext.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ..errors import DeviceError
from . import running_kernels

# clGetPlatformInfo, clGetDeviceInfo
PLATFORM_NAME = 0x0902
DEVICE_TYPE = 0x1000
DEVICE_PLATFORM = 0x1031
DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010
DEVICE_MAX_COMPUTE_UNITS = 0x1002
DEVICE_MAX_WORK_GROUP_SIZE = 0x1004
DEVICE_LOCAL_MEM_SIZE = 0x1023
DEVICE_NAME = 0x102B
DEVICE_VENDOR = 0x102C
DRIVER_VERSION = 0x102D
DEVICE_EXTENSIONS = 0x1030
DEVICE_VERSION = 0x102F
DEVICE_SVM_CAPABILITIES = 0x1053
DEVICE_IL_VERSION = 0x105B
DEVICE_PARTITION_MAX_SUB_DEVICES = 0x1043
DEVICE_PARTITION_AFFINITY_DOMAIN = 0x1045
DEVICE_PARTITION_BY_AFFINITY_DOMAIN = 0x1088
AFFINITY_DOMAIN_NEXT_PARTITIONABLE = 1 << 5
DEVICE_UUID = 0x106A  # cl_khr_device_uuid
DEVICE_PCI_BUS_INFO = 0x410F  # cl_khr_pci_bus_info
DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108
DEVICE_IP_VERSION_INTEL = 0x4250
DEVICE_ID_INTEL = 0x4251
DEVICE_TYPE_CPU = 1 << 1
DEVICE_TYPE_GPU = 1 << 2
DEVICE_TYPE_ALL = 0xFFFFFFFF
SVM_COARSE_GRAIN_BUFFER = 1 << 0
SVM_FINE_GRAIN_SYSTEM = 1 << 2
# queues
QUEUE_PROPERTIES = 0x1093
QUEUE_PROFILING_ENABLE = 1 << 1
QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL = 1 << 31  # commands run in the calling thread, and are done on return
# events
PROFILING_COMMAND_QUEUED, PROFILING_COMMAND_SUBMIT = 0x1280, 0x1281
PROFILING_COMMAND_START, PROFILING_COMMAND_END = 0x1282, 0x1283
# programs
PROGRAM_BINARY_SIZES = 0x1165
PROGRAM_BINARIES = 0x1166
PROGRAM_BUILD_LOG = 0x1183
# kernels
KERNEL_SPILL_MEM_SIZE_INTEL = 0x4109  # bytes of a hardware thread
KERNEL_REGISTER_COUNT_INTEL = 0x425B
# memory
MEM_FLAGS = 0x1101
MEM_READ_WRITE = 1 << 0
MEM_ALLOW_UNRESTRICTED_SIZE_INTEL = 1 << 23
KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL = 0x4201
KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6

ERRORS = {
    -1: "CL_DEVICE_NOT_FOUND",
    -2: "CL_DEVICE_NOT_AVAILABLE",
    -3: "CL_COMPILER_NOT_AVAILABLE",
    -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    -5: "CL_OUT_OF_RESOURCES",
    -6: "CL_OUT_OF_HOST_MEMORY",
    -11: "CL_BUILD_PROGRAM_FAILURE",
    -12: "CL_MAP_FAILURE",
    -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    -15: "CL_COMPILE_PROGRAM_FAILURE",
    -17: "CL_LINK_PROGRAM_FAILURE",
    -30: "CL_INVALID_VALUE",
    -33: "CL_INVALID_DEVICE",
    -34: "CL_INVALID_CONTEXT",
    -36: "CL_INVALID_COMMAND_QUEUE",
    -38: "CL_INVALID_MEM_OBJECT",
    -42: "CL_INVALID_BINARY",
    -43: "CL_INVALID_BUILD_OPTIONS",
    -44: "CL_INVALID_PROGRAM",
    -45: "CL_INVALID_PROGRAM_EXECUTABLE",
    -46: "CL_INVALID_KERNEL_NAME",
    -48: "CL_INVALID_KERNEL",
    -49: "CL_INVALID_ARG_INDEX",
    -50: "CL_INVALID_ARG_VALUE",
    -51: "CL_INVALID_ARG_SIZE",
    -52: "CL_INVALID_KERNEL_ARGS",
    -53: "CL_INVALID_WORK_DIMENSION",
    -54: "CL_INVALID_WORK_GROUP_SIZE",
    -55: "CL_INVALID_WORK_ITEM_SIZE",
    -56: "CL_INVALID_GLOBAL_OFFSET",
    -59: "CL_INVALID_OPERATION",
    -61: "CL_INVALID_BUFFER_SIZE",
    -63: "CL_INVALID_GLOBAL_WORK_SIZE",
    -1001: "CL_PLATFORM_NOT_FOUND_KHR",
}

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_INT, _UINT, _FLAGS = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64

# name -> (result type, argument types); without argument types ctypes would pass integers as 32-bit values
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "clGetPlatformIDs": (_INT, (_UINT, _POINTER, _POINTER)),
    "clGetPlatformInfo": (_INT, (_POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clGetDeviceIDs": (_INT, (_POINTER, _FLAGS, _UINT, _POINTER, _POINTER)),
    "clGetDeviceInfo": (_INT, (_POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clCreateSubDevices": (_INT, (_POINTER, _POINTER, _UINT, _POINTER, _POINTER)),
    "clGetExtensionFunctionAddressForPlatform": (_POINTER, (_POINTER, ctypes.c_char_p)),
    "clCreateContext": (_POINTER, (_POINTER, _UINT, _POINTER, _POINTER, _POINTER, _POINTER)),
    "clCreateCommandQueueWithProperties": (_POINTER, (_POINTER, _POINTER, _POINTER, _POINTER)),
    "clReleaseCommandQueue": (_INT, (_POINTER,)),
    "clCreateProgramWithSource": (_POINTER, (_POINTER, _UINT, _POINTER, _POINTER, _POINTER)),
    "clCompileProgram": (_INT, (_POINTER, _UINT, _POINTER, _POINTER, _UINT, *[_POINTER] * 4)),
    "clLinkProgram": (_POINTER, (_POINTER, _UINT, _POINTER, _POINTER, _UINT, *[_POINTER] * 4)),
    "clCreateProgramWithIL": (_POINTER, (_POINTER, _POINTER, _SIZE, _POINTER)),
    "clCreateProgramWithBinary":
        (_POINTER, (_POINTER, _UINT, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
    "clBuildProgram": (_INT, (_POINTER, _UINT, _POINTER, ctypes.c_char_p, _POINTER, _POINTER)),
    "clGetProgramInfo": (_INT, (_POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clGetProgramBuildInfo": (_INT, (_POINTER, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clReleaseProgram": (_INT, (_POINTER,)),
    "clCreateKernel": (_POINTER, (_POINTER, ctypes.c_char_p, _POINTER)),
    "clCloneKernel": (_POINTER, (_POINTER, _POINTER)),
    "clReleaseKernel": (_INT, (_POINTER,)),
    "clGetKernelWorkGroupInfo": (_INT, (_POINTER, _POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clSetKernelArg": (_INT, (_POINTER, _UINT, _SIZE, _POINTER)),
    "clSetKernelArgSVMPointer": (_INT, (_POINTER, _UINT, _POINTER)),
    "clSetKernelExecInfo": (_INT, (_POINTER, _UINT, _SIZE, _POINTER)),
    "clEnqueueNDRangeKernel":
        (_INT, (_POINTER, _POINTER, _UINT, _POINTER, _POINTER, _POINTER, _UINT, _POINTER, _POINTER)),
    "clFinish": (_INT, (_POINTER,)),
    "clFlush": (_INT, (_POINTER,)),
    "clGetEventProfilingInfo": (_INT, (_POINTER, _UINT, _SIZE, _POINTER, _POINTER)),
    "clReleaseEvent": (_INT, (_POINTER,)),
    "clSVMAlloc": (_POINTER, (_POINTER, _FLAGS, _SIZE, _UINT)),
    "clSVMFree": (None, (_POINTER, _POINTER)),
    "clEnqueueSVMMemcpy": (_INT, (_POINTER, _UINT, _POINTER, _POINTER, _SIZE, _UINT, _POINTER, _POINTER)),
}


class OpenCLError(DeviceError):
    """An OpenCL function returned an error; `code` is its number."""

    def __init__(self, function: str, code: int, detail: str = "") -> None:
        self.function, self.code, self.detail = function, code, detail
        super().__init__(f"{function}: {ERRORS.get(code, 'error')} ({code}){': ' + detail if detail else ''}")


class Library:
    """The cl* functions of one shared library; `library.clFinish(queue)` is the bare call, `library.check`
    judges its result."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._handle = ctypes.CDLL(path)
        except OSError as error:
            raise DeviceError(f"the OpenCL library {path} does not load: {error}; "
                              "'pip install intel-opencl-rt intel-cmplr-lib-rt' brings a driver") from error

    def __getattr__(self, name: str) -> Any:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        try:
            function = getattr(self._handle, name)
        except AttributeError:
            raise DeviceError(f"the OpenCL library {self.path} has no function {name}; "
                              "OpenCL 2.1 or newer is needed") from None
        function.restype, function.argtypes = _FUNCTIONS[name]
        setattr(self, name, function)
        return function

    def check(self, function: str, code: int) -> None:
        """OpenCLError unless the code says success."""
        if code:
            raise OpenCLError(function, code)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns an error code, and soon."""
        with running_kernels.calls:
            code = getattr(self, name)(*arguments)
        self.check(name, code)

    def release(self, name: str, handle: int) -> None:
        """Call a function that gives a handle back."""
        with running_kernels.calls:
            getattr(self, name)(handle)

    def create(self, name: str, *arguments: Any) -> int:
        """Call a function that returns a handle and whose last parameter takes the error code."""
        code = ctypes.c_int32(0)
        with running_kernels.calls:
            handle = getattr(self, name)(*arguments, ctypes.addressof(code))
        if code.value or not handle:
            raise OpenCLError(name, code.value)
        return int(handle)

    def info(self, name: str, *arguments: Any) -> bytes:
        """The value of a clGet*Info query; `arguments` end with the parameter's number."""
        size = ctypes.c_size_t(0)
        self.call(name, *arguments, 0, None, ctypes.addressof(size))
        value = ctypes.create_string_buffer(size.value)
        if size.value:
            self.call(name, *arguments, size.value, ctypes.addressof(value), None)
        return value.raw

    def text(self, name: str, *arguments: Any) -> str:
        """The value of a query that gives a C string."""
        return self.info(name, *arguments).split(b"\0")[0].decode(errors="replace").strip()

    def number(self, name: str, *arguments: Any) -> int:
        """The value of a query that gives one integer of any width."""
        return int.from_bytes(self.info(name, *arguments), "little")

    def sizes(self, name: str, *arguments: Any) -> tuple[int, ...]:
        """The value of a query that gives an array of size_t."""
        raw = self.info(name, *arguments)
        return tuple(int.from_bytes(raw[i:i + 8], "little") for i in range(0, len(raw), 8))

    def platforms(self) -> list[int]:
        """Handles of the platforms; empty where there are none."""
        count = ctypes.c_uint32(0)
        code = self.clGetPlatformIDs(0, None, ctypes.addressof(count))
        if code == -1001 or (not code and not count.value):  # an ICD loader without a driver reports an error
            return []
        self.check("clGetPlatformIDs", code)
        handles = (ctypes.c_void_p * count.value)()
        self.call("clGetPlatformIDs", count.value, ctypes.addressof(handles), None)
        return [int(handle or 0) for handle in handles]

    def devices(self, platform: int) -> list[int]:
        """Handles of the devices of a platform; empty where there are none."""
        count = ctypes.c_uint32(0)
        code = self.clGetDeviceIDs(platform, DEVICE_TYPE_ALL, 0, None, ctypes.addressof(count))
        if code == -1 or (not code and not count.value):
            return []
        self.check("clGetDeviceIDs", code)
        handles = (ctypes.c_void_p * count.value)()
        self.call("clGetDeviceIDs", platform, DEVICE_TYPE_ALL, count.value, ctypes.addressof(handles), None)
        return [int(handle or 0) for handle in handles]

    def parts(self, device: int) -> list[int]:
        """Handles of the parts that a device says it consists of, each with memory nearer to it; empty where
        it is one."""
        way = (ctypes.c_ssize_t * 3)(DEVICE_PARTITION_BY_AFFINITY_DOMAIN, AFFINITY_DOMAIN_NEXT_PARTITIONABLE,
                                     0)
        try:
            most = self.number("clGetDeviceInfo", device, DEVICE_PARTITION_MAX_SUB_DEVICES)
            domains = self.number("clGetDeviceInfo", device, DEVICE_PARTITION_AFFINITY_DOMAIN)
            if most < 2 or not domains & AFFINITY_DOMAIN_NEXT_PARTITIONABLE:
                return []
            count, handles = ctypes.c_uint32(0), (ctypes.c_void_p * most)()
            self.call("clCreateSubDevices", device, ctypes.addressof(way), most, ctypes.addressof(handles),
                      ctypes.addressof(count))
        except OpenCLError:  # it can be used whole
            return []
        return [int(handle or 0) for handle in handles[:count.value]]

    def extension(self, device: int, name: str) -> int:
        """The address of a function of an extension that the device has."""
        platform = self.number("clGetDeviceInfo", device, DEVICE_PLATFORM)
        address = self.clGetExtensionFunctionAddressForPlatform(platform, name.encode())
        if not address:
            raise DeviceError(f"the OpenCL library {self.path} does not have {name}, which it promises")
        return int(address)

    def create_context(self, device: int) -> int:
        """A context of one device."""
        return self.create("clCreateContext", None, 1, _handles([device]), None, None)

    def create_queue(self, context: int, device: int, properties: int = 0) -> int:
        """An in-order queue with the given properties."""
        pairs = (ctypes.c_uint64 * 3)(QUEUE_PROPERTIES, properties, 0)
        return self.create("clCreateCommandQueueWithProperties", context, device, ctypes.addressof(pairs))

    def program_with_il(self, context: int, words: bytes) -> int:
        """A program from SPIR-V words."""
        return self.create("clCreateProgramWithIL", context, data_of(words), len(words))

    def program_with_binary(self, context: int, device: int, binary: bytes) -> int:
        """A program from what `binary` gave in an earlier process."""
        size, status = ctypes.c_size_t(len(binary)), ctypes.c_int32(0)
        pointer = data_of(binary)
        return self.create("clCreateProgramWithBinary", context, 1, _handles([device]),
                           *map(ctypes.addressof, (size, pointer, status)))

    def build(self, program: int, device: int, options: str = "") -> None:
        """Build for the device; where that fails, the error carries the build log and the program is gone."""
        code = self.clBuildProgram(program, 1, _handles([device]), options.encode(), None, None)
        if code:
            log = self.build_log(program, device)
            self.clReleaseProgram(program)
            raise OpenCLError("clBuildProgram", code, log)

    def linked(self, context: int, device: int, program: int, source: str) -> int:
        """The handle of a program that is linked of another one, not built yet, and OpenCL C."""
        text = ctypes.c_char_p(source.encode())
        other = self.create("clCreateProgramWithSource", context, 1, ctypes.addressof(text), None)
        devices, programs = _handles([device]), _handles([program, other])
        for each, options in ((program, None), (other, data_of(b"-cl-std=CL3.0\0"))):
            try:
                self.call("clCompileProgram", each, 1, devices, options, 0, None, None, None, None)
            except OpenCLError as error:
                raise OpenCLError(error.function, error.code, self.build_log(each, device)) from None
        return self.create("clLinkProgram", context, 1, devices, None, 2, programs, None, None)

    def build_log(self, program: int, device: int) -> str:
        """What the device's compiler said about the program."""
        return self.text("clGetProgramBuildInfo", program, device, PROGRAM_BUILD_LOG)

    def binary(self, program: int) -> bytes:
        """The driver's binary of a built program of one device."""
        size = self.number("clGetProgramInfo", program, PROGRAM_BINARY_SIZES)
        data = ctypes.create_string_buffer(size)
        pointer = ctypes.c_void_p(ctypes.addressof(data))
        self.call("clGetProgramInfo", program, PROGRAM_BINARIES, ctypes.sizeof(pointer),
                  ctypes.addressof(pointer), None)
        return data.raw


def data_of(data: bytes) -> ctypes.c_void_p:
    """A pointer to the bytes, which it keeps alive."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)


def _handles(values: Sequence[int]) -> Any:
    return (ctypes.c_void_p * len(values))(*values)
