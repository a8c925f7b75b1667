//! Header types, headers, stacks and unions: what they are called, and where they are.

use crate::expr;
use crate::integer;
use crate::node::{Node, Result};
use p4_ir::{
    Annotation, AnnotationValue, BinaryOp, BlockParam, Expr, Field, Location, Place, Program,
    Scalar, SourceLoc, Type, TypeDef, TypeId, TypeKind, Variable, VariableId,
};
use std::collections::HashMap;
use std::rc::Rc;

/// The widest field, and the longest stack; guards against sizes that no memory holds.
const MAX_WIDTH: u64 = 1 << 14;
const MAX_LENGTH: u64 = 1 << 10;
/// The most fields that all headers together may have.
const MAX_FIELDS: u64 = 1 << 20;

/// Metadata of P4_14 programs whose fields BMv2 reads and writes. In v1model, they are fields of the standard metadata.
const INTRINSIC: [&str; 2] = ["intrinsic_metadata", "queueing_metadata"];

/// A header type: the names and types of its fields.
#[derive(Debug)]
pub struct Fields {
    pub of: String,
    pub list: Vec<(String, Scalar)>,
}

impl Fields {
    /// The field of this name: its index.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|(field, _)| field == name)
    }
}

/// A header (or metadata, which has no validity).
#[derive(Clone, Debug)]
pub struct Header {
    pub at: Location,
    pub ty: TypeId,
    pub metadata: bool,
    pub fields: Rc<Fields>,
    /// The other headers of its union.
    pub siblings: Vec<Location>,
}

impl Header {
    /// Its field by number.
    pub fn field(&self, index: usize) -> Option<Place> {
        let (_, ty) = self.fields.list.get(index)?;
        Some(Place {
            at: self.at.member(index as u32),
            ty: *ty,
        })
    }
}

/// A member of a union.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    pub ty: TypeId,
    pub fields: Rc<Fields>,
}

/// A header union.
#[derive(Clone, Debug)]
pub struct Union {
    pub at: Location,
    pub ty: TypeId,
    pub members: Rc<Vec<Member>>,
}

impl Union {
    /// One of its headers.
    pub fn header(&self, index: usize) -> Option<Header> {
        let member = self.members.get(index)?;
        let others = (0..self.members.len()).filter(|i| *i != index);
        Some(Header {
            at: self.at.member(index as u32),
            ty: member.ty,
            metadata: false,
            fields: member.fields.clone(),
            siblings: others.map(|i| self.at.member(i as u32)).collect(),
        })
    }
}

/// A stack of headers or of unions.
#[derive(Clone, Debug)]
pub struct Stack {
    pub at: Location,
    pub len: u32,
    pub of: Element,
}

/// The type of a stack's `nextIndex`.
pub const NEXT_INDEX: Scalar = Scalar::Bit(32);

impl Stack {
    /// `nextIndex`.
    pub fn next_index(&self) -> Place {
        Place {
            at: self.at.next_index(),
            ty: NEXT_INDEX,
        }
    }

    /// The index of the element that was extracted last; out of range where none was.
    pub fn last_index(&self) -> Expr {
        let one = Expr::constant(1u8, NEXT_INDEX);
        expr::binary(
            BinaryOp::Sub,
            Expr::load(self.next_index()),
            one,
            NEXT_INDEX,
        )
    }
}

/// What a stack's elements are.
#[derive(Clone, Debug)]
pub enum Element {
    Header(TypeId, Rc<Fields>),
    Union(TypeId, Rc<Vec<Member>>),
}

impl Element {
    /// Its type.
    pub fn ty(&self) -> TypeId {
        match self {
            Element::Header(ty, _) | Element::Union(ty, _) => *ty,
        }
    }
}

/// Everything that is there because the JSON's lists of headers say so.
#[derive(Debug, Default)]
pub struct Headers {
    pub headers: HashMap<String, Header>,
    pub unions: HashMap<String, Union>,
    pub stacks: HashMap<String, Stack>,
    /// Headers, metadata, standard metadata: the parameters of every block.
    pub params: Vec<BlockParam>,
}

/// Reads the types and the variables.
pub fn read(root: &Node<'_>, out: &mut Program) -> Result<Headers> {
    let types = Types::read(root, out)?;
    let mut place = Placing {
        types,
        out,
        found: Headers::default(),
        parts: Vec::new(),
        count: 0,
    };
    place.stacks(root)?;
    place.unions(root)?;
    for node in root.list("headers")? {
        if !node.flag("metadata")? && !place.found.headers.contains_key(node.text("name")?) {
            place.header(&node, false)?;
        }
    }
    place.end("headers", "hdr");
    let lists = field_lists(root)?;
    let mut standard = None;
    for node in root.list("headers")? {
        if node.text("name")? == "standard_metadata" {
            standard = Some(node);
        } else if node.flag("metadata")? {
            place.header(&node, true)?;
        }
    }
    place.mark(&lists);
    place.end("metadata", "meta");
    let standard = standard.ok_or_else(|| {
        root.error("`headers` has no `standard_metadata`; this target runs v1model programs")
    })?;
    place.standard(&standard)?;
    Ok(place.found)
}

