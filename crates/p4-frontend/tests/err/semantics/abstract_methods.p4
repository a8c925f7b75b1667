// Initializers are judged by the extern's abstract methods.
extern Plain { Plain(); }
extern Worker<T> {
    Worker();
    abstract T work(in T what);
    abstract void rest();
}
extern Generic { Generic(); abstract T pass<T>(in T what); }
extern Unsized { Unsized(); abstract int count(); }

control Use(inout bit<8> x) {
    Plain() none = { void f() { } };
    Worker<bit<8>>() complete = {
        bit<8> work(in bit<8> what) { return what; }
        void rest() { }
    };
    Generic() renamed = {
        Plain() helper;
        U pass<U>(in U what) { return what; }
    };
    Worker<bit<8>>() lazy = { void rest() { } };
    Worker<bit<8>>() other = {
        bit<16> work(in bit<8> what) { return 1; }
        void rest() { }
        void play() { }
    };
    Worker<bit<8>>() empty_handed = {
        bit<8> work(in bit<8> what) { return; }
        void rest<A, A>() { }
    };
    Worker<bit<8>>() idle;
    apply { x = complete.work(x) + this.work(x); }
}

// What the method returns says nothing about the function around it.
bit<8> function(in bit<8> x) {
    Worker<bit<8>>() within = {
        bit<8> work(in bit<8> what) { return what; }
        void rest() { }
    };
    return x;
}
