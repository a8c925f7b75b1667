//! Sans-IO host transports: handle_* in, poll_* out.
