//! A register belongs to one gress, and one stateful ALU accesses it once for a packet.

use crate::reach::Gress;
use crate::{Report, Tofino, stateful};
use p4_ir::{CtorArg, ExternCall, ExternId, FunctionId, Program, SourceLoc, Stmt, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// The most `RegisterAction`s that a register has.
const MAX_ACTIONS: usize = 4;

const ONE_ACCESS: &str =
    "read and write in one `RegisterAction`, or keep the value in a second register";

pub fn check(program: &Program, tofino: Tofino, gresses: &[Gress], report: &mut Report) {
    let mut users: BTreeMap<ExternId, Vec<&Gress>> = BTreeMap::new();
    let mut actions: BTreeMap<ExternId, BTreeSet<ExternId>> = BTreeMap::new();
    for gress in gresses {
        for call in gress.calls(program) {
            let Some((register, object)) = accessed(program, call) else {
                continue;
            };
            let users = users.entry(register).or_default();
            if !users.iter().any(|user| std::ptr::eq(*user, gress)) {
                users.push(gress);
            }
            if object != register {
                actions.entry(register).or_default().insert(object);
            }
        }
        accesses(program, gress, report);
    }
    for (register, users) in &users {
        both_gresses(program, *register, users, report);
        stateful::cell(program, tofino, *register, report);
    }
    for (register, actions) in &actions {
        if actions.len() > MAX_ACTIONS {
            let object = &program[*register];
            let message = format!(
                "{} actions of register `{}` are executed; a stateful ALU of Tofino has {MAX_ACTIONS} programs",
                actions.len(),
                object.name
            );
            let help = "merge some of them: a `RegisterAction` can take its case from a field of the packet";
            report.add(object.loc, "register-actions", message, help);
        }
        for action in actions {
            stateful::action(program, tofino, *action, report);
        }
    }
}

/// The register that a call accesses, and the object that does so: the register itself, or an action on it.
fn accessed(program: &Program, call: &ExternCall) -> Option<(ExternId, ExternId)> {
    let id = call.object?;
    let object = &program[id];
    let (_, method) = call.name.split_once('.')?;
    match object.type_name.as_str() {
        "Register" | "DirectRegister" if matches!(method, "read" | "write") => Some((id, id)),
        name if name.contains("RegisterAction") && method.starts_with("execute") => {
            match object.args.first()? {
                CtorArg::Object(register) => Some((*register, id)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn both_gresses(program: &Program, register: ExternId, users: &[&Gress], report: &mut Report) {
    let object = &program[register];
    for (i, first) in users.iter().enumerate() {
        let other = users[i + 1..].iter().find(|user| user.pipe == first.pipe);
        if let Some(other) = other {
            let message = format!(
                "register `{}` is accessed from {} and from {}; on Tofino it belongs to one of them",
                object.name, first.name, other.name
            );
            let help = "use a register in each, and carry values from ingress to egress in a bridged header";
            report.add(object.loc, "register-gress", message, help);
        }
    }
}

/// One access of a register.
#[derive(Clone, Copy, Debug)]
struct Access {
    loc: SourceLoc,
    /// The function in which `read` or `write` is called: a compiler makes one action of all of these there.
    merged: Option<FunctionId>,
}

/// The accesses of each register on the path with the most of them, two at most.
type Path = BTreeMap<ExternId, Vec<Access>>;

/// The worst paths through some statements, by how they end; `None` where no path ends so.
#[derive(Clone, Debug)]
struct Flow {
    through: Option<Path>,
    returned: Option<Path>,
    exited: Option<Path>,
}

/// Reports the registers that some path through a control accesses twice. Conditions are taken as unrelated, but for
/// those on what a table just did: these exclude paths, so only what all actions of that table access counts.
fn accesses(program: &Program, gress: &Gress, report: &mut Report) {
    let mut flows = Flows {
        program,
        known: BTreeMap::new(),
    };
    let flow = flows.function(gress.body);
    let paths = [flow.through, flow.returned, flow.exited];
    for path in paths.into_iter().flatten() {
        for (register, accesses) in path {
            let [first, second] = &accesses[..] else {
                continue;
            };
            let message = format!(
                "a packet accesses register `{}` twice, first at {}; Tofino accesses a register once for a packet",
                program[register].name,
                program.describe(first.loc, "the program"),
            );
            report.add(second.loc, "register-twice", message, ONE_ACCESS);
        }
    }
}

struct Flows<'p> {
    program: &'p Program,
    known: BTreeMap<FunctionId, Flow>,
}

impl Flows<'_> {
    fn function(&mut self, id: FunctionId) -> Flow {
        if let Some(flow) = self.known.get(&id) {
            return flow.clone();
        }
        let flow = self.statements(id, &self.program[id].body);
        self.known.insert(id, flow.clone());
        flow
    }

    fn statements(&mut self, function: FunctionId, body: &[Stmt]) -> Flow {
        let mut flow = Flow {
            through: Some(Path::new()),
            returned: None,
            exited: None,
        };
        for statement in body {
            let Some(before) = flow.through.take() else {
                break;
            };
            let next = self.statement(function, statement);
            let after = |path: Option<Path>| path.map(|path| joined(&before, &path));
            flow.through = after(next.through);
            flow.returned = worse(flow.returned, after(next.returned));
            flow.exited = worse(flow.exited, after(next.exited));
        }
        flow
    }

    fn statement(&mut self, function: FunctionId, statement: &Stmt) -> Flow {
        let nothing = Some(Path::new());
        let straight = |through| Flow {
            through,
            returned: None,
            exited: None,
        };
        match &statement.kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                let then = self.statements(function, then);
                either(then, self.statements(function, otherwise))
            }
            StmtKind::Switch { cases, default, .. } => {
                let mut flow = self.statements(function, default);
                for (_, body) in cases {
                    flow = either(flow, self.statements(function, body));
                }
                flow
            }
            StmtKind::Loop { body, .. } => {
                let flow = self.statements(function, body);
                either(flow, straight(nothing))
            }
            StmtKind::Call(called) | StmtKind::CallAction(_, called) => {
                let flow = self.function(*called);
                Flow {
                    through: worse(flow.through, flow.returned),
                    returned: None,
                    exited: flow.exited,
                }
            }
            StmtKind::Apply {
                table,
                hit,
                action_run,
            } => {
                let program = self.program;
                let actions = program[*table].actions.iter();
                let flows: Vec<Flow> = actions.map(|a| self.function(a.body)).collect();
                let through = |flow: &Flow| worse(flow.through.clone(), flow.returned.clone());
                if hit.is_some() || action_run.is_some() {
                    let paths: Vec<Path> = flows.iter().filter_map(through).collect();
                    return straight(Some(common(&paths)));
                }
                let through = flows.iter().map(through).fold(None, worse);
                Flow {
                    through: through.or_else(|| flows.is_empty().then(Path::new)),
                    returned: None,
                    exited: flows.into_iter().map(|f| f.exited).fold(None, worse),
                }
            }
            StmtKind::Extern(call) => {
                let mut path = Path::new();
                if let Some((register, object)) = accessed(self.program, call) {
                    let access = Access {
                        loc: statement.loc,
                        merged: (object == register).then_some(function),
                    };
                    path.insert(register, vec![access]);
                }
                straight(Some(path))
            }
            StmtKind::Return => Flow {
                through: None,
                returned: nothing,
                exited: None,
            },
            StmtKind::Exit => Flow {
                through: None,
                returned: None,
                exited: nothing,
            },
            _ => straight(nothing),
        }
    }
}

/// One path after another.
fn joined(before: &Path, after: &Path) -> Path {
    let mut path = before.clone();
    for (register, accesses) in after {
        let all = path.entry(*register).or_default();
        for access in accesses {
            let merged = access.merged.is_some() && all.iter().any(|a| a.merged == access.merged);
            if all.len() < 2 && !merged {
                all.push(*access);
            }
        }
    }
    path
}

/// The most accesses of either path.
fn worse(one: Option<Path>, other: Option<Path>) -> Option<Path> {
    let (Some(mut one), Some(other)) = (one.clone(), other.clone()) else {
        return one.or(other);
    };
    for (register, accesses) in other {
        let most = one.entry(register).or_default();
        if accesses.len() > most.len() {
            *most = accesses;
        }
    }
    Some(one)
}

fn either(one: Flow, other: Flow) -> Flow {
    Flow {
        through: worse(one.through, other.through),
        returned: worse(one.returned, other.returned),
        exited: worse(one.exited, other.exited),
    }
}

/// What all paths access.
fn common(paths: &[Path]) -> Path {
    let Some((first, rest)) = paths.split_first() else {
        return Path::new();
    };
    let in_all = |register: &ExternId| rest.iter().all(|path| path.contains_key(register));
    let kept = first.iter().filter(|(register, _)| in_all(register));
    kept.map(|(register, accesses)| (*register, accesses[..1].to_vec()))
        .collect()
}
