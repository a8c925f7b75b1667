//! The allocator of the module.
//!
//! Large tables are freed on a thread other than the one that forwards. With glibc's allocator, the forwarding thread
//! would then merge the freed memory, and packets would wait for that.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Returns freed memory to the kernel on a thread of the allocator. Otherwise, any thread that allocates does so, and
/// packets wait for up to 4 ms if it is the one that forwards.
pub fn return_memory_in_background() {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if let Err(error) = tikv_jemalloc_ctl::background_thread::write(true) {
        eprintln!(
            "warning: the allocator has no background thread, so packets may wait longer: {error}"
        );
    }
}
