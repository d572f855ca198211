"""What the lanes of a program share: memory, barriers, exchanges of values."""
