"""Runs the kernels of the bundle in this folder. Needs pyopencl and numpy, nothing else.

    import numpy, loader                      # with this folder in sys.path; or python loader.py for a list

    add = loader.load("add")                  # or load("add", target="cpu", BLOCK=128) among several variants
    add((blocks,), x, y, out, n)              # grid of programs, then arguments in the kernel's order

Arguments are numpy arrays, or CPU tensors of torch, for pointers, and numbers for the rest; constants of the
compilation are left out. A launch returns when its results can be read.
"""

import ctypes
import hashlib
import json
import operator
import os
import re
import struct
import sys
import tempfile
import warnings
from pathlib import Path

import numpy

FOLDER = Path(__file__).resolve().parent

#: Triton's element types that numpy has
DTYPES = {"i1": "bool", "fp16": "float16", "fp32": "float32", "fp64": "float64",
          **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
          **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}}
#: type of a parameter -> struct's code
CODES = {"i1": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f16": "e", "bf16": "H", "f32": "f",
         "f64": "d"}

#: what modules import begins so -> what the processor must have, or the driver ends the process; how Linux is
#: asked for AMX's tile registers: a system call, arch_prctl, its ARCH_REQ_XCOMP_PERM, the component XTILEDATA
NEEDED = {b"llvm.x86.ldtilecfg": "amx_tile", b"llvm.x86.avx.": "avx", b"llvm.x86.avx2.": "avx2",
          b"llvm.x86.avx512.": "avx512dq", b"llvm.x86.avx512.vpdpbusd": "avx512_vnni",
          b"llvm.x86.avx512bf16.": "avx512_bf16"}
ASK_FOR_TILES = (158, 0x1023, 18)
FACTS = Path("/proc/cpuinfo")

#: The driver goes by a model's number, and a virtual machine may show an older one: all numbers with tiles,
#: and the setting that tells the driver what it compiles for, with the features that this stands for.
WITH_TILES = ("143", "173", "174", "207")
SETTING, NEWEST = "CL_CONFIG_CPU_TARGET_ARCH", "sapphirerapids"
#: all that the setting can name, oldest first: what modules need that the one before lacks
ADDED = {"corei7": (), "corei7-avx": ("avx",), "core-avx2": ("avx2",), "skx": ("avx512dq",),
         "icelake-server": ("avx512_vnni",), NEWEST: ("avx512_bf16", "amx_tile")}
NEWEST_HAS = {*ADDED[NEWEST], "amx_int8", "amx_bf16", "avx512_fp16", "avx_vnni", "avx512_vnni", "serialize",
              "gfni", "avx512_vbmi2", "avx512ifma", "avx512_bitalg", "avx512_vpopcntdq", "vaes", "vpclmulqdq"}

#: bit of CL_DEVICE_SVM_CAPABILITIES: kernels may follow any host pointer
FINE_GRAIN_SYSTEM = 4
#: program ids are 32-bit integers
GRID_LIMIT = (1 << 31) - 1


class LoaderError(Exception):
    """What is wrong with the bundle, the device or an argument."""


def variants(folder=FOLDER):
    """What bundle.json says about every variant."""
    return json.loads((Path(folder) / "bundle.json").read_text(encoding="utf-8"))["variants"]


def load(name="", target="", device=None, folder=FOLDER, **constants):
    """The kernel of that name, ready to be launched on `device` (a pyopencl device; by default the first
    that the bundle has code for). `target` and `constants` choose among variants."""
    known = variants(folder)
    fitting = [one for one in known if name in ("", one["name"], one["kernel"])
               and target in ("", one["target"])
               and all({**one["constants"], **one["options"]}.get(key) == value for key,
                       value in constants.items())]
    if not fitting:
        have = ", ".join(f"{one['name']} for {one['target']}" for one in known)
        raise LoaderError(f"the bundle has no such kernel; it has {have}")
    if len({one["kernel"] for one in fitting}) > 1 and not name:
        raise LoaderError(f"name one of {', '.join(sorted({one['kernel'] for one in fitting}))}")
    candidates = [device] if device is not None else devices()
    reasons = []
    for one in fitting:
        for candidate in candidates:
            if kind_of(candidate) != one["device_kind"]:
                reasons.append(f"{candidate.name.strip()} is no {one['device_kind']}")
                continue
            try:
                return Kernel(one, read(folder, one, "spv"), read(folder, one, "native"), candidate,
                              bool(target))
            except LoaderError as error:
                reasons.append(str(error))
    raise LoaderError(f"no device runs {name or fitting[0]['name']}: "
                      f"{'; '.join(dict.fromkeys(reasons)) or 'none'}")


