// TNA: checks the results of parser and checksum. Because this control reads parser_err, the parser
// does not drop the packet itself.

#ifndef WAYMARK_TNA_HEADER_CHECK_P4
#define WAYMARK_TNA_HEADER_CHECK_P4

#include "../../include/tna/types.p4"

control HeaderCheck(inout metadata_t meta, in bit<16> parser_err) {
    apply {
        if (parser_err != PARSER_ERROR_OK) {
            meta.drop_cause = drop_cause_t.MALFORMED;
        } else if (meta.drop_cause == drop_cause_t.NONE && meta.checksum_error == 1) {
            meta.drop_cause = drop_cause_t.CHECKSUM;
        }
    }
}

#endif
