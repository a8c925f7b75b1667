//! The package: architecture, and what the annotations on `main` say.

use crate::Builder;
use crate::annotations::{documentation, find, listed};
use crate::proto::{PkgInfo, PlatformProperties};
use p4_ir::{Annotation, AnnotationValue, Program};

impl Builder<'_> {
    /// `pkg_info`; a program without `main` has none.
    pub(crate) fn package(&mut self) {
        if self.program.package.is_empty() {
            return;
        }
        let on_main = &self.program.annotations;
        let (annotations, structured_annotations) =
            listed(on_main, &["pkginfo", "platform_property"]);
        let mut info = PkgInfo {
            arch: architecture(self.program),
            annotations,
            structured_annotations,
            doc: documentation(on_main),
            ..Default::default()
        };
        for (key, value) in find(on_main, "pkginfo")
            .into_iter()
            .flat_map(Annotation::pairs)
        {
            let AnnotationValue::String(value) = value else {
                continue;
            };
            let field = match key {
                "name" => &mut info.name,
                "version" => &mut info.version,
                "organization" => &mut info.organization,
                "contact" => &mut info.contact,
                "url" => &mut info.url,
                "arch" => &mut info.arch,
                _ => continue,
            };
            field.clone_from(value);
        }
        if let Some(annotation) = find(on_main, "platform_property") {
            let mut platform = PlatformProperties::default();
            for (key, value) in annotation.pairs() {
                let AnnotationValue::Int(value) = value else {
                    continue;
                };
                let field = match key {
                    "multicast_group_table_size" => &mut platform.multicast_group_table_size,
                    "multicast_group_table_total_replicas" => {
                        &mut platform.multicast_group_table_total_replicas
                    }
                    "multicast_group_table_max_replicas_per_entry" => {
                        &mut platform.multicast_group_table_max_replicas_per_entry
                    }
                    _ => continue,
                };
                *field = i32::try_from(value).unwrap_or(i32::MAX);
            }
            info.platform_properties = Some(platform);
        }
        self.info.pkg_info = Some(info);
    }
}

/// What P4Runtime calls the package's architecture. TNA and T2NA have packages of one name, and say so in `@pkginfo`.
fn architecture(program: &Program) -> String {
    let said = find(&program.package_annotations, "pkginfo");
    let mut said = said.into_iter().flat_map(Annotation::pairs);
    let said = said.find_map(|(key, value)| match value {
        AnnotationValue::String(name) if key == "arch" => Some(name.to_lowercase()),
        _ => None,
    });
    let known = || match program.package.as_str() {
        "PSA_Switch" => "psa",
        "PNA_NIC" => "pna",
        _ => "v1model",
    };
    said.unwrap_or_else(|| known().to_owned())
}

/// Whether the architecture is one of Tofino's.
pub(crate) fn is_tofino(program: &Program) -> bool {
    matches!(architecture(program).as_str(), "tna" | "t2na")
}