def read(folder, facts, what):
    """The bytes of a file of the bundle, checked."""
    if not facts[what]:
        return b""
    data = (Path(folder) / facts[what]).read_bytes()
    if hashlib.sha256(data).hexdigest() != facts[f"{what}_sha256"]:
        raise LoaderError(f"{facts[what]} is damaged: its checksum is not the one in bundle.json")
    return data


# ---- devices


def features():
    """What the processor has, by Linux' names."""
    return set(FACTS.read_text(errors="replace").split() if FACTS.is_file() else [])


def is_misled():
    """Does the driver take this processor for an older one, and is not told better?"""
    flags = features()
    if SETTING in os.environ or "GenuineIntel" not in flags or not flags & {"amx_tile", "avx512_bf16"}:
        return False
    found = re.search(r"^cpu family\s*: 6\nmodel\s*: (\d+)$", FACTS.read_text(errors="replace"), re.M)
    asked = () if "amx_tile" in flags else ("85",)
    return found is not None and found[1] not in (*WITH_TILES, *asked)


def has(feature):
    """Has the processor this, and may driver and process use it? Linux gives AMX to who asks."""
    names, told = list(ADDED), os.environ.get(SETTING)
    newer = names[names.index(told) + 1:] if told in names else [NEWEST] if is_misled() else []
    if feature not in features() or any(feature in ADDED[name] for name in newer):
        return False
    return feature != "amx_tile" or not ctypes.CDLL(None).syscall(*ASK_FOR_TILES)


def opencl():
    """pyopencl, with the CPU driver that pip installs among its platforms."""
    if "pyopencl" not in sys.modules and features() >= NEWEST_HAS and is_misled():
        os.environ[SETTING] = NEWEST
    before = os.environ.get("OCL_ICD_VENDORS")
    driver = next((path for prefix in [sys.prefix, *(str(Path(entry).parents[2]) for entry in sys.path
                                                     if entry.endswith("site-packages"))]
                   for path in [Path(prefix, "lib", "libintelocl.so")] if path.is_file()), None)
    if driver is None or "pyopencl" in sys.modules:
        import pyopencl
        return pyopencl
    # the package's own vendor file names a place on its maker's disk
    with tempfile.TemporaryDirectory() as vendors:
        system = Path(before or "/etc/OpenCL/vendors")
        for file in sorted(system.glob("*.icd")) if system.is_dir() else []:
            (Path(vendors) / file.name).write_text(file.read_text())
        (Path(vendors) / "pip-cpu.icd").write_text(f"{driver}\n")
        os.environ["OCL_ICD_VENDORS"] = vendors
        try:
            import pyopencl
            platforms(pyopencl)  # drivers are looked for at the first call
        finally:
            os.environ.pop("OCL_ICD_VENDORS")
            if before is not None:
                os.environ["OCL_ICD_VENDORS"] = before
    return pyopencl


def platforms(cl):
    """OpenCL's platforms; none where no driver is installed."""
    try:
        return cl.get_platforms()
    except cl.Error:
        return []


def devices():
    """Every OpenCL device that takes SPIR-V."""
    cl = opencl()
    found = []
    for platform in platforms(cl):
        for device in platform.get_devices():
            try:
                if device.il_version:
                    found.append(device)
            except cl.Error:
                pass
    if not found:
        raise LoaderError("there is no OpenCL device that takes SPIR-V: "
                          "pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt brings one")
    return found


def kind_of(device):
    """ "cpu", "gpu" or "accelerator"."""
    kinds = opencl().device_type
    return "cpu" if device.type & kinds.CPU else "gpu" if device.type & kinds.GPU else "accelerator"


# ---- kernels


