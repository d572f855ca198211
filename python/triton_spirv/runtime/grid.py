"""The grid of a launch: how many programs along each axis."""

from __future__ import annotations

from ..errors import LaunchError

#: program ids are 32-bit integers
GRID_LIMIT = (1 << 31) - 1


def is_launch(x: int, y: int, z: int) -> bool:
    """False for an empty grid, which launches nothing; LaunchError for a grid that cannot be."""
    for axis, size in zip("xyz", (x, y, z), strict=True):
        if not hasattr(size, "__index__"):
            raise LaunchError(f"grid {axis}: {size!r} is a {type(size).__name__}; a grid holds integers")
        if not 0 <= size <= GRID_LIMIT:
            raise LaunchError(f"grid ({x}, {y}, {z}): {axis} must lie between 0 and {GRID_LIMIT}"
                              + ("; split the launch, or give each program more work" if size > 0 else ""))
    return bool(x and y and z)
