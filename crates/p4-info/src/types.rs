//! Types: how values look on the wire, and the declarations in `type_info`.

use crate::annotations::{find, listed};
use crate::proto::p4_bitstring_like_type_spec::TypeSpec as Bits;
use crate::proto::p4_data_type_spec::TypeSpec;
use crate::proto::p4_new_type_spec::Representation;
use crate::proto::p4_new_type_translation::{SdnString, SdnType};
use crate::proto::*;
use num_bigint::BigUint;
use p4_ir::{
    AnnotationValue, Field, Program, Scalar, Type, TypeDef, TypeId, TypeKind, control_plane_name,
};

/// The declared types that a P4Info mentions.
pub(crate) struct Types<'p> {
    program: &'p Program,
    info: Option<P4TypeInfo>,
}

/// What `@p4runtime_translation` says.
struct Translation {
    uri: String,
    /// 0 for a string.
    width: i32,
    string: bool,
}

impl<'p> Types<'p> {
    pub fn new(program: &'p Program) -> Self {
        Types {
            program,
            info: None,
        }
    }

    pub fn take(&mut self) -> Option<P4TypeInfo> {
        self.info.take()
    }

    /// `type_info` is there from now on, be it empty.
    pub fn touch(&mut self) -> &mut P4TypeInfo {
        self.info.get_or_insert_default()
    }

    /// Lists what is needed to understand a key, parameter or member of this type. Gives the name of a `type`.
    pub fn mention(&mut self, ty: &Type) -> Option<P4NamedType> {
        self.touch();
        let Type::Named(id) = ty else { return None };
        self.declare(*id);
        let def = &self.program[*id];
        matches!(def.kind, TypeKind::New(_)).then(|| P4NamedType {
            name: def.name.clone(),
        })
    }

    /// Width in bits of a value on the wire; 0 for a string, an `error` or an enum without underlying type.
    pub fn width(&self, ty: &Type) -> i32 {
        if let Type::Named(id) = ty
            && let Some(translation) = translation(&self.program[*id])
        {
            return translation.width;
        }
        match ty.scalar(self.program) {
            Some(Scalar::Symbol) | None => 0,
            Some(scalar) => scalar.width() as i32,
        }
    }

    /// How values of a type are made up; lists what is needed to understand it.
    pub fn spec(&mut self, ty: &Type) -> P4DataTypeSpec {
        self.touch();
        let spec = match ty {
            Type::Scalar(Scalar::Bool) => TypeSpec::Bool(P4BoolType {}),
            Type::Scalar(Scalar::Symbol) => TypeSpec::Error(P4ErrorType {}),
            Type::Scalar(scalar) => TypeSpec::Bitstring(bits(*scalar)),
            Type::Tuple(members) => TypeSpec::Tuple(P4TupleTypeSpec {
                members: members.iter().map(|m| self.spec(m)).collect(),
            }),
            Type::Stack(of, size) | Type::Array(of, size) => self.array(of, *size as i32),
            Type::Named(id) => {
                self.declare(*id);
                self.named(*id)
            }
        };
        P4DataTypeSpec {
            type_spec: Some(spec),
        }
    }

    fn array(&mut self, of: &Type, size: i32) -> TypeSpec {
        match self.spec(of).type_spec {
            Some(TypeSpec::HeaderUnion(name)) => {
                TypeSpec::HeaderUnionStack(P4HeaderUnionStackTypeSpec {
                    header_union: Some(name),
                    size,
                })
            }
            Some(TypeSpec::Header(name)) => TypeSpec::HeaderStack(P4HeaderStackTypeSpec {
                header: Some(name),
                size,
            }),
            // P4Runtime has no arrays of other types: a tuple of the elements.
            spec => TypeSpec::Tuple(P4TupleTypeSpec {
                members: vec![P4DataTypeSpec { type_spec: spec }; size as usize],
            }),
        }
    }

