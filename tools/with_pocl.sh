#!/bin/bash
# Runs a command on a machine that has Debian 13's PoCL, an OpenCL driver for CPUs that takes SPIR-V, without
# installing it.
#
#   tools/with_pocl.sh FOLDER COMMAND...
#
# Of another package, as rusticl, Mesa's OpenCL on its software device:
#
#   DRIVER=mesa-opencl-icd RUSTICL_ENABLE=llvmpipe TRITON_SPIRV_DEVICE=llvmpipe tools/with_pocl.sh FOLDER COMMAND...
#
# The packages are fetched into FOLDER (100 MB, once) by an apt with lists and sources of its own, from the archive
# that this machine's apt sources name. The command runs in a mount namespace where their files lie over /usr, so
# nothing else sees them; that needs root. OCL_ICD_VENDORS names PoCL alone; TRITON_SPIRV_DEVICE=portable chooses it.
set -euo pipefail

FOLDER=${1:?"tools/with_pocl.sh FOLDER COMMAND..."}
shift
DRIVER=${DRIVER:-pocl-opencl-icd}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

if ! ls "$FOLDER"/vendors/*.icd > /dev/null 2>&1; then
    ARCHIVE=$(apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "main" && $2 !~ /-/ { print $3; exit }')
    [ -n "$ARCHIVE" ] || { echo "with_pocl: the machine's apt sources name no Debian archive" >&2; exit 1; }
    APT="$FOLDER/apt"
    mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial" "$APT/packages" "$FOLDER/vendors"
    echo "deb [signed-by=$KEYRING] $ARCHIVE trixie main" > "$APT/sources.list"
    : > "$APT/status"
    options=(-qq -o "Dir::State::lists=$APT/lists" -o "Dir::State::status=$APT/status" -o "Dir::Cache=$APT/cache"
             -o "Dir::Etc::sourcelist=$APT/sources.list" -o "Dir::Etc::sourceparts=/dev/null"
             -o "APT::Architecture=amd64" -o "APT::Architectures=amd64" -o "APT::Sandbox::User="
             -o "Acquire::Languages=none")
    apt-get "${options[@]}" update
    packages=$(apt-get "${options[@]}" install -s --no-install-recommends "$DRIVER" | awk '/^Inst/ { print $2 }')
    # shellcheck disable=SC2086
    (cd "$APT/packages" && apt-get "${options[@]}" download $packages)
    for package in "$APT"/packages/*.deb; do dpkg-deb -x "$package" "$FOLDER/root"; done
    rm -rf "$APT"
    cp "$FOLDER"/root/etc/OpenCL/vendors/*.icd "$FOLDER/vendors/"
fi

FOLDER=$(cd "$FOLDER" && pwd)
export OCL_ICD_VENDORS="$FOLDER/vendors" POCL_CACHE_DIR="$FOLDER/cache" WITH_POCL="$FOLDER/root/usr"
exec unshare -m bash -c 'mount -t overlay overlay -o "lowerdir=$WITH_POCL:/usr" /usr && exec "$@"' with_pocl "$@"
