//! JSON values that know where they are.

use serde_json::Value;
use std::fmt;
use std::rc::Rc;

/// Why a device configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The place in the JSON: `pipelines[0].tables[2].key`; empty for the whole.
    pub path: String,
    /// What is wrong, and what is valid.
    pub message: String,
}

impl Error {
    pub(crate) fn syntax(error: serde_json::Error) -> Self {
        Error {
            path: String::new(),
            message: format!("this is not JSON: {error}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// A value of the JSON, and the way to it.
#[derive(Clone, Debug)]
pub struct Node<'j> {
    json: &'j Value,
    step: Option<Rc<Step<'j>>>,
}

#[derive(Debug)]
struct Step<'j> {
    parent: Option<Rc<Step<'j>>>,
    key: Key<'j>,
}

#[derive(Clone, Copy, Debug)]
enum Key<'j> {
    Field(&'j str),
    Index(usize),
}

static NULL: Value = Value::Null;

impl<'j> Node<'j> {
    pub fn root(json: &'j Value) -> Self {
        Node { json, step: None }
    }

    fn child(&self, json: &'j Value, key: Key<'j>) -> Self {
        let parent = self.step.clone();
        let step = Some(Rc::new(Step { parent, key }));
        Node { json, step }
    }

    /// A member of an object; null where the object does not have it.
    pub fn get(&self, key: &'j str) -> Result<Node<'j>> {
        match self.json {
            Value::Object(members) => {
                Ok(self.child(members.get(key).unwrap_or(&NULL), Key::Field(key)))
            }
            _ => Err(self.expected("an object")),
        }
    }

    /// A member of an object, if it is there and not null.
    pub fn find(&self, key: &'j str) -> Result<Option<Node<'j>>> {
        let found = self.get(key)?;
        Ok((!found.is_null()).then_some(found))
    }

    pub fn is_null(&self) -> bool {
        self.json.is_null()
    }

    pub fn is_empty_object(&self) -> bool {
        self.json
            .as_object()
            .is_some_and(|members| members.is_empty())
    }

    /// Whether the value is an object with this member.
    pub fn has(&self, key: &str) -> bool {
        self.json.get(key).is_some()
    }

    /// The elements of an array; none for null.
    pub fn items(&self) -> Result<Vec<Node<'j>>> {
        match self.json {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Ok(items.map(|(i, v)| self.child(v, Key::Index(i))).collect())
            }
            _ => Err(self.expected("an array")),
        }
    }

    /// The elements of the array that a member is.
    pub fn list(&self, key: &'j str) -> Result<Vec<Node<'j>>> {
        self.get(key)?.items()
    }

    /// The elements of an array of a fixed length.
    pub fn exactly<const N: usize>(&self) -> Result<[Node<'j>; N]> {
        let items = self.items()?;
        let found = items.len();
        let wanted = |_| self.error(format!("expected {N} elements, found {found}"));
        items.try_into().map_err(wanted)
    }

    /// The members of an object.
    pub fn members(&self) -> Result<Vec<(&'j str, Node<'j>)>> {
        match self.json {
            Value::Null => Ok(Vec::new()),
            Value::Object(members) => {
                let members = members.iter();
                let child = |(key, v): (&'j String, &'j Value)| {
                    (key.as_str(), self.child(v, Key::Field(key)))
                };
                Ok(members.map(child).collect())
            }
            _ => Err(self.expected("an object")),
        }
    }

    pub fn str(&self) -> Result<&'j str> {
        self.json.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// The string that a member is.
    pub fn text(&self, key: &'j str) -> Result<&'j str> {
        self.get(key)?.str()
    }

    pub fn bool(&self) -> Result<bool> {
        let found = self.json.as_bool();
        found.ok_or_else(|| self.expected("true or false"))
    }

    /// Whether a member is true; one that is missing is not.
    pub fn flag(&self, key: &'j str) -> Result<bool> {
        self.find(key)?.map_or(Ok(false), |node| node.bool())
    }

    /// A number from 0 to `most`.
    pub fn number(&self, most: u64) -> Result<u64> {
        match self.json.as_u64() {
            Some(number) if number <= most => Ok(number),
            _ => Err(self.expected(&format!("a number from 0 to {most}"))),
        }
    }

    /// An index into a list, or another number that is surely small.
    pub fn small(&self) -> Result<u32> {
        Ok(self.number(u32::MAX.into())? as u32)
    }

    pub fn error(&self, message: impl Into<String>) -> Error {
        let mut keys = Vec::new();
        let mut step = &self.step;
        while let Some(at) = step {
            keys.push(at.key);
            step = &at.parent;
        }
        let mut path = String::new();
        for key in keys.iter().rev() {
            match key {
                Key::Index(index) => path += &format!("[{index}]"),
                Key::Field(name) if path.is_empty() => path += name,
                Key::Field(name) => path += &format!(".{name}"),
            }
        }
        Error {
            path,
            message: message.into(),
        }
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.json {
            Value::Null => "nothing".into(),
            Value::Array(items) => format!("an array of {}", items.len()),
            Value::Object(_) => "an object".into(),
            other => other.to_string().chars().take(40).collect(),
        };
        self.error(format!("expected {what}, found {found}"))
    }
}
