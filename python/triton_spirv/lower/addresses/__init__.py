"""Where an access lies: pointers, their contiguity and motion, masks, and which lane owns which address."""
