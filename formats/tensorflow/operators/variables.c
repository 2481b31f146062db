#include "../reader.h"
const tf_operator eddy__tf_variables[] = { { NULL } };
