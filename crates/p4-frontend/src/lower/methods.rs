//! Methods that an instance's initializer implements.

use super::{Lowerer, Object};
use crate::ast::DeclId;
use crate::hir::{DefKind, Function, Instance, Ty};
use crate::span::Span;
use p4_ir::{AbstractMethod, BlockParam, ExternId, Location};

impl Lowerer<'_, '_> {
    /// Makes what an instance's initializer declares, once the instance has its name.
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
        let name = self.qualified(&def.name);
        // Locals of the method are named after it. It returns to the extern, whatever runs around.
        let outer = self.env.action.replace(name.clone());
        let result = self.env.result.take();
        let soft_exit = std::mem::take(&mut self.env.soft_exit);
        let in_parser = std::mem::take(&mut self.env.in_parser);
        let at = self.at;
        self.nested += 1;
        let method = self.method_body(object, name, function, def.span);
        self.nested -= 1;
        self.at = at;
        self.env.in_parser = in_parser;
        self.env.soft_exit = soft_exit;
        self.env.result = result;
        self.env.action = outer;
        self.out.methods.extend(method);
    }

    fn method_body(
        &mut self,
        object: ExternId,
        name: String,
        function: &Function,
        span: Span,
    ) -> Option<AbstractMethod> {
        let body = function.body.clone()?;
        let slots = self.slots(&function.params);
        let slots = function.params.iter().zip(slots);
        let params = slots
            .filter_map(|(param, slot)| {
                slot.map(|slot| self.method_param(&param.name, &slot.at, &slot.ty))
            })
            .collect();
        let result = self.ty(&function.result);
        if result != Ty::Void {
            let at = self.allocate(format!("{name}.return"), &result, span);
            self.env.result = Some((at, result));
        }
        let body = self.collect(|l| l.statements(&body));
        let result = self.env.result.take();
        let result = result.map(|(at, ty)| self.method_param("return", &at, &ty));
        let method = name.rsplit('.').next().unwrap_or(&name).to_string();
        Some(AbstractMethod {
            object,
            name: method,
            params,
            result,
            body: self.add_function(name, body, span),
        })
    }

    fn method_param(&mut self, name: &str, at: &Location, ty: &Ty) -> BlockParam {
        BlockParam {
            name: name.to_string(),
            ty: self.ir_type(ty),
            variable: at.variable,
        }
    }
}
