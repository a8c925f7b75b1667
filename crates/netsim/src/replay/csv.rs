//! Rows in the format of the recorded traces.

use super::{Kind, Row, Trace};
use std::fmt::Write;

/// Writes a header, the queue rows in time order, then the drop rows.
pub(super) fn write(trace: &Trace, rows: Vec<Row>) -> String {
    let mut text = match trace.flow_column {
        true => format!("time_s,flow,seq_mod_{},kind\n", trace.modulus),
        false => format!("time_s,seq_mod_{},kind\n", trace.modulus),
    };
    for row in rows.iter().filter(|row| is_queue_row(trace, row.kind)) {
        write_row(&mut text, trace, row, "queue");
    }
    for row in rows.iter().filter(|row| is_drop(row.kind)) {
        for _ in 0..trace.drop_rows {
            write_row(&mut text, trace, row, "drop");
        }
    }
    text
}

fn is_drop(kind: Kind) -> bool {
    matches!(kind, Kind::Refused | Kind::Lost)
}

fn is_queue_row(trace: &Trace, kind: Kind) -> bool {
    !is_drop(kind) || trace.drop_is_queue_row
}

fn write_row(text: &mut String, trace: &Trace, row: &Row, kind: &str) {
    let seconds = format!("{:.6}", row.at.as_secs_f64());
    let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
    let number = row.number % trace.modulus;
    let flow = match trace.flow_column {
        true => format!("{},", row.flow),
        false => String::new(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{seconds},{flow}{number},{kind}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    #[test]
    fn rows_take_the_form_that_the_trace_asks_for() {
        let row = |us, number, kind| Row {
            at: Instant::from_micros(us),
            flow: 1,
            number,
            kind,
        };
        let rows = vec![
            row(1_000_000, 99, Kind::Refused),
            row(1_212_440, 100, Kind::Enqueue),
        ];
        let trace = Trace {
            link: ["a".into(), "b".into()],
            modulus: 100,
            flow_column: true,
            drop_is_queue_row: true,
            drop_rows: 1,
        };
        assert_eq!(
            write(&trace, rows.clone()),
            "time_s,flow,seq_mod_100,kind\n1,1,99,queue\n1.21244,1,0,queue\n1,1,99,drop\n"
        );
        let trace = Trace {
            flow_column: false,
            drop_is_queue_row: false,
            drop_rows: 2,
            ..trace
        };
        assert_eq!(
            write(&trace, rows),
            "time_s,seq_mod_100,kind\n1.21244,0,queue\n1,99,drop\n1,99,drop\n"
        );
    }
}
