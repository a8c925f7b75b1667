header_type ethernet_t {
    fields {
        dst_addr : 48;
        src_addr : 48;
        ether_type : 16;
    }
}

header ethernet_t ethernet;

parser start {
    extract(ethernet);
    return ingress;
}

action set_port(port) {
    modify_field(standard_metadata.egress_spec, port);
}

table forward {
    reads { ethernet.dst_addr : exact; }
    actions { set_port; }
}

control ingress { apply(forward); }
