//! The functions that WebAssembly exports and imports. Texts are UTF-8 in the module's memory.
#![allow(unsafe_code)]

use crate::Lab;
use std::cell::RefCell;

thread_local! {
    static LAB: RefCell<Lab> = RefCell::new(Lab::default());
    /// The last answer, until the next request.
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// What the page's control writes: congestion window, slow-start threshold, pacing rate.
    static WINDOW: RefCell<[f64; 3]> = const { RefCell::new([0.0; 3]) };
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Calls the page's control with an event (JSON); it writes three numbers to `window`. Whether it
    /// succeeded.
    fn control(event: *const u8, octets: usize, window: *mut f64) -> i32;
    /// Tells the page of a panic.
    fn panicked(message: *const u8, octets: usize);
}

/// Room for a request of `octets`.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(octets: usize) -> *mut u8 {
    ANSWER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(octets, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the request that was written to the memory of [`reserve`]; the length of the answer, which
/// [`answer`] points to.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // SAFETY: the page reads the text before the call returns.
        unsafe { panicked(message.as_ptr(), message.len()) }
    }));
    let request = ANSWER.with_borrow_mut(std::mem::take);
    let answer = LAB.with_borrow_mut(|lab| lab.answer(&request));
    ANSWER.with_borrow_mut(|buffer| {
        *buffer = answer.into_bytes();
        buffer.len()
    })
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|buffer| buffer.as_ptr())
}

/// What the page's control sets after an event; none if it failed.
pub fn call_control(event: &str) -> Option<[f64; 3]> {
    WINDOW.with_borrow_mut(|window| {
        // SAFETY: both live until the call returns, and the page writes three numbers.
        let called = unsafe { control(event.as_ptr(), event.len(), window.as_mut_ptr()) };
        (called != 0).then_some(*window)
    })
}
