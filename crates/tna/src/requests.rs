//! Requests of a deparser for other packets: a mirrored packet, a resubmitted one, those of the packet generator.

use crate::Tna;
use p4_ir::{Arg, Expr, ExternCall, Scalar, Type, TypeKind};
use p4_vm::{CallSite, Compiler, ListValue, NONE, Slot};

/// Maximum octets of a header for the other packet.
const MOST: usize = 32;

/// Operands of a call that requests another packet.
#[derive(Debug)]
pub struct Asks {
    /// The word that holds the mirror session. [`NONE`] for packets that are not mirrored.
    session: Slot,
    /// The header to prepend to the packet.
    header: Vec<ListValue>,
}

/// A request of a deparser.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The mirror session.
    pub session: u16,
    header: [u8; MOST],
    octets: usize,
}

impl Request {
    /// The header to prepend to the packet.
    pub fn header(&self) -> &[u8] {
        &self.header[..self.octets]
    }
}

impl Asks {
    /// The current request.
    pub fn request(&self, at: &mut CallSite<'_>) -> Request {
        let session = at.words.get(self.session as usize);
        let session = session.map_or(0, |session| *session as u16);
        let given = at.machine.gather(at.words, &self.header);
        let octets = given.len().min(MOST);
        let mut header = [0; MOST];
        header[..octets].copy_from_slice(&given[..octets]);
        Request {
            session,
            header,
            octets,
        }
    }
}

/// `Mirror.emit(session)` or `Mirror.emit(session, header)`.
pub fn mirror(c: &mut Compiler<'_, Tna>, session: &Arg, header: &Arg) -> Option<Asks> {
    let session = c.input(session)?;
    let header = values(c, header, MOST)?;
    c.layout.mirrors = true;
    Some(Asks { session, header })
}

/// `Resubmit.emit()` or `Resubmit.emit(header)`.
pub fn resubmit(c: &mut Compiler<'_, Tna>, header: &Arg) -> Option<Asks> {
    let header = values(c, header, c.layout.generation.resubmit_data())?;
    c.layout.resubmits = true;
    let session = NONE;
    Some(Asks { session, header })
}

/// Octets of the context of generated packets.
const CONTEXT: usize = 16;

/// `Pktgen.emit(context)`.
pub fn generate(c: &mut Compiler<'_, Tna>, context: &Arg) -> Option<Asks> {
    let header = values(c, context, CONTEXT)?;
    c.layout.generates = true;
    let session = NONE;
    Some(Asks { session, header })
}

/// The values of a header of at most `most` octets.
fn values(c: &mut Compiler<'_, Tna>, header: &Arg, most: usize) -> Option<Vec<ListValue>> {
    let mut values = c.data(header)?;
    // The hardware reads containers, whether or not the header is valid.
    values.iter_mut().for_each(|value| value.valid = NONE);
    if values.iter().any(|value| value.length != NONE) {
        c.error("a header for another packet cannot have a varbit field");
    }
    let bits: usize = values.iter().map(|value| value.width as usize).sum();
    if bits > 8 * most {
        let most = 8 * most;
        c.error(format!(
            "the header takes {bits} bits; there is room for {most}"
        ));
    }
    Some(values)
}

/// `port_metadata_unpack<T>(packet)`: reads a `T` from the port metadata, and skips the rest.
pub fn unpack_port_metadata(c: &mut Compiler<'_, Tna>, call: &ExternCall) -> Option<()> {
    let bits = 8 * c.layout.port_metadata as u32;
    let places = match (&call.args[..], &call.result) {
        ([_], Some(place)) => vec![place.clone()],
        ([_, Arg::Variable(at, ty)], None) => {
            let program = c.program();
            if let Type::Named(id) = ty
                && let TypeKind::Header(_) = program[*id].kind
            {
                let valid = c.input(&Arg::In(Expr::constant(1u8, Scalar::Bool)))?;
                let at = c.location(at);
                c.set_word(at, valid);
            }
            c.places(at, ty)
        }
        _ => return None,
    };
    let wanted: u32 = places.iter().map(|place| place.ty.width()).sum();
    if wanted > bits {
        c.error(format!(
            "port metadata have {bits} bits; `port_metadata_unpack` is asked for {wanted}"
        ));
    }
    c.unpack(places, bits);
    Some(())
}
