//! The stream of a controller, from beginning to end.

use crate::arbitration::StreamId;
use crate::controllers::Sender;
use crate::dataplane;
use crate::fault::{Fault, Outcome};
use crate::proto::v1::stream_message_request::Update as Request;
use crate::proto::v1::stream_message_response::Update as Response;
use crate::proto::v1::*;
use crate::service::{Shared, lock};
use engine::Packet;
use std::sync::Arc;
use tonic::{Code, Status, Streaming};

/// The largest packet from a controller, in octets.
const MAX_PACKET: usize = 65_535;

/// Serves a stream until either side ends it, or the client disconnects.
pub async fn serve(
    shared: Arc<Shared>,
    mut requests: Streaming<StreamMessageRequest>,
    sender: Sender,
) {
    let stream = lock(&shared.controllers).join(sender.clone());
    let ended = tokio::select! {
        ended = handle_all(&shared, stream, &mut requests) => ended,
        () = sender.closed() => Ok(()),
    };
    let gate = shared.gate.lock().await;
    lock(&shared.controllers).leave(stream);
    drop(gate);
    if let Err(status) = ended {
        let _ = sender.try_send(Err(status));
    }
}

async fn handle_all(
    shared: &Arc<Shared>,
    stream: StreamId,
    requests: &mut Streaming<StreamMessageRequest>,
) -> Result<(), Status> {
    while let Some(request) = requests.message().await? {
        match request.update {
            Some(Request::Arbitration(update)) => {
                let _gate = shared.gate.lock().await;
                let mut controllers = lock(&shared.controllers);
                let notices = controllers.arbitration.update(stream, &update)?;
                controllers.tell(notices);
            }
            _ if !lock(&shared.controllers).arbitration.is_live(stream) => {
                return Err(Status::failed_precondition(
                    "a stream begins with an arbitration update, which this one has not had",
                ));
            }
            Some(Request::Packet(packet)) => packet_out(shared, stream, packet).await,
            Some(Request::DigestAck(ack)) => acknowledge(shared, stream, ack),
            Some(Request::Other(other)) => {
                let fault = Fault::unimplemented("this target has no other stream messages");
                let other = StreamOtherError { other: Some(other) };
                complain(shared, stream, fault, stream_error::Details::Other(other));
            }
            None => {
                let fault = Fault::invalid(
                    "the message's update is not set; valid: arbitration, packet, digest_ack",
                );
                let other = StreamOtherError::default();
                complain(shared, stream, fault, stream_error::Details::Other(other));
            }
        }
    }
    Ok(())
}

/// Passes a packet to the switch as if it had arrived at the CPU port.
async fn packet_out(shared: &Arc<Shared>, stream: StreamId, packet: PacketOut) {
    let sent = match octets(shared, stream, &packet) {
        Ok((port, octets)) => {
            // Waiting for the switch prevents a fast client from exhausting memory.
            let run = dataplane::run(&*shared.dataplane, move |switch, now| {
                let switch = switch.as_mut();
                switch.map(|switch| switch.handle_packet(now, port, Packet::new(octets)))
            });
            match run.await {
                Ok(Some(())) => Ok(()),
                Ok(None) => Err(Fault::new(
                    Code::FailedPrecondition,
                    "no pipeline is committed yet",
                )),
                Err(status) => Err(Fault::new(status.code(), status.message())),
            }
        }
        Err(fault) => Err(fault),
    };
    if let Err(fault) = sent {
        let details = PacketOutError {
            packet_out: Some(packet),
        };
        complain(
            shared,
            stream,
            fault,
            stream_error::Details::PacketOut(details),
        );
    }
}

/// The CPU port, and the packet including its header.
fn octets(shared: &Shared, stream: StreamId, packet: &PacketOut) -> Outcome<(u16, Vec<u8>)> {
    if !lock(&shared.controllers).arbitration.is_primary(stream) {
        let message = "only the primary controller may send packets";
        return Err(Fault::new(Code::PermissionDenied, message));
    }
    let Some(port) = shared.cpu_port else {
        let message = "the switch has no CPU port; start it with --cpu-port";
        return Err(Fault::new(Code::FailedPrecondition, message));
    };
    if packet.payload.len() > MAX_PACKET {
        let found = packet.payload.len();
        let message = format!("expected a payload of at most {MAX_PACKET} octets, found {found}");
        return Err(Fault::invalid(message));
    }
    let Some(running) = lock(&shared.published).running.clone() else {
        return Err(Fault::new(
            Code::FailedPrecondition,
            "no pipeline is committed yet",
        ));
    };
    let octets = match &running.model.packet_out {
        Some(header) => header
            .pack(&packet.metadata, &packet.payload)
            .map_err(Fault::into_invalid)?,
        None if packet.metadata.is_empty() => packet.payload.clone(),
        None => {
            let message = "the program has no packet_out header; leave metadata empty";
            return Err(Fault::invalid(message));
        }
    };
    Ok((port, octets))
}

fn acknowledge(shared: &Shared, stream: StreamId, ack: DigestListAck) {
    let (primary, known) = {
        let controllers = lock(&shared.controllers);
        let model = shared.model();
        let known = model.map(|model| model.digest(ack.digest_id).map(|_| ()));
        (controllers.arbitration.is_primary(stream), known)
    };
    let fault = match known {
        _ if !primary => Fault::new(
            Code::PermissionDenied,
            "only the primary controller acknowledges digests",
        ),
        None => Fault::new(Code::FailedPrecondition, "no pipeline is committed yet"),
        Some(Err(fault)) => Fault::invalid(fault.message),
        Some(Ok(())) => return lock(&shared.digests).acknowledge(ack.digest_id, ack.list_id),
    };
    let details = DigestListAckError {
        digest_list_ack: Some(ack),
    };
    complain(
        shared,
        stream,
        fault,
        stream_error::Details::DigestListAck(details),
    );
}

fn complain(shared: &Shared, stream: StreamId, fault: Fault, details: stream_error::Details) {
    let error = StreamError {
        canonical_code: fault.code as i32,
        message: fault.message,
        details: Some(details),
        ..StreamError::default()
    };
    lock(&shared.controllers).send(stream, Response::Error(error));
}