    fn named(&self, id: TypeId) -> TypeSpec {
        let def = &self.program[id];
        let name = P4NamedType {
            name: type_name(def),
        };
        match def.kind {
            TypeKind::Struct(_) => TypeSpec::Struct(name),
            TypeKind::Header(_) => TypeSpec::Header(name),
            TypeKind::Union(_) => TypeSpec::HeaderUnion(name),
            TypeKind::Enum(_) => TypeSpec::Enum(name),
            TypeKind::SerialisableEnum(..) => TypeSpec::SerializableEnum(name),
            TypeKind::New(_) => TypeSpec::NewType(name),
            TypeKind::Error => TypeSpec::Error(P4ErrorType {}),
        }
    }

    fn declare(&mut self, id: TypeId) {
        let program = self.program;
        let def = &program[id];
        let name = type_name(def);
        match &def.kind {
            TypeKind::Struct(fields) => {
                if self.touch().structs.contains_key(&name) {
                    return;
                }
                let members = fields.iter().map(|f| p4_struct_type_spec::Member {
                    name: control_plane_name(&f.name, &f.annotations),
                    type_spec: Some(self.spec(&f.ty)),
                });
                let members = members.collect();
                let spec = P4StructTypeSpec {
                    members,
                    ..Default::default()
                };
                self.touch().structs.insert(name, spec);
            }
            TypeKind::Header(fields) => {
                let members = flattened(program, fields);
                let members = members.into_iter().map(|m| p4_header_type_spec::Member {
                    name: m.name,
                    type_spec: m.ty.scalar(program).map(bits),
                });
                let spec = P4HeaderTypeSpec {
                    members: members.collect(),
                    ..Default::default()
                };
                self.touch().headers.insert(name, spec);
            }
            TypeKind::Union(fields) => {
                let mut members = Vec::new();
                for field in fields {
                    let Some(TypeSpec::Header(header)) = self.spec(&field.ty).type_spec else {
                        continue;
                    };
                    members.push(p4_header_union_type_spec::Member {
                        name: control_plane_name(&field.name, &field.annotations),
                        header: Some(header),
                    });
                }
                let spec = P4HeaderUnionTypeSpec {
                    members,
                    ..Default::default()
                };
                self.touch().header_unions.insert(name, spec);
            }
            TypeKind::Enum(members) => {
                let members = members.iter().map(|name| p4_enum_type_spec::Member {
                    name: name.clone(),
                    ..Default::default()
                });
                let spec = P4EnumTypeSpec {
                    members: members.collect(),
                    ..Default::default()
                };
                self.touch().enums.insert(name, spec);
            }
            TypeKind::SerialisableEnum(under, members) => {
                let width = under.width();
                let member =
                    |(name, value): &(String, BigUint)| p4_serializable_enum_type_spec::Member {
                        name: name.clone(),
                        value: octets(value, width),
                        ..Default::default()
                    };
                let spec = P4SerializableEnumTypeSpec {
                    underlying_type: Some(P4BitTypeSpec {
                        bitwidth: width as i32,
                    }),
                    members: members.iter().map(member).collect(),
                    ..Default::default()
                };
                self.touch().serializable_enums.insert(name, spec);
            }
            TypeKind::New(of) => self.declare_new(name, def, of),
            TypeKind::Error => {
                let members = program.errors.clone();
                self.touch().error = Some(P4ErrorTypeSpec { members });
            }
        }
    }

    fn declare_new(&mut self, name: String, def: &TypeDef, of: &'p Type) {
        let mut under = of;
        while let Type::Named(id) = under {
            match &self.program[*id].kind {
                TypeKind::New(of) => under = of,
                _ => break,
            }
        }
        let representation = match translation(def) {
            Some(t) => Representation::TranslatedType(P4NewTypeTranslation {
                uri: t.uri,
                sdn_type: Some(match t.string {
                    true => SdnType::SdnString(SdnString {}),
                    false => SdnType::SdnBitwidth(t.width),
                }),
            }),
            None => Representation::OriginalType(self.spec(under)),
        };
        let (annotations, structured_annotations) =
            listed(&def.annotations, &["p4runtime_translation"]);
        let spec = P4NewTypeSpec {
            representation: Some(representation),
            annotations,
            structured_annotations,
            ..Default::default()
        };
        self.touch().new_types.insert(name, spec);
    }
}

