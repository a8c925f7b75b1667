//! A program as text, for people and for golden files. The format is stable, and complete except for annotations and
//! source lines.
//!
//! Variables have numbers: `@2`. A place is written as the name of its variable followed by the path to the part:
//! `hdr.ipv4.ttl`, `hdr.stack[i].label`. A bit slice of a value is written as `[hi:lo]`, the validity of a header as
//! `hdr.ipv4.$valid`, and the next index of a stack as `hdr.stack.$next`.

mod code;
mod names;

use crate::{
    Annotation, BlockBody, BlockParam, CtorArg, Entry, KeyMatch, MatchKind, ParserState, Program,
    SelectCase, StateTarget, Stmt, Table, Transition, Type, TypeKind,
};
use code::Code;
use std::fmt::{self, Write};

/// Formats a complete program as text.
pub fn dump(program: &Program) -> String {
    let mut out = String::new();
    let dumper = Dumper { program };
    dumper
        .program(&mut out)
        .expect("writing to a string does not fail");
    out
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&dump(self))
    }
}

struct Dumper<'p> {
    program: &'p Program,
}

impl Dumper<'_> {
    fn program(&self, out: &mut String) -> fmt::Result {
        let p = self.program;
        writeln!(out, "package {}", p.package)?;
        for block in &p.blocks {
            let (kind, name) = match block.body {
                BlockBody::Parser(id) => ("parser", &p[id].name),
                BlockBody::Control(id) => ("control", &p[id].name),
            };
            let params: Vec<String> = block.params.iter().map(|p| self.param(p)).collect();
            writeln!(
                out,
                "  {} = {kind} {name}({})",
                block.role,
                params.join(", ")
            )?;
        }
        writeln!(out, "\nerrors {}", p.errors.join(", "))?;
        self.types(out)?;
        self.variables(out)?;
        self.objects(out)?;
        for action in &p.actions {
            let params: Vec<String> = action
                .params
                .iter()
                .map(|a| format!("{}: {} @{}", a.name, self.ty(&a.ty), a.variable.0))
                .collect();
            writeln!(out, "\naction {}({})", action.name, params.join(", "))?;
        }
        for table in &p.tables {
            self.table(out, table)?;
        }
        for parser in &p.parsers {
            writeln!(out, "\nparser {}", parser.name)?;
            for state in &parser.states {
                self.state(out, state, &parser.states)?;
            }
        }
        for (i, function) in p.functions.iter().enumerate() {
            writeln!(out, "\nfunction {}#{i}", function.name)?;
            self.statements(out, &function.body, 1)?;
        }
        Ok(())
    }

    fn types(&self, out: &mut String) -> fmt::Result {
        for def in &self.program.types {
            let (word, fields) = match &def.kind {
                TypeKind::Struct(fields) => ("struct", fields),
                TypeKind::Header(fields) => ("header", fields),
                TypeKind::Union(fields) => ("union", fields),
                TypeKind::Enum(members) => {
                    writeln!(out, "\nenum {} {{ {} }}", def.name, members.join(", "))?;
                    continue;
                }
                TypeKind::SerialisableEnum(under, members) => {
                    let members: Vec<String> =
                        members.iter().map(|(n, v)| format!("{n} = {v}")).collect();
                    let under = code::scalar(*under);
                    writeln!(
                        out,
                        "\nenum {under} {} {{ {} }}",
                        def.name,
                        members.join(", ")
                    )?;
                    continue;
                }
                TypeKind::Error => continue,
                TypeKind::New(of) => {
                    writeln!(out, "\ntype {} = {}", def.name, self.ty(of))?;
                    continue;
                }
            };
            writeln!(out, "\n{word} {}", def.name)?;
            for field in fields {
                writeln!(out, "  {}: {}", field.name, self.ty(&field.ty))?;
            }
        }
        Ok(())
    }

    fn variables(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "\nvariables")?;
        for (i, v) in self.program.variables.iter().enumerate() {
            writeln!(out, "  @{i} {}: {}", v.name, self.ty(&v.ty))?;
        }
        Ok(())
    }

    fn objects(&self, out: &mut String) -> fmt::Result {
        for object in &self.program.externs {
            let types: Vec<String> = object.type_args.iter().map(|t| self.ty(t)).collect();
            let args: Vec<String> = object.args.iter().map(|a| self.ctor_arg(a)).collect();
            let generic = match types.is_empty() {
                true => String::new(),
                false => format!("<{}>", types.join(", ")),
            };
            let of = object
                .table
                .map_or(String::new(), |t| format!(" of {}", self.program[t].name));
            let args = args.join(", ");
            writeln!(
                out,
                "\nextern {}: {}{generic}({args}){of}",
                object.name, object.type_name
            )?;
        }
        for method in &self.program.methods {
            let params = method.params.iter().map(|p| self.param(p));
            let params: Vec<String> = params.collect();
            let result = method.result.as_ref();
            let result = result.map_or(String::new(), |r| format!(" -> {}", self.param(r)));
            writeln!(
                out,
                "\nmethod {}.{}({}){result} runs #{}",
                self.program[method.object].name,
                method.name,
                params.join(", "),
                method.body.0
            )?;
        }
        for set in &self.program.value_sets {
            writeln!(out, "\nvalue_set {} of {}", set.name, set.size)?;
            for (name, ty, kind) in &set.fields {
                writeln!(out, "  {name}: {} {}", self.ty(ty), match_kind(kind))?;
            }
        }
        Ok(())
    }

    fn param(&self, param: &BlockParam) -> String {
        format!(
            "{}: {} @{}",
            param.name,
            self.ty(&param.ty),
            param.variable.0
        )
    }

    fn ctor_arg(&self, arg: &CtorArg) -> String {
        match arg {
            CtorArg::Int(value) => value.to_string(),
            CtorArg::Member(of, name) => format!("{of}.{name}"),
            CtorArg::String(text) => format!("{text:?}"),
            CtorArg::Object(id) => self.program[*id].name.clone(),
            CtorArg::List(members) => {
                let members: Vec<String> = members.iter().map(|m| self.ctor_arg(m)).collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    fn table(&self, out: &mut String, table: &Table) -> fmt::Result {
        writeln!(out, "\ntable {}", table.name)?;
        for key in &table.keys {
            let value = self.code().expr(&key.value);
            writeln!(
                out,
                "  key {} = {value}: {}",
                key.name,
                match_kind(&key.kind)
            )?;
        }
        for action in &table.actions {
            let names = annotation_names(&action.annotations);
            let name = &self.program[action.action].name;
            writeln!(out, "  action {name} runs #{}{names}", action.body.0)?;
        }
        let fixed = if table.const_default { "const " } else { "" };
        let call = self.action_call(table, &table.default_action);
        writeln!(out, "  {fixed}default {call}")?;
        for entry in &table.entries {
            self.entry(out, table, entry)?;
        }
        if let Some(size) = table.size {
            writeln!(out, "  size {size}")?;
        }
        if let Some(id) = table.implementation {
            writeln!(out, "  implementation {}", self.program[id].name)?;
        }
        for id in &table.direct {
            writeln!(out, "  direct {}", self.program[*id].name)?;
        }
        if table.support_timeout {
            writeln!(out, "  support_timeout")?;
        }
        for (name, value) in &table.properties {
            writeln!(out, "  {name} {}", self.code().expr(value))?;
        }
        Ok(())
    }

    fn entry(&self, out: &mut String, table: &Table, entry: &Entry) -> fmt::Result {
        let fixed = if entry.is_const { "const " } else { "" };
        let priority = entry.priority.map_or(String::new(), |p| format!("{p}: "));
        let sets: Vec<String> = entry.matches.iter().map(|m| self.key_match(m)).collect();
        let call = self.action_call(table, &entry.call);
        writeln!(
            out,
            "  {fixed}entry {priority}{} -> {call}",
            sets.join(", ")
        )
    }

    fn action_call(&self, table: &Table, call: &crate::ActionCall) -> String {
        let args: Vec<String> = call.args.iter().map(|a| a.to_string()).collect();
        let name = table
            .actions
            .get(call.action as usize)
            .map_or("?", |a| &self.program[a.action].name);
        format!("{name}({})", args.join(", "))
    }

    fn key_match(&self, set: &KeyMatch) -> String {
        let code = self.code();
        match set {
            KeyMatch::Any => "_".into(),
            KeyMatch::Value(value) => code.expr(value),
            KeyMatch::Mask(value, mask) => format!("{} &&& {}", code.expr(value), code.expr(mask)),
            KeyMatch::Range(low, high) => format!("{} .. {}", code.expr(low), code.expr(high)),
        }
    }

    fn state(&self, out: &mut String, state: &ParserState, all: &[ParserState]) -> fmt::Result {
        writeln!(out, "  state {}", state.name)?;
        self.statements(out, &state.body, 2)?;
        let target = |to: &StateTarget| match to {
            StateTarget::State(n) => all.get(*n as usize).map_or("?", |s| &s.name).to_string(),
            StateTarget::Accept => "accept".into(),
            StateTarget::Reject => "reject".into(),
        };
        match &state.transition {
            Transition::Goto(to) => writeln!(out, "    goto {}", target(to)),
            Transition::Select { keys, cases } => {
                let keys: Vec<String> = keys.iter().map(|k| self.code().expr(k)).collect();
                writeln!(out, "    select {}", keys.join(", "))?;
                for case in cases {
                    writeln!(out, "      {} -> {}", self.case(case), target(&case.to))?;
                }
                Ok(())
            }
        }
    }

    fn case(&self, case: &SelectCase) -> String {
        let mut sets = Vec::new();
        for (i, set) in case.sets.iter().enumerate() {
            match case.value_sets.iter().find(|of| of.keys.contains(&i)) {
                Some(of) if of.keys.start == i => {
                    sets.push(format!("in {}", self.program[of.set].name));
                }
                Some(_) => {}
                None => sets.push(self.key_match(set)),
            }
        }
        sets.join(", ")
    }

    fn statements(&self, out: &mut String, statements: &[Stmt], depth: usize) -> fmt::Result {
        self.code().statements(out, statements, depth)
    }

    fn code(&self) -> Code<'_> {
        Code {
            program: self.program,
        }
    }

    fn ty(&self, ty: &Type) -> String {
        code::ty(ty, self.program)
    }
}

fn match_kind(kind: &MatchKind) -> &str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
        MatchKind::Selector => "selector",
        MatchKind::Other(name) => name,
    }
}

fn annotation_names(annotations: &[Annotation]) -> String {
    annotations
        .iter()
        .map(|a| format!(" @{}", a.name))
        .collect()
}
