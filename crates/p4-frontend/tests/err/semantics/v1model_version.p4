#define V1MODEL_VERSION 20190101
#include <v1model.p4>