/// A member of a header, those of structs and arrays in it taken out.
#[derive(Clone, Debug)]
pub struct Member<'p> {
    /// Its name for a control plane: `s.a` where it comes from a struct, `a[0]` from an array.
    pub name: String,
    /// Its type; always one value.
    pub ty: &'p Type,
    /// Its own, then those of the struct or array it comes from that it does not have.
    pub annotations: Vec<p4_ir::Annotation>,
}

/// All single values of a header, in order.
pub fn flattened<'p>(program: &'p Program, fields: &'p [Field]) -> Vec<Member<'p>> {
    let mut members = Vec::new();
    for field in fields {
        if field.ty.scalar(program).is_some() {
            members.push(Member {
                name: control_plane_name(&field.name, &field.annotations),
                ty: &field.ty,
                annotations: field.annotations.clone(),
            });
        }
        for mut member in inner(program, &field.ty) {
            for outer in &field.annotations {
                if find(&member.annotations, &outer.name).is_none() {
                    member.annotations.push(outer.clone());
                }
            }
            member.name.insert_str(0, &field.name);
            members.push(member);
        }
    }
    members
}

/// The single values of a struct or array, each named as what follows its name: `.a`, `[0]`.
fn inner<'p>(program: &'p Program, ty: &'p Type) -> Vec<Member<'p>> {
    match ty {
        Type::Named(id) => {
            let TypeKind::Struct(fields) = &program[*id].kind else {
                return Vec::new();
            };
            let mut members = flattened(program, fields);
            members.iter_mut().for_each(|m| m.name.insert(0, '.'));
            members
        }
        Type::Array(element, len) => {
            let each = match element.scalar(program) {
                Some(_) => vec![Member {
                    name: String::new(),
                    ty: element,
                    annotations: Vec::new(),
                }],
                None => inner(program, element),
            };
            let numbered = |i: u32| {
                each.iter().map(move |member| Member {
                    name: format!("[{i}]{}", member.name),
                    ..member.clone()
                })
            };
            (0..*len).flat_map(numbered).collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a declared type; type arguments are joined to it by underscores: `pair_bit8_bool`.
pub fn type_name(def: &TypeDef) -> String {
    let name = control_plane_name(&def.name, &def.annotations);
    let Some((generic, args)) = name.split_once('<') else {
        return name;
    };
    let args = args.replace(['<', '>', ' '], "").replace([',', '.'], "_");
    format!("{generic}_{args}")
}

/// A value as P4Runtime's octets, as many as its width takes.
pub(crate) fn octets(value: &BigUint, width: u32) -> Vec<u8> {
    let significant = value.to_bytes_be();
    let len = width.div_ceil(8) as usize;
    let zeros = len.saturating_sub(significant.len());
    let mut octets = vec![0; zeros];
    octets.extend(&significant[significant.len().saturating_sub(len)..]);
    octets
}

fn bits(scalar: Scalar) -> P4BitstringLikeTypeSpec {
    let bitwidth = scalar.width() as i32;
    let spec = match scalar {
        Scalar::Int(_) => Bits::Int(P4IntTypeSpec { bitwidth }),
        Scalar::Varbit(_) => Bits::Varbit(P4VarbitTypeSpec {
            max_bitwidth: bitwidth,
        }),
        _ => Bits::Bit(P4BitTypeSpec { bitwidth }),
    };
    P4BitstringLikeTypeSpec {
        type_spec: Some(spec),
        ..Default::default()
    }
}

/// `@p4runtime_translation("uri", W)`, with `bit<W>` or `string` for `W`.
fn translation(def: &TypeDef) -> Option<Translation> {
    let annotation = find(&def.annotations, "p4runtime_translation")?;
    let AnnotationValue::String(uri) = annotation.values.first()? else {
        return None;
    };
    let width = annotation.values.iter().find_map(|v| match v {
        AnnotationValue::Int(width) => i32::try_from(width).ok(),
        _ => None,
    });
    Some(Translation {
        uri: uri.clone(),
        string: width.is_none(),
        width: width.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_as_many_as_the_width_takes() {
        assert_eq!(octets(&BigUint::from(5u8), 9), [0, 5]);
        assert_eq!(octets(&BigUint::from(0u8), 8), [0]);
        assert_eq!(octets(&BigUint::from(0x1234u16), 16), [0x12, 0x34]);
    }
}
