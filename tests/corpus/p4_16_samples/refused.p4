// A program for v1model that has an error, and a script that it therefore never runs.
#include <core.p4>
#include <v1model.p4>

control C(inout bit<8> x) {
    apply { x = y; }
}
