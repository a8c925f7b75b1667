//! Marks that a connection declares.

use serde::{Deserialize, Serialize};
use transport::tcp;

/// An IPv4 option of a connection's packets, for hops to write into and for the receiver to echo.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The option's type.
    pub option: u8,
    /// Its fields, in the order of the header.
    pub fields: Vec<MarkField>,
}

/// A field of a mark.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkField {
    /// Its width, 1 to 64.
    pub bits: u8,
    /// What hops do with it.
    pub aggregation: AggregationName,
}

/// How the hops of a path come to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AggregationName {
    /// Each adds to it; from 0.
    Sum,
    /// The smallest counts; from the largest value.
    Min,
    /// The largest counts; from 0.
    Max,
    /// The last hop's counts; from 0.
    Last,
}

/// The marks as connections take them.
///
/// # Errors
/// A declaration is not valid, or there are too many.
pub(crate) fn laid_out(marks: &[Mark]) -> Result<tcp::Marks, tcp::MarkError> {
    let field = |field: &MarkField| tcp::Field {
        bits: field.bits,
        aggregation: match field.aggregation {
            AggregationName::Sum => tcp::Aggregation::Sum,
            AggregationName::Min => tcp::Aggregation::Min,
            AggregationName::Max => tcp::Aggregation::Max,
            AggregationName::Last => tcp::Aggregation::Last,
        },
    };
    let mark = |mark: &Mark| tcp::Mark {
        option: mark.option,
        fields: mark.fields.iter().map(field).collect(),
    };
    tcp::Marks::new(marks.iter().map(mark).collect())
}
