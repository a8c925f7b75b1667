// v1model: the state of each queue. Index: port and priority. Contents and writers: admission.p4.

#ifndef WAYMARK_V1MODEL_QUEUE_STATE_P4
#define WAYMARK_V1MODEL_QUEUE_STATE_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/types.p4"

register<sequence_t>(QUEUES) queue_tail;
register<sequence_t>(QUEUES) queue_dequeued;
register<sequence_t>(QUEUES) queue_drop_mark;

#endif
