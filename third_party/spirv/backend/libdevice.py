"""triton.language.extra.libdevice for this backend."""
