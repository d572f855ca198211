"""Triton's backend `spirv`: the only code of this project that knows Triton, which imports .compiler and
.driver."""
