//! Losses of wireless links.

use netsim::shadowing::Shadowing;
use pyo3::prelude::*;

#[pyfunction]
#[pyo3(signature = (distance_m, *, path_loss_exponent, sigma_db, reference_m, transmit_w, frequency_hz, threshold_w))]
pub fn shadowing_loss(
    distance_m: f64,
    path_loss_exponent: f64,
    sigma_db: f64,
    reference_m: f64,
    transmit_w: f64,
    frequency_hz: f64,
    threshold_w: f64,
) -> f64 {
    let shadowing = Shadowing {
        path_loss_exponent,
        sigma_db,
        reference_m,
        transmit_w,
        frequency_hz,
        threshold_w,
    };
    shadowing.loss(distance_m)
}
