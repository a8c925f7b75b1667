//! Losses of a wireless link by distance: log-normal shadowing, as in the propagation model of
//! ns-2.

use std::f64::consts::{PI, SQRT_2};

/// Metres per second, with the value of ns-2.
const SPEED_OF_LIGHT: f64 = 3e8;

/// A transmitter, a receiver without antenna gain, and the propagation between them.
#[derive(Clone, Copy, Debug)]
pub struct Shadowing {
    /// The mean power decreases by ten times this many dB per decade of distance.
    pub path_loss_exponent: f64,
    /// Standard deviation of the power in dB.
    pub sigma_db: f64,
    /// Up to this distance in metres, the mean power is the Friis value at this distance.
    pub reference_m: f64,
    /// Power of the transmitter in watts.
    pub transmit_w: f64,
    /// Carrier frequency in hertz.
    pub frequency_hz: f64,
    /// Minimum power for reception, in watts.
    pub threshold_w: f64,
}

impl Shadowing {
    /// The probability that a packet arrives with less power than the threshold.
    pub fn loss(&self, distance_m: f64) -> f64 {
        let wavelength_m = SPEED_OF_LIGHT / self.frequency_hz;
        let spread = wavelength_m / (4.0 * PI * self.reference_m);
        let reference_w = self.transmit_w * spread * spread;
        let decades = libm::log10((distance_m / self.reference_m).max(1.0));
        let fall_db = 10.0 * self.path_loss_exponent * decades;
        let margin_db = 10.0 * libm::log10(reference_w / self.threshold_w) - fall_db;
        0.5 * libm::erfc(margin_db / self.sigma_db / SQRT_2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_packets_are_lost_where_the_mean_power_is_the_threshold() {
        let mut shadowing = Shadowing {
            path_loss_exponent: 2.0,
            sigma_db: 4.0,
            reference_m: 1.0,
            transmit_w: 1.0,
            frequency_hz: 3e8,
            threshold_w: 1.0,
        };
        // (1 / 4π)² at 1 m, and a hundredth of that at 10 m.
        let friis_w = 1.0 / (16.0 * PI * PI);
        shadowing.threshold_w = friis_w / 100.0;
        assert!((shadowing.loss(10.0) - 0.5).abs() < 1e-12);
        // 4 dB above the threshold, which is one standard deviation: 15.87 %.
        shadowing.threshold_w = friis_w / libm::pow(10.0, 2.4);
        assert!((shadowing.loss(10.0) - 0.158_655_253_931_457).abs() < 1e-12);
        // Below the reference distance, the power is that at the reference distance.
        assert_eq!(shadowing.loss(0.1), shadowing.loss(1.0));
    }
}
