//! Methods that an instance's initializer implements.

use super::body::Kind;
use super::{Lowerer, Object, Scope};
use crate::ast::DeclId;
use crate::hir::{DefKind, Instance, Ty};
use p4_ir::{AbstractMethod, BlockParam, ExternId, Location};

impl Scope<'_, '_, '_> {
    /// Creates the declarations of an instance's initializer, once the instance has its name.
    pub(super) fn initializer(&mut self, instance: &Instance, object: &Object) {
        let Object::Extern(object) = object else {
            return;
        };
        let name = self.out[*object].name.clone();
        let path = std::mem::replace(&mut self.env.path, name);
        for member in &instance.members {
            self.instantiate(*member);
        }
        for method in &instance.methods {
            self.abstract_method(*object, *method);
        }
        self.env.path = path;
    }

    fn abstract_method(&mut self, object: ExternId, id: DeclId) {
        let hir = self.hir;
        let Some(def) = hir.def(id) else { return };
        let DefKind::Function(function) = &def.kind else {
            return;
        };
        if !function.type_params.is_empty() {
            return self.unsupported(def.span, "a method with type parameters");
        }
        if !self.may_nest(def.span) {
            return;
        }
        let Some(body) = &function.body else { return };
        let path = self.qualified(&def.name);
        let mut inner = self.body(path.clone(), Kind::Function { result: None });
        let slots = inner.slots(&function.params);
        let slots = function.params.iter().zip(slots);
        let params = slots
            .filter_map(|(param, slot)| {
                slot.map(|slot| inner.method_param(&param.name, &slot.at, &slot.ty))
            })
            .collect();
        let result = inner.result_variable(&function.result, def.span);
        let body = inner.lowered(body);
        let method = AbstractMethod {
            object,
            name: def.name.to_string(),
            params,
            result: result.map(|(at, ty)| self.method_param("return", &at, &ty)),
            body: self.add_function(path, body, def.span),
        };
        self.out.methods.push(method);
    }
}

impl Lowerer<'_, '_> {
    fn method_param(&mut self, name: &str, at: &Location, ty: &Ty) -> BlockParam {
        BlockParam {
            name: name.to_string(),
            ty: self.ir_type(ty),
            variable: at.variable,
        }
    }
}
