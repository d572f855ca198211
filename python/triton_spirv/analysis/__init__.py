"""Facts about IR that lowering asks for."""
