//! The records of a run at its end, as JSON.

use netsim::Results;
use netsim::record::FlowRecord;
use serde_json::{Map, Value, json};

/// The columns and totals that the page shows; `bin_s` is the width of a bin.
pub fn to_json(results: Results, bin_s: f64) -> Value {
    let end_s = results.end.as_secs_f64();
    let lines: Map<String, Value> = results
        .lines
        .into_iter()
        .map(|(name, line)| {
            let begins = &results.time_s;
            let widths = begins
                .iter()
                .map(|begin| (end_s - begin).clamp(1e-9, bin_s) * 1e9);
            let waiting = line.waiting_ns.iter().zip(widths);
            let mean: Vec<f64> = waiting.map(|(&ns, width)| ns as f64 / width).collect();
            let told = json!({
                "sent_packets": line.sent_packets,
                "lost_packets": line.lost_packets,
                "dropped_packets": line.dropped_packets,
                "mean_waiting": mean,
                "max_waiting": line.max_waiting,
            });
            (name, told)
        })
        .collect();
    let flows: Map<String, Value> = results
        .flows
        .into_iter()
        .map(|(name, record)| (name, flow(&record)))
        .collect();
    let switches: Map<String, Value> = results
        .switches
        .into_iter()
        .map(|(name, switch)| {
            let drops: Map<String, Value> = switch
                .drops
                .iter()
                .map(|(cause, count)| ((*cause).to_owned(), json!(count)))
                .collect();
            let counters: Map<String, Value> = switch
                .counters
                .into_iter()
                .map(|(name, one)| (name, json!({"index": one.index, "packets": one.packets})))
                .collect();
            let ports: Vec<Value> = switch
                .ports
                .iter()
                .map(|(number, port)| {
                    json!({
                        "port": number, "line": port.line,
                        "rx_packets": port.stats.rx_packets, "tx_packets": port.stats.tx_packets,
                    })
                })
                .collect();
            let told = json!({
                "handled_packets": switch.handled_packets,
                "counters": counters,
                "ports": ports,
                "drops": drops,
                "cut_loops": switch.cut_loops,
                "panic": switch.panic,
            });
            (name, told)
        })
        .collect();
    json!({
        "bin_s": bin_s,
        "flows": flows,
        "lines": lines,
        "switches": switches,
        "aqt": results.check_aqt.map(|check| json!({
            "compared": check.compared, "mismatches": check.mismatches, "first": check.first,
        })),
        "totals": {
            "events": results.totals.events,
            "packets": results.totals.packets,
            "packet_hops": results.totals.packet_hops,
        },
    })
}

fn flow(record: &FlowRecord) -> Value {
    json!({
        "sent_packets": record.sent_packets,
        "delivered_packets": record.delivered_packets,
        "goodput_octets": record.goodput_octets,
        "payload_octets": record.packet.payload,
        "packet_octets": record.packet.link,
        "counted_octets": record.packet.link - record.packet.feedback,
        "resent": record.resent_packets.iter().sum::<u64>(),
        "lost": record.lost_packets.iter().sum::<u64>(),
        "timeouts": record.timeouts,
        "finished_s": record.finished.map(|at| at.as_secs_f64()),
    })
}
