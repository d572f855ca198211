"""What `python -m triton_spirv` prints, a file for each thing."""
