// What constructors take.
parser ParserType(in bit<8> x);
control ControlType(in bit<8> x);
extern void note(@optional in bit<8> left_out, @optional in bit<8> both = 1);
extern Wrap { Wrap(ControlType inner); void run(); }
parser TakesControl(in bit<8> x)(ControlType inner) { state start { transition accept; } }
parser TakesParser(in bit<8> x)(ParserType inner) { state start { inner.apply(x); transition accept; } }
control HoldsParser(in bit<8> x)(ParserType inner) { apply { } }
control HoldsControl(in bit<8> x)(ControlType inner, @optional bit<8> y) { apply { inner.apply(x); } }
