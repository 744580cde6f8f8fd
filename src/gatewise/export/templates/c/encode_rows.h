/* Bits of n rows, at most MODEL_LANES: bit l of w[i] is bit i of row l. */
static void encode_rows(const model_value *rows, int32_t n, model_word *w) {
  const model_word zero = {0};
  model_word bits[MODEL_N_BITS + 1];
  int32_t lane, i;
  for (i = 0; i < MODEL_N_BITS; ++i) w[i] = zero;
  for (lane = 0; lane < n; ++lane) {
    model_word mask = {0};
    MODEL_SET_LANE(mask, lane);
    encode(rows + lane * MODEL_N_COLUMNS, bits);
    for (i = 0; i < MODEL_N_BITS; ++i) w[i] |= bits[i] & mask;
  }
}