/// Of each list of fields to be kept its id and its fields.
type FieldLists = Vec<(u64, Vec<(String, String)>)>;

fn field_lists(root: &Node<'_>) -> Result<FieldLists> {
    let mut lists = Vec::new();
    for list in root.list("field_lists")? {
        let mut fields = Vec::new();
        for element in list.list("elements")? {
            let kind = element.text("type")?;
            if kind == "hexstr" {
                continue; // A constant has no place that could be kept.
            }
            if kind != "field" {
                let told = format!("{kind:?} is not allowed in a field list, only fields");
                return Err(element.error(told));
            }
            let [header, field] = element.get("value")?.exactly()?;
            fields.push((header.str()?.to_owned(), field.str()?.to_owned()));
        }
        lists.push((list.get("id")?.small()?.into(), fields));
    }
    Ok(lists)
}

/// Header types by name: their fields, and the IR's types of headers and of metadata.
struct Types {
    fields: HashMap<String, Rc<Fields>>,
    ids: HashMap<(String, bool), TypeId>,
}

impl Types {
    fn read(root: &Node<'_>, out: &mut Program) -> Result<Types> {
        let mut types = Types {
            fields: HashMap::new(),
            ids: HashMap::new(),
        };
        for node in root.list("header_types")? {
            let read = Rc::new(fields(&node)?);
            let name = read.of.clone();
            let fields: Vec<_> = read
                .list
                .iter()
                .map(|(name, ty)| field(name, Type::Scalar(*ty)))
                .collect();
            for metadata in [false, true] {
                let (name, kind) = match (metadata, name.as_str()) {
                    (false, _) => (name.clone(), TypeKind::Header(fields.clone())),
                    (true, "standard_metadata") => (
                        "standard_metadata_t".into(),
                        TypeKind::Struct(fields.clone()),
                    ),
                    (true, _) => (format!("{name}.fields"), TypeKind::Struct(fields.clone())),
                };
                let id = add_type(out, name, kind);
                types.ids.insert((read.of.clone(), metadata), id);
            }
            types.fields.insert(name, read);
        }
        Ok(types)
    }

    /// A type by the name that a node is.
    fn get(&self, name: &Node<'_>, metadata: bool) -> Result<(TypeId, Rc<Fields>)> {
        let text = name.str()?;
        match (
            self.ids.get(&(text.into(), metadata)),
            self.fields.get(text),
        ) {
            (Some(id), Some(fields)) => Ok((*id, fields.clone())),
            _ => Err(name.error(format!("there is no header type `{text}`"))),
        }
    }
}

fn fields(node: &Node<'_>) -> Result<Fields> {
    let mut fields = Vec::new();
    let mut bits = 0;
    let mut varbit = None;
    for field in node.list("fields")? {
        let parts = field.items()?;
        let [name, width, ..] = &parts[..] else {
            return Err(field.error("a field is its name, its width, and whether it is signed"));
        };
        // p4c writes 0 for a `bool`'s sign.
        let signed = match parts.get(2) {
            Some(sign) => sign
                .number(1)
                .map(|sign| sign == 1)
                .or_else(|_| sign.bool())?,
            None => false,
        };
        let ty = match width.str() {
            Ok("*") => {
                if varbit.replace(fields.len()).is_some() {
                    return Err(field.error("a header has at most one varbit"));
                }
                Scalar::Varbit(0)
            }
            _ => {
                let width = width.number(MAX_WIDTH)? as u32;
                bits += u64::from(width);
                match signed {
                    true => Scalar::Int(width),
                    false => Scalar::Bit(width),
                }
            }
        };
        fields.push((name.str()?.to_owned(), ty));
    }
    if let Some(at) = varbit {
        let most = node.get("max_length")?.number(MAX_WIDTH)? * 8;
        fields[at].1 = Scalar::Varbit(most.saturating_sub(bits) as u32);
    }
    if fields.len() as u64 > MAX_FIELDS {
        return Err(node.error("a header of this size is not supported"));
    }
    Ok(Fields {
        of: node.text("name")?.to_owned(),
        list: fields,
    })
}

struct Placing<'p> {
    types: Types,
    out: &'p mut Program,
    found: Headers,
    /// Members of the struct under construction.
    parts: Vec<Field>,
    /// Fields of all headers so far.
    count: u64,
}

