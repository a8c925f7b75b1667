//! Runs p4-ir on the v1model architecture: pipeline and traffic manager.
