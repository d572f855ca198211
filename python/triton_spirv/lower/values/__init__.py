"""What IR values are while their function is lowered: forms of tensors, registers, element types, layouts."""