impl Placing<'_> {
    /// Adds a member to the struct under construction.
    fn part(&mut self, name: &str, ty: Type, node: &Node<'_>) -> Result<Location> {
        self.count += u64::from(ty.values(self.out));
        if self.count > MAX_FIELDS {
            let message = format!("all headers together have over {MAX_FIELDS} fields");
            return Err(node.error(message));
        }
        self.parts.push(field(name, ty));
        Ok(self
            .under_construction()
            .member(self.parts.len() as u32 - 1))
    }

    /// The variable that will be the struct under construction.
    fn under_construction(&self) -> Location {
        Location::variable(VariableId(self.out.variables.len() as u32))
    }

    fn header(&mut self, node: &Node<'_>, metadata: bool) -> Result<()> {
        let name = node.text("name")?;
        let (ty, fields) = self.types.get(&node.get("header_type")?, metadata)?;
        let at = self.part(name, Type::Named(ty), node)?;
        self.name(name, at, ty, metadata, fields);
        // As simple_switch_grpc has it, which knows no annotations either.
        if matches!(name, "packet_in" | "packet_out") && !metadata {
            let mark = annotation("controller_header", AnnotationValue::String(name.into()));
            self.out[ty].annotations.push(mark);
            self.out.controller_headers.push(ty);
        }
        Ok(())
    }

    fn name(&mut self, name: &str, at: Location, ty: TypeId, metadata: bool, fields: Rc<Fields>) {
        let header = Header {
            at,
            ty,
            metadata,
            fields,
            siblings: Vec::new(),
        };
        self.found.headers.insert(name.to_owned(), header);
    }

    fn stacks(&mut self, root: &Node<'_>) -> Result<()> {
        let names = names(root, "headers")?;
        for node in root.list("header_stacks")? {
            let (ty, fields) = self.types.get(&node.get("header_type")?, false)?;
            let of = Element::Header(ty, fields.clone());
            let (stack, members) = self.stack(&node, "header_ids", of)?;
            for (i, id) in members.iter().enumerate() {
                let at = stack.at.element_at(i as u32);
                let name = named(&names, id)?;
                self.name(&name, at, ty, false, fields.clone());
            }
        }
        Ok(())
    }

    fn stack<'j>(
        &mut self,
        node: &Node<'j>,
        ids: &'j str,
        of: Element,
    ) -> Result<(Stack, Vec<Node<'j>>)> {
        let name = node.text("name")?;
        let members = node.list(ids)?;
        let len = node.get("size")?.number(MAX_LENGTH)?;
        if members.len() as u64 != len {
            let told = format!("the stack has {len} elements and {} ids", members.len());
            return Err(node.error(told));
        }
        let len = len as u32;
        let ty = Type::Stack(Box::new(Type::Named(of.ty())), len);
        let at = self.part(name, ty, node)?;
        let stack = Stack { at, len, of };
        self.found.stacks.insert(name.to_owned(), stack.clone());
        Ok((stack, members))
    }

    fn unions(&mut self, root: &Node<'_>) -> Result<()> {
        let headers = names(root, "headers")?;
        let unions = names(root, "header_unions")?;
        let mut types: HashMap<&str, (TypeId, Rc<Vec<Member>>)> = HashMap::new();
        for node in root.list("header_union_types")? {
            let mut members = Vec::new();
            let mut fields = Vec::new();
            for member in node.list("headers")? {
                let [name, ty] = member.exactly()?;
                let (ty, of) = self.types.get(&ty, false)?;
                fields.push(field(name.str()?, Type::Named(ty)));
                members.push(Member {
                    name: name.str()?.to_owned(),
                    ty,
                    fields: of,
                });
            }
            let name = node.text("name")?;
            let id = add_type(self.out, name.into(), TypeKind::Union(fields));
            types.insert(name, (id, Rc::new(members)));
        }
        let ty = |node: &Node<'_>| {
            let ty = node.get("union_type")?;
            let name = ty.str()?;
            let found = types.get(name).cloned();
            found.ok_or_else(|| ty.error(format!("there is no header union type `{name}`")))
        };
        let mut places: HashMap<String, Location> = HashMap::new();
        for node in root.list("header_union_stacks")? {
            let (id, members) = ty(&node)?;
            let (stack, ids) =
                self.stack(&node, "header_union_ids", Element::Union(id, members))?;
            for (i, id) in ids.iter().enumerate() {
                places.insert(named(&unions, id)?, stack.at.element_at(i as u32));
            }
        }
        for node in root.list("header_unions")? {
            let (ty, members) = ty(&node)?;
            let name = node.text("name")?;
            let at = match places.get(name) {
                Some(at) => at.clone(),
                None => self.part(name, Type::Named(ty), &node)?,
            };
            let union = Union { at, ty, members };
            for (i, id) in node.list("header_ids")?.iter().enumerate() {
                let wrong = || {
                    id.error(format!(
                        "union `{name}` has {} members",
                        union.members.len()
                    ))
                };
                let header = union.header(i).ok_or_else(wrong)?;
                self.found.headers.insert(named(&headers, id)?, header);
            }
            self.found.unions.insert(name.to_owned(), union);
        }
        Ok(())
    }

    /// Places the standard metadata, with the fields of [`INTRINSIC`] that it lacks.
    fn standard(&mut self, node: &Node<'_>) -> Result<()> {
        let (ty, fields) = self.types.get(&node.get("header_type")?, true)?;
        let name = "standard_metadata";
        let at = self.under_construction();
        let intrinsic: Vec<_> = INTRINSIC
            .into_iter()
            .filter(|name| self.found.headers.get(*name).is_some_and(|h| h.metadata))
            .collect();
        let mut list = fields.list.clone();
        for header in &intrinsic {
            for (name, scalar) in &self.found.headers[*header].fields.list {
                if list.iter().all(|(present, _)| present != name) {
                    list.push((name.clone(), *scalar));
                }
            }
        }
        if let TypeKind::Struct(members) = &mut self.out[ty].kind {
            for (name, ty) in &list[fields.list.len()..] {
                members.push(field(name, Type::Scalar(*ty)));
            }
        }
        let of = fields.of.clone();
        let fields = Rc::new(Fields { of, list });
        for name in intrinsic.into_iter().chain([name]) {
            self.name(name, at.clone(), ty, true, fields.clone());
        }
        self.param(name, ty);
        Ok(())
    }

    /// Writes on the fields of the metadata which lists keep them.
    fn mark(&mut self, lists: &FieldLists) {
        for part in &self.parts {
            let Type::Named(ty) = part.ty else { continue };
            let TypeKind::Struct(fields) = &mut self.out[ty].kind else {
                continue;
            };
            for (id, kept) in lists {
                let is_kept = |field: &Field| {
                    let mut names = kept.iter();
                    names.any(|(header, name)| *header == part.name && *name == field.name)
                };
                for field in fields.iter_mut().filter(|field| is_kept(field)) {
                    let mark = annotation("field_list", AnnotationValue::Int((*id).into()));
                    field.annotations.push(mark);
                }
            }
        }
    }

    /// Ends the struct under construction: a parameter of every block.
    fn end(&mut self, type_name: &str, name: &str) {
        let fields = std::mem::take(&mut self.parts);
        let id = add_type(self.out, type_name.into(), TypeKind::Struct(fields));
        self.param(name, id);
    }

    fn param(&mut self, name: &str, ty: TypeId) {
        let ty = Type::Named(ty);
        self.found.params.push(BlockParam {
            name: name.into(),
            ty: ty.clone(),
            variable: VariableId(self.out.variables.len() as u32),
        });
        self.out.variables.push(Variable {
            name: name.into(),
            ty,
            loc: SourceLoc::default(),
        });
    }
}

