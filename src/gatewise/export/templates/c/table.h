/* The next n bits of the string, n <= 25. */
static uint32_t take(uint32_t *at, uint32_t n) {
  const uint8_t *s = bits + (*at >> 3);
  const uint32_t four = (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
  const uint32_t rest = four << (*at & 7);
  *at += n;
  return rest >> 1 >> (31 - n);
}

static uint32_t take_size(uint32_t *at) { return take(at, take(at, 5)); }

/* A Rice code. */
static uint32_t take_step(uint32_t *at, uint32_t parameter) {
  uint32_t high = 0;
  while (take(at, 1)) ++high;
  return high << parameter | take(at, parameter);
}

static void encode(const model_value *row, model_word *w) {
  uint32_t at = 0;
  int32_t column;
  const model_value *constant = constants;
  for (column = 0; column < MODEL_N_COLUMNS; ++column) {
    const uint32_t kind = take(&at, 2), asks_missing = take(&at, 1), n = take_size(&at);
    const model_value x = row[column];
    uint32_t i;
    for (i = 0; i < n; ++i) {
      const model_value other = kind == 2 ? (model_value)i : *constant++;
      *w++ = MASK(kind == 0 ? x > other : x == other);
    }
    if (asks_missing) *w++ = MASK(IS_MISSING(x));
  }
}

/* Bit 0, 1 and 2 of an operation: whether it is a sum modulo 2 with the nearer operand, the other, their product. */
static void evaluate(model_word *w, model_word *y) {
  uint32_t at = FIRST_GATE, next = MODEL_N_BITS, start = MODEL_N_BITS, first = 0, width = 0;
  uint32_t n_runs = take_size(&at);
  int32_t list;
  while (n_runs--) {
    uint32_t operation, n, parameter, near;
    if (take(&at, 1)) {
      first = start;
      start = next;
    }
    while (start >> width) ++width;
    operation = take(&at, 3);
    parameter = take(&at, 5);
    near = first;
    for (n = take_size(&at); n > 0; --n) {
      model_word a, b;
      near += take_step(&at, parameter);
      a = w[near];
      b = w[take(&at, width)];
      w[next++] = (a & MASK(operation & 1)) ^ (b & MASK(operation >> 1 & 1)) ^ (a & b & MASK(operation >> 2));
    }
  }
  for (list = 0; list < 2 * MODEL_N_GROUPS; ++list) {
    const uint32_t parameter = take(&at, 5);
    uint32_t node = 0, n;
    for (n = (uint32_t)groups[list / 2][1 + list % 2]; n > 0; --n) {
      node += take_step(&at, parameter);
      *y++ = w[node];
    }
  }
}
