//! The typed, storage-allocated form of a P4_16 program, and the rules by which it is evaluated.
