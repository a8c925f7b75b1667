//! What parameters of the JSON refer to: fields, headers, unions, stacks.

use crate::builder::Builder;
use crate::expr;
use crate::headers::{Element, Header, Stack, Union};
use crate::node::{Node, Result};
use p4_ir::{Expr, Place};

/// The name of a header's validity among its fields.
const VALID: &str = "$valid$";

impl Builder<'_> {
    /// The header that a node names.
    pub fn header_named(&self, name: &Node<'_>) -> Result<Header> {
        let text = name.str()?;
        let found = self.headers.headers.get(text).cloned();
        found.ok_or_else(|| name.error(format!("there is no header `{text}`")))
    }

    /// The stack that a node names.
    pub fn stack_named(&self, name: &Node<'_>) -> Result<Stack> {
        let text = name.str()?;
        let found = self.headers.stacks.get(text).cloned();
        found.ok_or_else(|| name.error(format!("there is no header stack `{text}`")))
    }

    /// The union that a node names.
    pub fn union_named(&self, name: &Node<'_>) -> Result<Union> {
        let text = name.str()?;
        let found = self.headers.unions.get(text).cloned();
        found.ok_or_else(|| name.error(format!("there is no header union `{text}`")))
    }

    /// A header's field, or its validity, from `[header, field]`.
    pub fn field(&mut self, node: &Node<'_>) -> Result<Place> {
        let [header, field] = node.exactly()?;
        let header = self.header_named(&header)?;
        if field.str()? == VALID {
            return match header.metadata {
                true => Err(field.error("metadata has no validity")),
                false => Ok(Place::validity(&header.at)),
            };
        }
        self.field_of(&header, &field)
    }

    /// The field of a header that a node names.
    pub fn field_of(&self, header: &Header, field: &Node<'_>) -> Result<Place> {
        let name = field.str()?;
        let found = header.fields.find(name).and_then(|i| header.field(i));
        found.ok_or_else(|| {
            let fields = header.fields.list.iter().map(|(name, _)| name.as_str());
            let fields: Vec<_> = fields.take(40).collect();
            let of = &header.fields.of;
            field.error(format!(
                "`{of}` has no field `{name}`; it has {}",
                fields.join(", ")
            ))
        })
    }

    /// The header that a parameter is: by name, or an element of a stack found at run time.
    pub fn header(&mut self, node: &Node<'_>) -> Result<Header> {
        match node.text("type")? {
            "header" | "regular" => self.header_named(&node.get("value")?),
            "stack" => {
                let stack = self.stack_named(&node.get("value")?)?;
                self.last(&stack, node)
            }
            "expression" => self.header_expression(&node.get("value")?),
            other => Err(node.error(format!("{other:?} is not a header"))),
        }
    }

    fn header_expression(&mut self, node: &Node<'_>) -> Result<Header> {
        if !node.has("op") {
            return self.header(node);
        }
        match node.text("op")? {
            "dereference_header_stack" => {
                let stack = self.stack_operand(&node.get("left")?)?;
                let index = self.value(&node.get("right")?)?;
                self.element(&stack, expr::unsigned(index), node)
            }
            "access_union_header" => {
                let union = self.union(&node.get("left")?)?;
                let index = node.get("right")?;
                let found = union.header(index.small()? as usize);
                found.ok_or_else(|| {
                    index.error(format!("the union has {} headers", union.members.len()))
                })
            }
            other => Err(node.error(format!(
                "{other:?} does not give a header; valid: dereference_header_stack, access_union_header"
            ))),
        }
    }

    /// The stack that an operand names.
    pub fn stack_operand(&self, node: &Node<'_>) -> Result<Stack> {
        match node.text("type")? {
            "header_stack" | "stack" | "header_union_stack" | "union_stack" => {
                self.stack_named(&node.get("value")?)
            }
            other => Err(node.error(format!("{other:?} is not a header stack"))),
        }
    }

    /// The union that a parameter is.
    pub fn union(&mut self, node: &Node<'_>) -> Result<Union> {
        match node.text("type")? {
            "header_union" => self.union_named(&node.get("value")?),
            "expression" => {
                let inner = node.get("value")?;
                if !inner.has("op") {
                    return self.union(&inner);
                }
                if inner.text("op")? != "dereference_union_stack" {
                    return Err(inner.error("only dereference_union_stack gives a header union"));
                }
                let stack = self.stack_operand(&inner.get("left")?)?;
                let index = self.value(&inner.get("right")?)?;
                self.union_element(&stack, expr::unsigned(index), &inner)
            }
            other => Err(node.error(format!("{other:?} is not a header union"))),
        }
    }

    /// An element of a stack of headers.
    pub fn element(&self, stack: &Stack, index: Expr, node: &Node<'_>) -> Result<Header> {
        match &stack.of {
            Element::Header(ty, fields) => Ok(Header {
                at: stack.at.element(index),
                ty: *ty,
                metadata: false,
                fields: fields.clone(),
                siblings: Vec::new(),
            }),
            Element::Union(..) => Err(node.error("this is a stack of unions, not of headers")),
        }
    }

    /// An element of a stack of unions.
    pub fn union_element(&self, stack: &Stack, index: Expr, node: &Node<'_>) -> Result<Union> {
        match &stack.of {
            Element::Union(ty, members) => Ok(Union {
                at: stack.at.element(index),
                ty: *ty,
                members: members.clone(),
            }),
            Element::Header(..) => Err(node.error("this is a stack of headers, not of unions")),
        }
    }

    /// The member of a union that a node names.
    pub fn member(&self, union: &Union, name: &Node<'_>) -> Result<Header> {
        let text = name.str()?;
        let index = union.members.iter().position(|m| m.name == text);
        let found = index.and_then(|index| union.header(index));
        found.ok_or_else(|| name.error(format!("the union has no header `{text}`")))
    }

    /// The element of a stack that was extracted last.
    pub fn last(&self, stack: &Stack, node: &Node<'_>) -> Result<Header> {
        self.element(stack, stack.last_index(), node)
    }

    /// Where a parameter says that a value is written.
    pub fn destination(&mut self, node: &Node<'_>) -> Result<Place> {
        match node.text("type")? {
            "field" => self.field(&node.get("value")?),
            "stack_field" => {
                let [stack, field] = node.get("value")?.exactly()?;
                let header = self.last(&self.stack_named(&stack)?, &stack)?;
                self.field_of(&header, &field)
            }
            "expression" => {
                let inner = node.get("value")?;
                match inner.has("op") {
                    false => self.destination(&inner),
                    true if inner.text("op")? == "access_field" => self.accessed(&inner),
                    true => Err(inner.error("only fields can be written")),
                }
            }
            other => Err(node.error(format!("{other:?} cannot be written; a field can"))),
        }
    }

    /// The field by number of a header that an expression gives.
    pub fn accessed(&mut self, node: &Node<'_>) -> Result<Place> {
        let header = self.header(&node.get("left")?)?;
        let index = node.get("right")?;
        header.field(index.small()? as usize).ok_or_else(|| {
            let count = header.fields.list.len();
            index.error(format!("`{}` has {count} fields", header.fields.of))
        })
    }
}
