//! Checks of a scenario beyond its syntax: names resolve, numbers are in range.

mod association;
mod network;
mod traffic;

pub(crate) use traffic::{check_settings, check_source_settings};

use super::{Link, Scenario};
use engine::DropCause;
use std::collections::BTreeSet;
use tcp_settings::check::{Checked, fail, positive};

/// The most numbers in all records of a run: 800 MB.
const MAX_CELLS: f64 = 1e8;

/// The most samples of counters and registers in a run.
const MAX_SAMPLES: f64 = 10_000.0;

impl Scenario {
    /// Checks names and ranges.
    ///
    /// # Errors
    /// The first error, with its place and what is valid.
    pub fn check(&self) -> Checked {
        positive("end_s", self.end_s)?;
        positive("sample_s", self.sample_s)?;
        if self.sample_s < 1e-9 {
            return fail("sample_s", format!("{} s is less than 1 ns", self.sample_s));
        }
        if self.end_s / self.sample_s > 1e7 {
            return fail(
                "sample_s",
                format!("{} s gives more than ten million bins", self.sample_s),
            );
        }
        self.check_nodes()?;
        self.check_media()?;
        self.check_links()?;
        self.check_records()?;
        let mut names = BTreeSet::new();
        for (i, flow) in self.flows.iter().enumerate() {
            unique(&mut names, format!("flows[{i}].name"), flow.name(i))?;
            self.check_flow(&format!("flows[{i}]"), flow)?;
        }
        for (i, source) in self.sources.iter().enumerate() {
            unique(&mut names, format!("sources[{i}].name"), source.name(i))?;
            self.check_source(&format!("sources[{i}]"), source)?;
        }
        for (i, association) in self.associations.iter().enumerate() {
            let path = format!("associations[{i}]");
            unique(&mut names, format!("{path}.name"), association.name(i))?;
            self.check_association(&path, association)?;
        }
        self.check_record()
    }

    /// Every bin of every record takes memory, even if nothing happens in it.
    fn check_records(&self) -> Checked {
        let flows = match self.record.flows_as_they_end {
            true => 0,
            false => self.flows.len(),
        };
        let [flows, links, switches] = [
            flows + self.sources.len(),
            self.links.len(),
            self.switches.len(),
        ];
        let paths = self.associations.iter().map(|association| {
            let host = self.hosts.get(&association.from);
            1 + host.map_or(0, |host| host.interfaces.len())
        });
        let associations = paths.map(|paths| 8 + paths).sum::<usize>();
        let columns = 1 + 6 * flows + associations + 14 * links + DropCause::ALL.len() * switches;
        let bins = (self.end_s / self.sample_s).ceil();
        if bins * columns as f64 > MAX_CELLS {
            let message = format!(
                "{} s gives {bins} bins of {columns} records; expected at most {MAX_CELLS} values",
                self.sample_s
            );
            return fail("sample_s", message);
        }
        Ok(())
    }

    fn check_record(&self) -> Checked {
        if let Some(every_s) = self.record.sample_objects_s {
            positive("record.sample_objects_s", every_s)?;
            if self.end_s / every_s > MAX_SAMPLES {
                let message = format!(
                    "{every_s} s gives more than {MAX_SAMPLES} samples; expected at least {} s",
                    self.end_s / MAX_SAMPLES
                );
                return fail("record.sample_objects_s", message);
            }
        }
        for (i, name) in self.record.pcap.iter().enumerate() {
            let links: Vec<String> = self.links.iter().map(Link::name).collect();
            if !links.contains(name) {
                return unknown(format!("record.pcap[{i}]"), "link", name, links.iter());
            }
        }
        let ci = self.record.check_ci.as_ref();
        let lists = [
            ("aqt_switches", self.record.aqt_switches.as_ref()),
            ("check_ci.switches", ci.and_then(|c| c.switches.as_ref())),
        ];
        for (field, list) in lists {
            for (i, name) in list.into_iter().flatten().enumerate() {
                if !self.switches.contains_key(name) {
                    let path = format!("record.{field}[{i}]");
                    return unknown(path, "switch", name, self.switches.keys());
                }
            }
        }
        Ok(())
    }
}

fn unique(names: &mut BTreeSet<String>, path: String, name: String) -> Checked {
    if names.contains(&name) {
        return fail(path, format!("another flow or source is named {name:?}"));
    }
    names.insert(name);
    Ok(())
}

fn unknown<'a>(
    path: String,
    what: &str,
    name: &str,
    valid: impl Iterator<Item = &'a String>,
) -> Checked {
    let valid: Vec<&str> = valid.map(String::as_str).collect();
    let plural = if what == "switch" { "es" } else { "s" };
    let message = match valid.is_empty() {
        true => format!("no {what} {name:?}; there are none"),
        false => format!(
            "no {what} {name:?}; {what}{plural} are {}",
            valid.join(", ")
        ),
    };
    fail(path, message)
}

#[cfg(test)]
mod tests;
