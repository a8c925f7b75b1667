//! How the server reaches the switch: as jobs for the thread that owns it.

use engine::Switch;
use tokio::sync::oneshot;
use tonic::{Code, Status};
use units::Instant;

/// What the owner of a switch runs between two packets. There is no switch before the first program
/// is committed; a job may put one there, or another in its place. The time is the owner's.
pub type Job = Box<dyn FnOnce(&mut Option<Switch>, Instant) + Send>;

/// Hands jobs to the thread that owns the switch, which runs them in the order in which they come.
pub trait Dataplane: Send + Sync + 'static {
    /// Hands a job over and returns. If that thread has ended, the job is dropped.
    fn submit(&self, job: Job);
}

impl<F: Fn(Job) + Send + Sync + 'static> Dataplane for F {
    fn submit(&self, job: Job) {
        self(job);
    }
}

/// Runs `job` on the switch and waits for what it returns.
pub(crate) async fn run<T: Send + 'static>(
    dataplane: &dyn Dataplane,
    job: impl FnOnce(&mut Option<Switch>, Instant) -> T + Send + 'static,
) -> Result<T, Status> {
    let (done, result) = oneshot::channel();
    dataplane.submit(Box::new(move |switch, now| {
        // A fault of the server's own must not end the thread that forwards packets. `done` is dropped
        // with it, which is the client's answer.
        let run = std::panic::AssertUnwindSafe(|| job(switch, now));
        if let Ok(value) = std::panic::catch_unwind(run) {
            let _ = done.send(value);
        }
    }));
    let ended = |_| Status::new(Code::Internal, "the switch did not carry out the request");
    result.await.map_err(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_that_panics_is_an_internal_error_and_the_next_is_served() {
        let switch = std::sync::Mutex::new(None);
        let dataplane = move |job: Job| job(&mut switch.lock().unwrap(), Instant::ZERO);
        let panics = |_: &mut Option<Switch>, _| panic!("sabotage");
        let status = run::<()>(&dataplane, panics).await.unwrap_err();
        assert_eq!(status.code(), Code::Internal);
        assert_eq!(status.message(), "the switch did not carry out the request");
        assert_eq!(run(&dataplane, |_, _| 7).await.unwrap(), 7);
    }
}
