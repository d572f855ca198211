"""AOTInductor and torch._inductor.config.cpp_wrapper: kernels that C++ launches.

torch loads two libraries for each kernel, and calls `run_from_nativert` of the second with what it finds in
the first. Here the first has the SPIR-V module and the layout of its arguments (kernel.h), and the second,
the same for all kernels, hands them to OpenCL, or calls their programs as functions where that is short
(launcher.cpp). The C++ compiler is the one that torch uses for
its own part.

torch 2.13 writes such calls for users' kernels in AOTInductor only. For those that Inductor itself writes it
leaves the grid out, and without AOTInductor the place that keeps a kernel; of the models of one package that
run at once only one has its kernels. All three are written here.
"""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triton_spirv.errors import DeviceError, UnsupportedOperation

#: of libraries, as torch compiles them
FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC")

WAY_OUT = ("compile this model with Inductor's C++ backend (torch._inductor.config.cpu_backend = 'cpp', "
           "outside of triton_spirv.inductor.enabled()), or use torch.compile without the C++ wrapper")

#: what a module's instructions take -> the bit of Needs in kernel.h
NEEDS = {"amx_tile": 1, "avx2": 2, "avx512_vnni": 4, "avx512_bf16": 8, "avx": 32, "avx512dq": 64}

#: the bit there that says that a kernel has the last two fields
HAS_STACK = 16

#: type of a number in Triton's signature -> C++'s
NUMBERS = {"fp32": "float", "fp64": "double", "i1": "bool", "u1": "bool",
           **{f"{sign}{bits}": f"{unsigned}int{bits}_t" for sign, unsigned in (("i", ""), ("u", "u"))
              for bits in (8, 16, 32, 64)}}

FOLDER = Path(__file__).parent


def install() -> None:
    """AOTInductor and cpp_wrapper find our kernels, in this process."""
    _save_kernels()
    _tune_when_compiling()
    _write_calls()
    _refuse_without_a_compiler()


# ---- torch's side


def _save_kernels() -> None:
    """torch asks Triton's compiled kernel for its libraries, which are made here."""
    from torch._inductor.codecache import CpuTritonKernelCache
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner, config_to_dict

    def save_cpu_kernel(self: Any, launcher: Any) -> None:
        compiled, key = launcher.bin, self.inductor_meta["kernel_name"]
        chosen = config_to_dict(launcher.config)
        # block sizes are no arguments of the call
        signature = {name: kind for name, kind in compiled.src.signature.items()
                     if name not in launcher.config.kwargs}
        name, artifact = compiled.metadata.name, compiled.metadata.artifact
        made = library(kernel_text(name, artifact, compiled.asm["spv"], signature))
        CpuTritonKernelCache.set(key, kernel_bytes=made, launcher_bytes=launcher_library(),
                                 kernel_symbol=name, signature=signature)
        CpuTritonKernelCache.cache[key].update(config=chosen, inductor_meta=self.inductor_meta)
        self.cpu_kernel_saved = True

    CachingAutotuner.save_cpu_kernel = save_cpu_kernel


def _tune_when_compiling() -> None:
    """Kernels are compiled and saved while C++ is written that names them. Without AOTInductor torch would do
    that at the first call, which it can on a GPU only."""
    from torch._inductor import compile_fx, config

    asked = compile_fx.get_cpp_wrapper_config

    def get_cpp_wrapper_config(*arguments: Any, **named: Any) -> dict[str, object]:
        settings: dict[str, object] = asked(*arguments, **named)
        if config.cpu_backend == "triton":
            settings["triton.autotune_at_compile_time"] = True
        return settings

    compile_fx.get_cpp_wrapper_config = get_cpp_wrapper_config


