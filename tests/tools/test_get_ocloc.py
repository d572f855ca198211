"""tools/get_ocloc.sh: what it asks apt for, and the wrapper that it leaves. apt and dpkg are scripted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "get_ocloc.sh"
LIBRARIES = "usr/lib/x86_64-linux-gnu"

APT = """#!/bin/bash
echo "apt-get $*" >> "$LOG"
case "$*" in
    *indextargets*) [ -z "$TARGETS" ] || printf '%b' "$TARGETS";;
    *download*) cp "$(dirname "$PWD")/sources.list" "$LOG.sources"; touch one.deb two.deb;;
esac
"""
#: "unpacks" a loader that shows how it is called, and ocloc
DPKG = f"""#!/bin/bash
mkdir -p "$3/usr/bin" "$3/{LIBRARIES}"
printf '#!/bin/bash\\n' > "$3/usr/bin/ocloc-9.9.1"
cat > "$3/{LIBRARIES}/ld-linux-x86-64.so.2" <<'LOADER'
#!/bin/bash
echo "loader $*" >> "$LOG"
[ "$4" != query ] || printf '9.9.1.\\0' > OCL_DRIVER_VERSION
LOADER
chmod +x "$3/usr/bin/ocloc-9.9.1" "$3/{LIBRARIES}/ld-linux-x86-64.so.2"
"""
TARGETS = "Other main bookworm http://other/\\nDebian main bookworm-updates http://no/\\n" \
          "Debian main bookworm http://archive.example/debian/\\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with scripted tools, and the log of what they were asked."""
    for name, text in (("apt-get", APT), ("dpkg-deb", DPKG)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def run(machine: Path, targets: str = TARGETS) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{machine}:{os.environ['PATH']}", "LOG": str(machine / "log"),
                   "TARGETS": targets}
    return subprocess.run(["bash", str(SCRIPT), str(machine / "made")], capture_output=True, text=True,
                          env=environment, timeout=60)


def test_private_configuration(machine: Path) -> None:
    """Everything that apt writes lies in the folder, and the archive is the machine's own."""
    done = run(machine)
    assert done.returncode == 0, done.stderr
    calls = [line for line in (machine / "log").read_text().splitlines() if line.startswith("apt-get")]
    folder = str(machine / "made" / "apt")
    for call in calls[1:]:
        for setting in (f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}/cache",
                        f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null"):
            assert setting in call
    assert calls[-1].endswith("download intel-ocloc libigc2 libigdfcl2 libc6 libstdc++6 libgcc-s1 zlib1g "
                              "spirv-tools")
    (source,) = (machine / "log.sources").read_text().splitlines()
    assert source.endswith("] http://archive.example/debian/ sid main")
    assert (machine / "made" / "version").read_text() == "9.9.1.\n"
    assert not (machine / "made" / "apt").exists()


def test_wrapper(machine: Path) -> None:
    """ocloc runs through its own loader and libraries, also by way of a link."""
    run(machine)
    (machine / "link").symlink_to(machine / "made" / "ocloc")
    subprocess.run([str(machine / "link"), "compile", "a b"], check=True,
                   env={**os.environ, "LOG": str(machine / "log")})
    root = machine / "made" / "root"
    assert (machine / "log").read_text().splitlines()[-1] == (
        f"loader --library-path {root}/{LIBRARIES} {root}/usr/bin/ocloc-9.9.1 compile a b")


def test_second_time(machine: Path) -> None:
    run(machine)
    (machine / "log").unlink()
    done = run(machine)
    assert done.returncode == 0 and "there already" in done.stdout
    assert "apt-get" not in (machine / "log").read_text()


def test_no_archive(machine: Path) -> None:
    done = run(machine, "")
    assert done.returncode == 1 and "name no Debian archive" in done.stderr


def test_no_registry_in_the_script() -> None:
    assert "://" not in SCRIPT.read_text()
