//! Annotations: checks the content of known ones, and that structured ones are compile-time constants.

use super::{Checker, Facts, Inside};
use crate::ast::{self, Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind};
use crate::diagnostic::Diagnostic;
use crate::parser::FIELD_LIST;
use crate::span::Span;

impl<'a> Checker<'a> {
    /// Reports annotations with meaningless values. Annotations that the language does not define may contain any
    /// tokens.
    pub(super) fn check_annotations(&mut self, annotations: &'a [Annotation]) {
        for (i, annotation) in annotations.iter().enumerate() {
            self.check_repeated(annotation, &annotations[..i]);
            self.check_known(annotation);
            match &annotation.body {
                AnnotationBody::Expressions(values) => {
                    values.iter().for_each(|v| self.annotation_value(v));
                }
                AnnotationBody::KeyValues(pairs) => {
                    pairs.iter().for_each(|p| self.annotation_value(&p.value));
                }
                AnnotationBody::Empty | AnnotationBody::Unstructured(_) => {}
            }
        }
    }

    /// A value of a structured annotation.
    fn annotation_value(&mut self, value: &'a ast::Expr) {
        if matches!(
            value.kind,
            ast::ExprKind::List(_) | ast::ExprKind::Struct(_)
        ) {
            self.error(
                "bad-annotation",
                value.span,
                "an annotation's value must be an integer, a string or a bool",
                "found a list",
            );
            return;
        }
        let checked = self.within(Inside::TopLevel, |c| c.value(value));
        if !checked.is_known() {
            self.error(
                "not-constant",
                value.span,
                "an annotation's value must be known at compile time",
                "only known at run time",
            );
        }
    }
}

impl<'a> Facts<'a> {
    /// A structured annotation must not be repeated.
    fn check_repeated(&mut self, annotation: &Annotation, before: &[Annotation]) {
        let structured = |a: &Annotation| {
            matches!(
                a.body,
                AnnotationBody::Expressions(_) | AnnotationBody::KeyValues(_)
            ) && a.name.as_str() != FIELD_LIST
        };
        let same = |a: &&Annotation| a.name.name == annotation.name.name;
        let Some(earlier) = before.iter().find(same) else {
            return;
        };
        if structured(annotation) || structured(earlier) {
            let name = annotation.name.as_str();
            self.report(
                Diagnostic::error("bad-annotation", format!("`@{name}` is given twice"))
                    .label(annotation.span, "given again")
                    .label(earlier.span, "first given here"),
            );
        }
    }

    /// Checks the content of annotations of the language and of P4Runtime.
    fn check_known(&mut self, annotation: &Annotation) {
        let name = annotation.name.as_str();
        let expected = match (name, &annotation.body) {
            ("name", AnnotationBody::Empty) => return,
            ("name" | "deprecated" | "noWarn", body) => match body {
                AnnotationBody::Unstructured(_) if annotation.string().is_some() => return,
                _ => "(\"…\")",
            },
            (
                "atomic" | "defaultonly" | "hidden" | "noSideEffects" | "optional" | "pure"
                | "tableonly",
                body,
            ) => match body {
                AnnotationBody::Empty => return,
                AnnotationBody::Unstructured(tokens) if tokens.is_empty() => return,
                _ => "",
            },
            ("pkginfo", AnnotationBody::Empty) => "(key = value, …)",
            ("match", AnnotationBody::Unstructured(tokens)) => {
                return self.check_match(annotation, tokens);
            }
            ("p4runtime_translation", AnnotationBody::Unstructured(tokens)) => {
                return self.check_translation(annotation, tokens);
            }
            _ => return,
        };
        self.error(
            "bad-annotation",
            annotation.span,
            format!("invalid value of `@{name}`"),
            format!("expected `@{name}{expected}`"),
        );
    }

    /// `@match(kind)`, of a value set's field.
    fn check_match(&mut self, annotation: &Annotation, tokens: &[AnnotationToken]) {
        let kinds = &self.hir.match_kinds;
        if matches!(tokens, [only] if kinds.iter().any(|kind| **kind == *only.text)) {
            return;
        }
        let names = kinds.iter().map(|kind| &**kind);
        let label = format!("expected one of {}", super::suggest::listed(names));
        let at = written(tokens).unwrap_or(annotation.span);
        self.error(
            "bad-annotation",
            at,
            "the value of `@match` must be a match_kind",
            label,
        );
    }

    /// `@p4runtime_translation("uri", type)`: the representation of values for a controller.
    fn check_translation(&mut self, annotation: &Annotation, tokens: &[AnnotationToken]) {
        let text = |token: &AnnotationToken| token.text.to_string();
        let (uri, ty) = tokens.split_at(tokens.len().min(2));
        let uri_given = matches!(uri, [uri, comma]
            if matches!(uri.kind, AnnotationTokenKind::String(_)) && &*comma.text == ",");
        let is_width = |token: &AnnotationToken| matches!(&token.kind, AnnotationTokenKind::Int(width) if width.width.is_none());
        let valid = match ty {
            [only] => text(only) == "string" || is_width(only),
            [bit, open, width, close] => {
                [text(bit), text(open), text(close)] == ["bit", "<", ">"] && is_width(width)
            }
            _ => false,
        };
        if uri_given && valid {
            return;
        }
        let at = written(if uri_given { ty } else { tokens }).unwrap_or(annotation.span);
        self.error(
            "bad-annotation",
            at,
            "invalid value of `@p4runtime_translation`",
            "expected `(\"…\", string)` or `(\"…\", bit<W>)`",
        );
    }
}

/// From the first token to the last.
fn written(tokens: &[AnnotationToken]) -> Option<Span> {
    Some(tokens.first()?.span.to(tokens.last()?.span))
}