def _write_calls() -> None:
    """The C++ of a kernel's launch: with its grid, and with a place for what is loaded."""
    from torch._inductor.codecache import CpuTritonKernelCache
    from torch._inductor.codegen import cpp_wrapper_cpu
    from torch._inductor.runtime.triton_heuristics import GridExpr

    class Wrapper(cpp_wrapper_cpu.DeferredCpuTritonCallWrapper):

        def _generate_load_kernel(self, prefix: Any, kernel_so: str, launcher_so: str,
                                  kernel_symbol: str) -> None:
            # torch has these once in each model, and loads them once for all: other models would have none
            name = self.kernel_name
            prefix.splice(f"""
                using namespace torch::aot_inductor;
                static void* const {name}_kernel_fn =
                    loadCpuTritonKernel("{kernel_so}", "{kernel_symbol}", cubin_dir_);
                static const CpuTritonLauncherFn {name}_launcher_fn =
                    loadCpuTritonLauncher("{launcher_so}", cubin_dir_);
            """)

        def _get_cpp_param_type(self, name: str, arg_type: Any) -> str:
            # torch hands on floating-point numbers as float, and those that are symbols as integers
            if CpuTritonKernelCache.get(self.kernel_name)["signature"].get(name) in ("fp32", "fp64"):
                return f"double {name}"
            return str(super()._get_cpp_param_type(name, arg_type))

        def _generate_launch(self, prefix: Any, kernel_arg_names: Any, grid_arg_names: Any,
                             signature: Any) -> None:
            saved = CpuTritonKernelCache.get(self.kernel_name)
            grid = GridExpr.from_meta(saved["inductor_meta"], saved["config"], mode="cpp")
            for line in [*grid.prefix, *call_text(self.kernel_name, signature, grid)]:
                prefix.writeline(line)

    cpp_wrapper_cpu.DeferredCpuTritonCallWrapper = Wrapper


def call_text(name: str, signature: dict[str, str], grid: Any) -> Iterator[str]:
    """The C++ that launches a kernel: each number in a variable of the type that the kernel has it in."""
    passed = []
    for parameter, kind in signature.items():
        if kind in NUMBERS:
            yield f"{NUMBERS[kind]} number_{parameter} = static_cast<{NUMBERS[kind]}>({parameter});"
        passed.append("nullptr" if kind == "constexpr" else
                      f"&number_{parameter}" if kind in NUMBERS else f"{parameter}.data_ptr()")
    sizes = [f"static_cast<uint32_t>({size})" for size in (grid.x_grid, grid.y_grid, grid.z_grid)]
    yield f"void* {name}_passed[] = {{{', '.join(passed)}}};"
    yield f"{name}_launcher_fn({', '.join(sizes)}, 1, {name}_passed, {name}_kernel_fn);"


def _refuse_without_a_compiler() -> None:
    """Before anything is compiled; torch's own message comes after all kernels."""
    import dataclasses

    from torch._inductor import config
    from torch._inductor.codegen import common

    common.init_backend_registration()
    known = common.device_codegens["cpu"]
    wrapper = known.cpp_wrapper_codegen

    class Asking(wrapper):  # type: ignore[misc, valid-type]

        @staticmethod
        def create(*arguments: Any, **named: Any) -> Any:
            if config.cpu_backend == "triton":
                compiler()
            return wrapper.create(*arguments, **named)

    common.device_codegens["cpu"] = dataclasses.replace(known, cpp_wrapper_codegen=Asking)


# ---- libraries


def compiler() -> str:
    """torch's C++ compiler; UnsupportedOperation where there is none."""
    from torch._inductor import cpp_builder, exc

    try:
        return str(cpp_builder.get_cpp_compiler())
    except exc.InvalidCxxCompiler as error:
        raise UnsupportedOperation("AOTInductor and torch._inductor.config.cpp_wrapper launch kernels from "
                                   f"C++, which takes a C++ compiler: {error}. Install one, or "
                                   f"{WAY_OUT}") from None


