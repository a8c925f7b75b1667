//! Types whose values clients encode differently from the program (`@p4runtime_translation`).
//!
//! Numbers keep their value, whatever their width. A string contains a decimal number. A value that does not fit into
//! the client's type is sent in full.

use crate::bytestring::Shape;
use p4::p4_new_type_spec::Representation::TranslatedType;
use p4::p4_new_type_translation::SdnType;
use p4_info::proto as p4;

/// The translations that a P4Info declares.
#[derive(Clone, Copy)]
pub struct Translations<'a>(pub Option<&'a p4::P4TypeInfo>);

impl Translations<'_> {
    /// How a client encodes values of a type. `shape` is the encoding of the program. `None` if the type is not
    /// translated.
    pub fn of(self, type_name: Option<&p4::P4NamedType>, shape: Shape) -> Option<Shape> {
        let named = self.0?.new_types.get(&type_name?.name)?;
        let Some(TranslatedType(translation)) = &named.representation else {
            return None;
        };
        translation.sdn_type.as_ref().map(|sdn| match sdn {
            SdnType::SdnString(_) => Shape::decimal(shape.width),
            SdnType::SdnBitwidth(width) => {
                let width = u32::try_from(*width).unwrap_or(0);
                Shape::bits(width.min(shape.width))
            }
        })
    }

    /// How a client encodes values that a P4Info lists with this type and width. Width 0 means unspecified.
    ///
    /// # Errors
    /// The width differs from that of the program's type.
    pub fn shape(
        self,
        type_name: Option<&p4::P4NamedType>,
        bitwidth: i32,
        shape: Shape,
    ) -> Result<Shape, String> {
        match self.of(type_name, shape) {
            Some(translated) => Ok(translated),
            None if bitwidth == 0 || bitwidth as u32 == shape.width => Ok(shape),
            None => Err(format!("has {} bits, not {bitwidth}", shape.width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_info::proto::p4_new_type_translation::SdnString;

    fn translation(sdn_type: SdnType) -> p4::P4TypeInfo {
        let translation = p4::P4NewTypeTranslation {
            uri: String::new(),
            sdn_type: Some(sdn_type),
        };
        let spec = p4::P4NewTypeSpec {
            representation: Some(TranslatedType(translation)),
            ..Default::default()
        };
        p4::P4TypeInfo {
            new_types: [("t".to_string(), spec)].into(),
            ..Default::default()
        }
    }

    // p4runtime: translated-width, translated-string
    #[test]
    fn a_value_fits_both_the_client_s_type_and_the_program_s() {
        let name = p4::P4NamedType { name: "t".into() };
        let shape = |sdn_type, bits| {
            let info = translation(sdn_type);
            Translations(Some(&info)).shape(Some(&name), 32, Shape::bits(bits))
        };
        assert_eq!(shape(SdnType::SdnBitwidth(32), 9), Ok(Shape::bits(9)));
        assert_eq!(shape(SdnType::SdnBitwidth(32), 48), Ok(Shape::bits(32)));
        assert_eq!(
            shape(SdnType::SdnString(SdnString {}), 9),
            Ok(Shape::decimal(9))
        );
        let untranslated = Translations(None).shape(Some(&name), 32, Shape::bits(9));
        assert_eq!(untranslated, Err("has 9 bits, not 32".into()));
    }
}
