//! PSA port numbers have 32 bits, those of the switch 16. The last 256 numbers of both correspond to each other.

/// `PSA_PORT_RECIRCULATE`
pub const RECIRCULATE: u64 = 0xffff_fffa;

/// Ports from here on correspond to the last ones of PSA.
const RESERVED: u16 = 0xff00;

/// The switch's number of a PSA port. `None` for ports that the switch cannot have.
pub fn of_switch(port: u64) -> Option<u16> {
    match port {
        0xffff_ff00..=0xffff_ffff => Some(port as u16),
        _ => u16::try_from(port).ok().filter(|port| *port < RESERVED),
    }
}

/// PSA's number of a port of the switch.
pub fn of_psa(port: u16) -> u64 {
    match port {
        RESERVED.. => 0xffff_0000 | u64::from(port),
        _ => port.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_each_other() {
        for port in [0, 1, 511, 0xfeff, 0xffff_ff00, RECIRCULATE, 0xffff_ffff] {
            let own = of_switch(port).expect("a port");
            assert_eq!(of_psa(own), port);
        }
        for port in [0xff00, 0xffff, 0x1_0000, 0xffff_feff] {
            assert_eq!(of_switch(port), None);
        }
    }
}