def library(text: str, *flags: str) -> bytes:
    """The shared library of a C++ source."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "source.cpp"), Path(folder, "made.so")
        source.write_text(text)
        command = [compiler(), *FLAGS, *flags, f"-I{FOLDER}", str(source), "-o", str(made), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise DeviceError("the C++ compiler refuses what launches a kernel: "
                              f"{' '.join(command)}\n{done.stderr}")
        return made.read_bytes()


@functools.cache
def launcher_library() -> bytes:
    """Of launcher.cpp, with the path of the driver that launches kernels in this process."""
    from triton_spirv.runtime import devices

    driver = devices.choose(devices.selection()).library.path
    return library(launcher_text(), f"-DTRITON_SPIRV_DRIVER={json.dumps(driver)}")


def launcher_text() -> str:
    """launcher.cpp, behind the module that functions are tried out with."""
    from triton_spirv.runtime.called_programs import FUNCTION, PROBE

    probe = ["#include <cstdint>", "namespace {", words_text("probe_words", PROBE),
             f"const char probe_function[] = {json.dumps(FUNCTION)};", "}", ""]
    return "\n".join(probe) + (FOLDER / "launcher.cpp").read_text()


def words_text(name: str, words: bytes) -> str:
    """A SPIR-V module as an array of C++."""
    numbers = [f"0x{int.from_bytes(words[at:at + 4], 'little'):x}" for at in range(0, len(words), 4)]
    return f"const uint32_t {name}[] = {{{', '.join(numbers)}}};"


def kernel_text(name: str, artifact: dict[str, Any], words: bytes, signature: dict[str, Any]) -> str:
    """The C++ of a kernel's library. name: what it exports; signature: argument -> its type, of those that
    torch's call passes; UnsupportedOperation for a kernel that C++ cannot launch."""
    from triton_spirv.runtime.processor import needed

    refuse(name, artifact, signature)
    kinds = [kind for _, kind in artifact["parameters"]]
    places, size = layout(kinds + ["ptr"] * len(artifact["hidden"]))
    given = [at for at, kind in enumerate(signature.values()) if kind != "constexpr"]
    fields = [f"{{{at}, {offset}, {width}, {'true' if kind == 'ptr' else 'false'}}}"
              for at, (offset, width), kind in zip(given, places, kinds, strict=False)]
    offsets = [offset for offset, _ in places[len(given):]]
    hidden = dict(zip(artifact["hidden"], offsets, strict=True))
    messages = [f"{{{json.dumps(assertion_text(record))}, {'true' if record[-1] else 'false'}}}"
                for record in artifact["asserts"]]
    has_stack = artifact.get("private_bytes") is not None  # older ones do not say
    needs = sum(NEEDS[feature] for feature in needed(words)) | (HAS_STACK if has_stack else 0)
    facts = [json.dumps(artifact["entry"]), "words", "sizeof words", "fields", str(len(fields)), str(size),
             f"{{{', '.join(map(str, artifact['local_size']))}}}", str(hidden.get("assert_buffer", -1)),
             str(hidden.get("ticket_buffer", hidden.get("panel_buffer", -1))),  # a word that is 0 for both
             "messages", str(len(messages)), str(needs), "true" if artifact["waits"] else "false"]
    if has_stack:
        function = artifact.get("exports")
        facts += [json.dumps(function) if function else "nullptr", str(artifact["private_bytes"])]
    return "\n".join([
        '#include "kernel.h"', "namespace {", words_text("words", words),
        f"const triton_spirv::Field fields[] = {{{', '.join(fields) or '{}'}}};",
        f"const triton_spirv::Message messages[] = {{{', '.join(messages) or '{}'}}};", "}",
        f'extern "C" const triton_spirv::Kernel {name} = {{{", ".join(facts)}}};', ""])


def refuse(name: str, artifact: dict[str, Any], signature: dict[str, Any]) -> None:
    """UnsupportedOperation for what launcher.cpp does not do."""
    unknown = set(artifact["hidden"]) - {"assert_buffer", "ticket_buffer", "panel_buffer"}
    if {"ticket_buffer", "panel_buffer"} <= set(artifact["hidden"]):  # it has one word that is 0
        unknown.add("panel_buffer")
    unknown_types = [f"{each}: {kind}" for each, kind in signature.items()
                     if kind not in NUMBERS and kind != "constexpr" and not str(kind).startswith("*")]
    passed = [each for each, kind in signature.items() if kind != "constexpr"]
    reason = ""
    if artifact["passing"] != "struct" or artifact["requires"] or artifact["assumes_disjoint"]:
        reason = "it was not compiled for the CPU alone"
    elif unknown:
        reason = f"it has an argument of the runtime, {', '.join(sorted(unknown))}: switch checks off"
    elif unknown_types:
        reason = f"of its arguments, C++ has no type for {', '.join(unknown_types)}"
    elif passed != [parameter for parameter, _ in artifact["parameters"]]:
        reason = f"it takes other arguments than {', '.join(passed)}"
    if reason:
        raise UnsupportedOperation(f"AOTInductor or cpp_wrapper launches {name} from C++, which cannot be: "
                                   f"{reason}. {WAY_OUT[0].upper()}{WAY_OUT[1:]}")


def layout(kinds: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """(offset, bytes) of each field of a struct as C lays it out, and the size of the whole."""
    from triton_spirv.artifact import PACKING

    places, size = [], 0
    widths = [PACKING[kind][1] for kind in kinds]
    for width in widths:
        size += -size % width
        places.append((size, width))
        size += width
    return places, size + -size % max(widths, default=1)


def assertion_text(record: Sequence[Any]) -> str:
    """The message of an assertion, without the program, which comes behind it."""
    file, line, function, message, _ = record
    return f"{file}:{line}: {function}: device-side assert: {message}"
