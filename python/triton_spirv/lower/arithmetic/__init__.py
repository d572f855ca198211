"""Operations that act on each element by itself, constants and index arithmetic."""
