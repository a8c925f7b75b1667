//! Access to the switch: jobs for the thread that owns it.

use engine::Switch;
use tokio::sync::oneshot;
use tonic::{Code, Status};
use units::Instant;

/// A function that the owner of a switch runs between two packets. There is no switch before the first program is
/// committed. A job may create one or replace it. The time is that of the owner.
pub type Job = Box<dyn FnOnce(&mut Option<Switch>, Instant) + Send>;

/// Submits jobs to the thread that owns the switch, which runs them in the order of submission.
pub trait Dataplane: Send + Sync + 'static {
    /// Submits a job and returns. If the thread has ended, the job is dropped.
    fn submit(&self, job: Job);
}

impl<F: Fn(Job) + Send + Sync + 'static> Dataplane for F {
    fn submit(&self, job: Job) {
        self(job);
    }
}

/// Runs `job` on the switch and waits for its result.
pub(crate) async fn run<T: Send + 'static>(
    dataplane: &dyn Dataplane,
    job: impl FnOnce(&mut Option<Switch>, Instant) -> T + Send + 'static,
) -> Result<T, Status> {
    let (done, result) = oneshot::channel();
    dataplane.submit(Box::new(move |switch, now| {
        // A panic of the server must not end the thread that forwards packets. It drops `done`, from which the client
        // receives an error.
        let run = std::panic::AssertUnwindSafe(|| job(switch, now));
        if let Ok(value) = std::panic::catch_unwind(run) {
            let _ = done.send(value);
        }
    }));
    let ended = |_| Status::new(Code::Internal, "the switch did not execute the request");
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
        assert_eq!(status.message(), "the switch did not execute the request");
        assert_eq!(run(&dataplane, |_, _| 7).await.unwrap(), 7);
    }
}
