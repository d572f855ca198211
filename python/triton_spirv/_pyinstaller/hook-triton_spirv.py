"""What a frozen program needs to compile and run kernels.

All modules with their sources, since caches are keyed by them, and Triton reads those of its own functions;
the entry points by which Triton finds the plugin; and the CPU driver, in the folder `lib`, as pip puts it.
"""

import importlib.metadata
import os

from PyInstaller.utils.hooks import collect_submodules, copy_metadata

#: the CPU driver, and what it is linked with
DRIVER = ("intel-opencl-rt", "intel-cmplr-lib-rt", "tbb", "tcmlib")
#: of these packages: for compilers and debuggers, not for programs
NEEDLESS = ("icx-lto.so", ".py", ".h")

hiddenimports = [*collect_submodules("triton_spirv", filter=lambda name: "_pyinstaller" not in name),
                 *collect_submodules("triton_spirv_backend")]
module_collection_mode = {"triton_spirv": "pyz+py", "triton_spirv_backend": "pyz+py"}
datas = copy_metadata("triton-spirv")

for package in ("triton", *DRIVER):
    try:
        files = importlib.metadata.distribution(package).files or []
    except importlib.metadata.PackageNotFoundError:
        continue  # a program that brings bundles needs no Triton, one for Vulkan no driver
    datas += copy_metadata(package)
    if package in DRIVER:
        places = [os.path.abspath(str(file.locate())) for file in files]
        datas += [(place, "lib") for place in places
                  if os.path.isfile(place) and os.path.basename(os.path.dirname(place)) == "lib"
                  and not place.endswith(NEEDLESS)]
