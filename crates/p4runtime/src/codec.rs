//! Decodes requests, after a check of how many parts they have.
//!
//! An update that is empty takes two octets in a message, and hundreds in memory. Without a limit, a message of the accepted
//! size could exhaust the memory, before it is known who sent it.

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// The most updates, entities or other parts of a message.
const MOST_PARTS: usize = 1 << 19;

/// The codec of the service.
#[derive(Debug)]
pub struct BoundedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for BoundedCodec<T, U> {
    fn default() -> Self {
        BoundedCodec(PhantomData)
    }
}

impl<T, U> Codec for BoundedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(ProstCodec::<T, U>::raw_decoder(BufferSettings::default()))
    }
}

/// The decoder of a message.
#[derive(Debug)]
pub struct BoundedDecoder<U>(ProstDecoder<U>);

impl<U: Message + Default> Decoder for BoundedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        use prost::bytes::Buf;
        if parts(buffer.chunk()) > MOST_PARTS {
            let message = format!(
                "a request has at most {MOST_PARTS} updates or entities; send several requests"
            );
            return Err(Status::resource_exhausted(message));
        }
        self.0.decode(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

/// The number of a message's fields, without those of its parts. What cannot be decoded ends the count.
fn parts(mut octets: &[u8]) -> usize {
    let mut count = 0;
    while let Ok((_, wire)) = decode_key(&mut octets) {
        let length = match wire {
            WireType::Varint => decode_varint(&mut octets).map(|_| 0),
            WireType::LengthDelimited => decode_varint(&mut octets),
            WireType::SixtyFourBit => Ok(8),
            WireType::ThirtyTwoBit => Ok(4),
            WireType::StartGroup | WireType::EndGroup => return count,
        };
        let rest = length.ok().and_then(|length| {
            let length = usize::try_from(length).ok()?;
            octets.get(length..)
        });
        let Some(rest) = rest else {
            return count;
        };
        octets = rest;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::{Entity, ReadRequest, Uint128, Update, WriteRequest};

    #[test]
    fn updates_and_entities_are_counted() {
        let mut write = WriteRequest {
            device_id: 1,
            election_id: Some(Uint128 { high: 0, low: 1 }),
            updates: vec![Update::default(); 1_000],
            ..WriteRequest::default()
        };
        assert_eq!(parts(&write.encode_to_vec()), 1_002);
        write.updates[0].entity = Some(Entity::default());
        assert_eq!(parts(&write.encode_to_vec()), 1_002);
        let read = ReadRequest {
            entities: vec![Entity::default(); 7],
            ..ReadRequest::default()
        };
        assert_eq!(parts(&read.encode_to_vec()), 7);
    }

    #[test]
    fn what_cannot_be_decoded_ends_the_count() {
        assert_eq!(parts(&[0x22, 0, 0x22, 200, 1]), 1);
        assert_eq!(parts(&[0x22, 0, 0x23]), 1);
        assert_eq!(parts(&[0x22, 0, 0x08]), 1);
        assert_eq!(parts(&[0x09, 0, 0]), 0);
        assert_eq!(parts(&[0xff; 11]), 0);
    }
}
