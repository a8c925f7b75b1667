//! Declared marks for Python: named tuples with the names of the marks.

use congestion::MarkValues;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The marks that a control declares.
#[derive(Debug)]
pub struct Marks(Vec<Mark>);

#[derive(Debug)]
struct Mark {
    name: String,
    /// The class of the values, whose constructor takes one argument per field.
    values: Py<PyType>,
    fields: usize,
}

impl Marks {
    /// The marks of a control in Python.
    pub fn of(control: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = control.py();
        let declared = control.getattr(intern!(py, "marks"))?;
        let mark = |mark: PyResult<Bound<'_, PyAny>>| {
            let mark = mark?;
            Ok(Mark {
                name: mark.getattr(intern!(py, "name"))?.extract()?,
                values: mark.getattr(intern!(py, "values"))?.extract()?,
                fields: mark.getattr(intern!(py, "fields"))?.len()?,
            })
        };
        Ok(Marks(
            declared.try_iter()?.map(mark).collect::<PyResult<_>>()?,
        ))
    }

    /// The values of an event as named tuples. The values of the marks are concatenated.
    pub fn named<'py>(&self, py: Python<'py>, values: &MarkValues) -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        let mut rest = values.as_slice();
        for mark in &self.0 {
            let (own, behind) = rest.split_at(mark.fields.min(rest.len()));
            let made = mark.values.bind(py).call1(PyTuple::new(py, own)?)?;
            named.set_item(&mark.name, made)?;
            rest = behind;
        }
        Ok(named)
    }
}
