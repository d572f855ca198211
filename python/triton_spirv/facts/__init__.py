"""Facts about the IR that lowering asks for."""