/// Names by id of what a list of the JSON holds.
fn names<'j>(root: &Node<'j>, list: &'j str) -> Result<HashMap<u64, &'j str>> {
    let named = |node: Node<'j>| Ok((node.get("id")?.small()?.into(), node.text("name")?));
    root.list(list)?.into_iter().map(named).collect()
}

fn named(names: &HashMap<u64, &str>, id: &Node<'_>) -> Result<String> {
    let number = id.small()?;
    let name = names.get(&number.into());
    let name = name.ok_or_else(|| id.error(format!("there is no id {number}")))?;
    Ok((*name).to_owned())
}

fn field(name: &str, ty: Type) -> Field {
    Field {
        name: name.into(),
        ty,
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    }
}

/// An annotation that represents what the JSON says elsewhere.
fn annotation(name: &str, value: AnnotationValue) -> Annotation {
    Annotation {
        name: name.into(),
        values: vec![value],
        text: String::new(),
        tokens: Vec::new(),
        structured: false,
    }
}

/// Adds a named type.
pub fn add_type(out: &mut Program, name: String, kind: TypeKind) -> TypeId {
    out.types.push(TypeDef {
        name,
        kind,
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    });
    TypeId(out.types.len() as u32 - 1)
}

/// The enums, whose members are numbers in expressions.
pub fn enums(root: &Node<'_>, out: &mut Program) -> Result<()> {
    for node in root.list("enums")? {
        let mut members = Vec::new();
        for entry in node.list("entries")? {
            let [name, value] = entry.exactly()?;
            let value = match value.str() {
                Ok(_) => integer::natural(&value)?,
                Err(_) => value.small()?.into(),
            };
            members.push((name.str()?.to_owned(), value));
        }
        let kind = TypeKind::SerialisableEnum(Scalar::Bit(32), members);
        add_type(out, node.text("name")?.to_owned(), kind);
    }
    Ok(())
}
