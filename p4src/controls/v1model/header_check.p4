// v1model: checks the results of parser and checksum, which do not drop packets themselves.

#ifndef WAYMARK_V1MODEL_HEADER_CHECK_P4
#define WAYMARK_V1MODEL_HEADER_CHECK_P4

#include <v1model.p4>
#include "../../include/v1model/types.p4"

control HeaderCheck(inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.parser_error != error.NoError) {
            meta.drop_cause = drop_cause_t.MALFORMED;
        } else if (standard_metadata.checksum_error == 1) {
            meta.drop_cause = drop_cause_t.CHECKSUM;
        }
    }
}

#endif
