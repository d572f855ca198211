"""The plan of a kernel: decisions in frozen records, which print and can be verified without a device."""
