#!/bin/bash
# Brings Debian unstable's ocloc, which knows newer devices than a stable release's, into a folder of its own.
#
#   tools/get_ocloc.sh FOLDER
#
# FOLDER/ocloc is then a wrapper to name in TRITON_OCLOC_PATH; FOLDER/version says what was brought. Nothing
# system-wide changes and no privilege is needed: apt works with lists, cache and sources of its own in FOLDER,
# the packages are unpacked there, and the program runs through the loader and the C library that it was built
# for. The archive is the one that this machine's own apt sources name, in its suite "sid"; Debian on x86-64
# only. About 75 MB are fetched. A FOLDER that has a working ocloc is left as it is.
set -euo pipefail

FOLDER=${1:?"tools/get_ocloc.sh FOLDER"}
PACKAGES="intel-ocloc libigc2 libigdfcl2 libc6 libstdc++6 libgcc-s1 zlib1g spirv-tools"

fail() { echo "get_ocloc: $*" >&2; exit 1; }

works() { (cd "$(mktemp -d)" && "$FOLDER/ocloc" query OCL_DRIVER_VERSION > /dev/null 2>&1 && tr -d '\0' < OCL_DRIVER_VERSION); }

for tool in apt-get dpkg-deb; do
    command -v "$tool" > /dev/null || fail "$tool is missing: this script is for Debian and its relatives"
done
[ "$(uname -m)" = x86_64 ] || fail "ocloc is built for x86-64, this machine is $(uname -m)"
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
if [ -x "$FOLDER/ocloc" ] && version=$(works); then
    echo "$FOLDER/ocloc $version is there already"
    exit 0
fi

# the machine's own Debian archive; a release's suite is named by one word, its updates and security by more
ARCHIVE=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }')
if [ -z "$ARCHIVE" ]; then  # no lists yet, so apt cannot say whose they are: go by the address
    ARCHIVE=$(apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "main" && $2 !~ /-/ && $3 ~ /\/debian\/?$/ { print $3; exit }')
fi
[ -n "$ARCHIVE" ] || fail "the machine's apt sources name no Debian archive"
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$KEYRING" ] || fail "$KEYRING is missing: apt-get install debian-archive-keyring"

APT="$FOLDER/apt"
mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial" "$APT/packages"
echo "deb [signed-by=$KEYRING] $ARCHIVE sid main" > "$APT/sources.list"
: > "$APT/status"
options=(-qq -o "Dir::State::lists=$APT/lists" -o "Dir::State::status=$APT/status" -o "Dir::Cache=$APT/cache"
         -o "Dir::Etc::sourcelist=$APT/sources.list" -o "Dir::Etc::sourceparts=/dev/null"
         -o "APT::Architecture=amd64" -o "APT::Architectures=amd64" -o "APT::Sandbox::User="
         -o "Acquire::Languages=none")
apt-get "${options[@]}" update || fail "apt cannot read the suite sid of the machine's archive"
# shellcheck disable=SC2086
(cd "$APT/packages" && apt-get "${options[@]}" download $PACKAGES) || fail "apt cannot download $PACKAGES"
for package in "$APT"/packages/*.deb; do
    dpkg-deb -x "$package" "$FOLDER/root"
done
rm -rf "$APT"

LIBRARIES=usr/lib/x86_64-linux-gnu
PROGRAM=$(cd "$FOLDER/root" && ls usr/bin/ocloc* | sort -V | tail -1)
[ -n "$PROGRAM" ] || fail "the package intel-ocloc has no program usr/bin/ocloc*"
cat > "$FOLDER/ocloc" <<WRAPPER
#!/bin/sh
root=\$(dirname "\$(readlink -f "\$0")")/root
exec "\$root/$LIBRARIES/ld-linux-x86-64.so.2" --library-path "\$root/$LIBRARIES" "\$root/$PROGRAM" "\$@"
WRAPPER
chmod +x "$FOLDER/ocloc"
version=$(works) || fail "$FOLDER/ocloc does not run"
echo "$version" > "$FOLDER/version"
echo "$FOLDER/ocloc $version"