def hidden_words(artifact, grid):
    """The memory behind a kernel's hidden pointers, by their names: words, or what arrays overflow into."""
    programs = grid[0] * grid[1] * grid[2]
    sizes = {"overflow_buffer": -(-programs * artifact.get("overflow_bytes", 0) // 4), "assert_buffer": 5}
    return {name: numpy.zeros(sizes.get(name, 1), numpy.uint32) for name in artifact["hidden"]}


def whole_grid(grid):
    """A grid as three integers, from one or several; LoaderError for what is no grid."""
    try:
        sizes = tuple(grid) if hasattr(grid, "__iter__") else (operator.index(grid),)
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3:
        raise LoaderError(f"grid {grid!r}: a grid is an integer, or a tuple of one to three integers")
    whole = []
    for axis, size in zip("xyz", sizes, strict=False):
        try:
            whole.append(operator.index(size))
        except TypeError:
            raise LoaderError(f"grid {axis}: {size!r} is a {type(size).__name__}; a grid holds "
                              "integers") from None
    whole = [*whole, 1, 1][:3]
    for axis, size in zip("xyz", whole, strict=True):
        if not 0 <= size <= GRID_LIMIT:
            raise LoaderError(f"grid {tuple(whole)}: {axis} must lie between 0 and {GRID_LIMIT}"
                              + ("; split the launch, or give each program more work" if size > 0 else ""))
    return whole


def integer(where, wanted, value):
    """A value as Python's integer; LoaderError for what is none."""
    try:
        return operator.index(bool(value) if isinstance(value, numpy.bool_) else value)
    except TypeError:
        raise LoaderError(f"{where}: {value!r} is a {type(value).__name__}, the kernel was compiled for "
                          f"{wanted}, an integer") from None


def floating(where, wanted, value, code):
    """A value as Python's float, infinite where struct's code has no room; LoaderError for what is none."""
    try:
        number = float(value.__float__())  # float() would read text too
    except (AttributeError, TypeError, ValueError, RuntimeError):  # the last is torch's
        raise LoaderError(f"{where}: {value!r} is a {type(value).__name__}, the kernel was compiled for "
                          f"{wanted}, a number") from None
    except OverflowError:
        number = numpy.inf if value > 0 else -numpy.inf
    try:
        struct.pack(f"<{code}", number)  # the native order would not test a float
    except OverflowError:
        return numpy.inf if number > 0 else -numpy.inf
    return number


class Kernel:
    """One variant on one device: kernel(grid, *arguments)."""

    def __init__(self, facts, spv, native, device, insisted=True):
        cl = self.cl = opencl()
        self.facts, self.artifact, self.device = facts, facts["artifact"], device
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        program = self._build(spv, native, insisted)
        self.kernel = cl.Kernel(program, facts["entry"])
        self.whole = bool(device.svm_capabilities & FINE_GRAIN_SYSTEM)
        self.nanoseconds = 0
        if self.artifact["passing"] == "struct" and not self.whole:
            raise LoaderError(f"{device.name.strip()} cannot follow host pointers, which this variant passes")

    def _build(self, spv, native, insisted):
        """From native code if the driver takes it, else from SPIR-V. Modules for a GPU say which chip they
        are for only by their native code, so SPIR-V alone is built there if the caller has named the
        target."""
        cl = self.cl
        warnings.simplefilter("ignore", cl.CompilerWarning)  # drivers chat
        if native:
            try:
                return cl.Program(self.context, [self.device], [native]).build()
            except cl.Error as error:
                if not insisted:
                    who = self.device.name.strip()
                    raise LoaderError(f"{who} refuses {self.facts['native']}: {error}") from error
        elif self.facts["device_kind"] != "cpu" and not insisted:
            raise LoaderError(f"say target={self.facts['target']!r} if {self.device.name.strip()} is one")
        lacking = [feature for name, feature in NEEDED.items() if name in spv and not has(feature)]
        if lacking:
            raise LoaderError(f"{self.facts['spv']} needs a processor with {lacking[0]}, which this one "
                              "lacks or this process may not use")
        try:
            return cl.Program(self.context, spv).build()
        except cl.Error as error:
            raise LoaderError(f"{self.device.name.strip()} refuses {self.facts['spv']}: {error}") from error

    def __call__(self, grid, *arguments):
        """Launch and wait; `nanoseconds` is then the time on the device."""
        parameters = self.artifact["parameters"]
        if len(arguments) != len(parameters):
            names = ", ".join(name for name, _ in parameters)
            raise LoaderError(f"{self.facts['entry']} takes {len(parameters)} arguments ({names}), not "
                              f"{len(arguments)}")
        grid = whole_grid(grid)
        if 0 in grid:
            return
        checked = [self._checked(at, value) for at, value in enumerate(arguments)]
        words = hidden_words(self.artifact, grid)
        values = [*checked, *words.values()]
        kinds = [kind for _, kind in parameters] + ["ptr"] * len(self.artifact["hidden"])
        local = self.artifact["local_size"]
        finish = self._struct(values) if self.artifact["passing"] == "struct" else self._one_by_one(kinds,
                                                                                                    values)
        size = [programs * items for programs, items in zip(grid, local, strict=True)]
        event = self.cl.enqueue_nd_range_kernel(self.queue, self.kernel, size, local)
        event.wait()
        self.nanoseconds = event.profile.end - event.profile.start
        finish()
        if "assert_buffer" in words and words["assert_buffer"][0]:
            raise AssertionError(self._assertion(*words["assert_buffer"].tolist()))

    def _assertion(self, number, x, y, z, flat):
        """What failed: its number from 1, the program, the element in row-major order."""
        file, line, function, message, shape = self.artifact["asserts"][number - 1]
        element = f", element {tuple(map(int, numpy.unravel_index(flat, shape)))}" if shape else ""
        return (f"{file}:{line}: {function}: device-side assert: {message} in program ({x}, {y}, {z})"
                f"{element}")

    def _struct(self, values):
        """Everything in one argument; arrays by their addresses."""
        packed = [value.ctypes.data if isinstance(value, numpy.ndarray) else value for value in values]
        self.kernel.set_arg(0,
                            numpy.frombuffer(struct.pack(self.facts["struct_format"], *packed), numpy.uint8))
        return lambda: None

    def _one_by_one(self, kinds, values):
        """Arrays are copied to the device and back."""
        cl, copies = self.cl, []
        hidden = self.artifact["hidden"]
        written = [*self.artifact["written"], *(name != "overflow_buffer" for name in hidden)]
        for at, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            if kind != "ptr":
                self.kernel.set_arg(at, numpy.frombuffer(struct.pack(CODES[kind], value), numpy.uint8))
                continue
            if isinstance(value, int):
                self.kernel.set_arg(at, None)
                continue
            flat = value if value.flags.c_contiguous else numpy.ascontiguousarray(value)
            buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR,
                               hostbuf=flat)
            copies.append((buffer, value, written[at]))
            self.kernel.set_arg(at, buffer)

        def finish():
            for buffer, value, writes in copies:
                if writes:
                    cl.enqueue_copy(self.queue, value, buffer).wait()
        return finish

    def _checked(self, at, value):
        """A value that can be packed; LoaderError names the argument that cannot."""
        name, kind = self.artifact["parameters"][at]
        where = f"{self.facts['entry']}, argument {at} ({name})"
        wanted = self.facts["types"].get(name, "")
        if kind == "ptr":
            value = self._array(where, wanted.lstrip("*").removeprefix("k"), value)
            number = value if isinstance(value, int) else value.ctypes.data
            if self.artifact["written"][at] and not isinstance(value, int) and not value.flags.writeable:
                raise LoaderError(f"{where}: the kernel writes to it, but the array is read-only")
        elif kind.startswith("i"):
            bits = 8 if kind == "i1" else int(kind[1:])
            number = value = integer(where, wanted or kind, value)
            if not -(1 << bits - 1) <= value < 1 << bits:
                raise LoaderError(f"{where}: {value} does not fit {wanted or kind}")
            value &= (1 << bits) - 1
            value -= (1 << bits) * (kind != "i1" and value >> bits - 1)
        else:
            number, code = 0, "f" if kind == "bf16" else CODES[kind]
            value = floating(where, wanted or kind, value, code)
            if kind == "bf16":
                bits = int(numpy.array([value], numpy.float32).view(numpy.uint32)[0])
                value = bits >> 16 | 0x40 if numpy.isnan(value) else bits + 0x7FFF + (bits >> 16 & 1) >> 16
        if name in self.facts["divisible"] and number % 16:
            raise LoaderError(f"{where}: compiled for a multiple of 16, got {number:#x}")
        return value

    def _array(self, where, element, value):
        if value is None or isinstance(value, int):
            return value or 0
        if hasattr(value, "detach"):
            value = value.detach()
            value = (value if not str(value.dtype).endswith(("bfloat16", "fn", "fnuz", "e5m2"))
                     else value.view(__import__("torch").uint8)).numpy()
        if not isinstance(value, numpy.ndarray):
            raise LoaderError(f"{where}: a numpy array is wanted, not a {type(value).__name__}")
        if element in DTYPES and str(value.dtype) != DTYPES[element]:
            raise LoaderError(f"{where}: compiled for {DTYPES[element]}, got {value.dtype}")
        if not value.flags.c_contiguous and self.artifact["passing"] != "struct":
            raise LoaderError(f"{where}: this device gets copies, so the array must be contiguous")
        return value


if __name__ == "__main__":
    for one in variants():
        constants = ", ".join(f"{name}={value}" for name, value in one["constants"].items())
        print(f"{one['name']} for {one['target']}: {', '.join(one['types'].values())}; {constants}")
