//! Networks in virtual time.
