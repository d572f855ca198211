"""Files that are kept for the user lie in a folder of the user's own: no link leads elsewhere."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from triton_spirv.errors import ValidationError
from triton_spirv.native import repro
from triton_spirv.tools import private_folder, spirv_tools

INVALID = b"\x03\x02\x23\x07" + bytes(16)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that everybody may write to, as /tmp is."""
    place = tmp_path / "tmp"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.delenv("TRITON_SPIRV_KEEP", raising=False)
    private_folder._made.cache_clear()
    yield place
    private_folder._made.cache_clear()


def test_links_that_wait(temporary: Path, tmp_path: Path) -> None:
    """The names that were used once, as links to the victim's files: nothing is written there."""
    victim = tmp_path / "victim"
    victim.mkdir()
    for name in ("triton-spirv-invalid", "triton-spirv-native"):
        (temporary / name).symlink_to(victim)
    with pytest.raises(ValidationError) as caught:
        spirv_tools.validate(INVALID)
    folder = repro.folder_for(INVALID, "pvc", None)
    folder.mkdir(parents=True)
    assert not list(victim.iterdir())
    kept = Path(str(caught.value).split()[-1])
    assert kept.read_bytes() == INVALID and kept.parent.parent == temporary


def test_a_folder_that_somebody_else_holds(temporary: Path) -> None:
    """A file in the way denies nothing."""
    for name in ("triton-spirv-invalid", "triton-spirv-native"):
        (temporary / name).write_text("in the way")
    with pytest.raises(ValidationError, match=str(temporary)):
        spirv_tools.validate(INVALID)


def test_nobody_else_enters(temporary: Path) -> None:
    before = os.umask(0)
    try:
        place = private_folder.private_folder("invalid")
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700 and place.stat().st_uid == os.getuid()
    assert private_folder.private_folder("invalid") == place
    place.rmdir()
    assert private_folder.private_folder("invalid").is_dir()
