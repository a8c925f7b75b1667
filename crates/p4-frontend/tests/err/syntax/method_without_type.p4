extern Counter {
    Counter(bit<32> size);
    count(in bit<32> index);
    void reset();
}
