//! Counters, meters, registers, action profiles, calculations, learn lists.

use crate::builder::Builder;
use crate::headers::add_type;
use crate::integer;
use crate::node::{Node, Result};
use crate::objects::{Calculation, CalculationArgs, Profile};
use p4_ir::{
    Arg, CtorArg, Expr, ExternId, ExternObject, Field, HASH_ALGORITHMS, ListItem, Place, Scalar,
    SourceLoc, Type, TypeKind, ValueSet, ValueSetId,
};

impl<'j> Builder<'j> {
    /// Reads everything that is not a header, an action, a table or a parser.
    pub fn read_objects(&mut self) -> Result<()> {
        let root = self.root.clone();
        let members = HASH_ALGORITHMS.map(String::from).to_vec();
        let kind = TypeKind::Enum(members);
        add_type(&mut self.out, "HashAlgorithm".into(), kind);
        if let Some(instance) = root.list("extern_instances")?.first() {
            let ty = instance.get("type")?.str().unwrap_or("?");
            return Err(instance.error(format!(
                "extern `{ty}` is not supported; valid: counters, meters, registers, action profiles"
            )));
        }
        for node in root.list("counter_arrays")? {
            self.counter(&node)?;
        }
        for node in root.list("meter_arrays")? {
            self.meter(&node)?;
        }
        for node in root.list("register_arrays")? {
            let width = node.get("bitwidth")?.number(4096)? as u32;
            let args = vec![CtorArg::Int(node.get("size")?.small()?.into())];
            let types = vec![Type::Scalar(Scalar::Bit(width))];
            let id = self.object(&node, "register", types, args)?;
            let name = node.text("name")?.to_owned();
            self.objects.registers.insert(name, (id, width));
        }
        for node in root.list("calculations")? {
            let calculation = self.calculation(&node)?;
            let name = node.text("name")?.to_owned();
            self.objects.calculations.insert(name, calculation);
        }
        for node in root.list("learn_lists")? {
            self.learn_list(&node)?;
        }
        for node in root.list("parse_vsets")? {
            self.value_set(&node)?;
        }
        for pipeline in root.list("pipelines")? {
            for node in pipeline.list("action_profiles")? {
                self.profile(&node)?;
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        node: &Node<'j>,
        type_name: &str,
        type_args: Vec<Type>,
        args: Vec<CtorArg>,
    ) -> Result<ExternId> {
        let outer = self.loc;
        let loc = self.locate(node)?;
        self.loc = outer;
        self.out.externs.push(ExternObject {
            type_name: type_name.into(),
            type_args,
            name: node.text("name")?.into(),
            args,
            table: None,
            annotations: Vec::new(),
            loc,
        });
        Ok(ExternId(self.out.externs.len() as u32 - 1))
    }

    fn counter(&mut self, node: &Node<'j>) -> Result<()> {
        // BMv2 counts both, regardless of the program's choice.
        let both = CtorArg::Member("CounterType".into(), "packets_and_bytes".into());
        if let Some(table) = bound_table(node)? {
            let id = self.object(node, "direct_counter", Vec::new(), vec![both])?;
            let direct = self.objects.direct.entry(table.into()).or_default();
            direct.push((id, None));
            return Ok(());
        }
        let size = CtorArg::Int(node.get("size")?.small()?.into());
        let id = self.object(node, "counter", Vec::new(), vec![size, both])?;
        let name = node.text("name")?.to_owned();
        self.objects.counters.insert(name, id);
        Ok(())
    }

    fn meter(&mut self, node: &Node<'j>) -> Result<()> {
        let unit = match node.text("type")? {
            unit @ ("packets" | "bytes") => unit,
            other => {
                let told = format!("{other:?} is not a unit; a meter measures packets or bytes");
                return Err(node.get("type")?.error(told));
            }
        };
        let unit = CtorArg::Member("MeterType".into(), unit.into());
        if let Some(table) = bound_table(node)? {
            let result = match node.find("result_target")? {
                Some(target) => Some(self.field(&target)?),
                None => None,
            };
            let width = result.as_ref().map_or(2, |place| place.ty.width());
            let types = vec![Type::Scalar(Scalar::Bit(width))];
            let id = self.object(node, "direct_meter", types, vec![unit])?;
            let direct = self.objects.direct.entry(table.into()).or_default();
            direct.push((id, result));
            return Ok(());
        }
        let size = CtorArg::Int(node.get("size")?.small()?.into());
        let id = self.object(node, "meter", Vec::new(), vec![size, unit])?;
        let name = node.text("name")?.to_owned();
        self.objects.meters.insert(name, id);
        Ok(())
    }

    fn profile(&mut self, node: &Node<'j>) -> Result<()> {
        let size = CtorArg::Int(match node.find("max_size")? {
            Some(size) => size.small()?.into(),
            None => 0.into(),
        });
        let mut inputs = Vec::new();
        let id = match node.find("selector")? {
            None => self.object(node, "action_profile", Vec::new(), vec![size])?,
            Some(selector) => {
                for input in selector.list("input")? {
                    let [header, field] = input.get("value")?.exactly()?;
                    let name = format!("{}.{}", header.str()?, field.str()?);
                    inputs.push((name, self.field(&input.get("value")?)?));
                }
                algorithm(&selector.get("algo")?)?;
                let name = selector.text("algo")?;
                let algorithm = CtorArg::Member("HashAlgorithm".into(), name.into());
                let args = vec![algorithm, size, CtorArg::Int(64.into())];
                self.object(node, "action_selector", Vec::new(), args)?
            }
        };
        let profile = Profile {
            id,
            selector: inputs,
        };
        let name = node.text("name")?.to_owned();
        self.objects.profiles.insert(name, profile);
        Ok(())
    }

    fn calculation(&mut self, node: &Node<'j>) -> Result<Calculation> {
        let mut payload = false;
        let mut input = Vec::new();
        for item in node.list("input")? {
            match item.text("type")? {
                "payload" => payload = true,
                "header" => {
                    let header = self.header_named(&item.get("value")?)?;
                    let name = item.text("value")?;
                    for (i, (field, _)) in header.fields.list.iter().enumerate() {
                        let Some(value) = header.field(i) else {
                            continue;
                        };
                        input.push(ListItem {
                            value: Expr::load(value),
                            valid: (!header.metadata).then(|| Place::validity(&header.at)),
                            name: format!("{name}.{field}"),
                        });
                    }
                }
                "hexstr" => {
                    let width = item.get("bitwidth")?.number(4096)? as u32;
                    let value = integer::integer(&item.get("value")?)?;
                    input.push(ListItem {
                        value: integer::encode(&value, Scalar::Bit(width)),
                        valid: None,
                        name: "constant".into(),
                    });
                }
                _ => input.push(self.list_item(&item)?),
            }
        }
        Ok(Calculation {
            algorithm: algorithm(&node.get("algo")?)?,
            input,
            payload,
        })
    }

    /// A field as a value of a list; one of an invalid header is left out of hashes.
    pub fn list_item(&mut self, node: &Node<'j>) -> Result<ListItem> {
        if node.text("type")? != "field" {
            let value = self.value(node)?;
            return Ok(ListItem {
                value,
                valid: None,
                name: "value".into(),
            });
        }
        let inner = node.get("value")?;
        let [header, field] = inner.exactly()?;
        let name = format!("{}.{}", header.str()?, field.str()?);
        let place = self.field(&inner)?;
        let header = self.header_named(&header)?;
        Ok(ListItem {
            value: Expr::load(place),
            valid: (!header.metadata).then(|| Place::validity(&header.at)),
            name,
        })
    }

    fn learn_list(&mut self, node: &Node<'j>) -> Result<()> {
        let mut items = Vec::new();
        for element in node.list("elements")? {
            items.push(self.list_item(&element)?);
        }
        let field = |item: &ListItem| Field {
            name: item.name.clone(),
            ty: Type::Scalar(item.value.ty),
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        };
        let kind = TypeKind::Struct(items.iter().map(field).collect());
        let ty = add_type(&mut self.out, node.text("name")?.into(), kind);
        let id = node.get("id")?.small()?.into();
        self.objects.digests.insert(id, (ty, items));
        Ok(())
    }

    fn value_set(&mut self, node: &Node<'j>) -> Result<()> {
        let name = node.text("name")?;
        let size = match node.find("max_size")? {
            Some(size) => size.small()?.into(),
            None => u32::MAX.into(), // BMv2's own have no bound
        };
        self.out.value_sets.push(ValueSet {
            name: name.into(),
            element: Type::Tuple(Vec::new()), // known where it is used
            fields: Vec::new(),
            size,
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        });
        let id = ValueSetId(self.out.value_sets.len() as u32 - 1);
        self.objects.value_sets.insert(name.to_owned(), id);
        Ok(())
    }

    /// The calculation that a node names, as arguments of an extern call.
    pub fn calculation_named(&self, name: &Node<'j>) -> Result<CalculationArgs> {
        let text = name.str()?;
        let found = self.objects.calculations.get(text);
        let found = found.ok_or_else(|| name.error(format!("there is no calculation `{text}`")))?;
        Ok(CalculationArgs {
            values: Arg::List(found.input.clone()),
            algorithm: Arg::In(found.algorithm.clone()),
            name: Arg::String(text.to_owned()),
            payload: found.payload,
        })
    }
}

/// The table that a direct counter or meter belongs to.
fn bound_table<'j>(node: &Node<'j>) -> Result<Option<&'j str>> {
    match node.flag("is_direct")? {
        true => Ok(Some(node.text("binding")?)),
        false => Ok(None),
    }
}

fn algorithm(node: &Node<'_>) -> Result<Expr> {
    let name = node.str()?;
    let index = HASH_ALGORITHMS.iter().position(|known| *known == name);
    let index = index.ok_or_else(|| {
        let valid = HASH_ALGORITHMS.join(", ");
        node.error(format!(
            "there is no hash algorithm `{name}`; valid: {valid}"
        ))
    })?;
    Ok(Expr::constant(index as u32, Scalar::Symbol))
}
