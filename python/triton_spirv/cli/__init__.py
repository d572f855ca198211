"""The `triton-spirv` command, a file for each of its commands; main.py brings them together."""
