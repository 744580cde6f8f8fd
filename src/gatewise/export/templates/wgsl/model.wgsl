// A word is a bit of 32 rows. A launch works on things, of which `piece` says the first and their number: bits to
// encode, gates of a level, slices of what groups count. No thread waits for, or reads from, another one of its launch.
struct Piece {
  first: u32,
  n: u32,
}

struct Batch {
  n_rows: u32,
  n_words: u32,
}

@group(0) @binding(0) var<uniform> piece: Piece;
@group(0) @binding(1) var<uniform> batch: Batch;
@group(0) @binding(2) var<storage, read> tables: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<u32>;
@group(0) @binding(4) var<storage, read_write> state: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<i32>>;
@group(0) @binding(6) var<storage, read_write> classes: array<i32>;

const SIGN = 0x80000000u;

// Floats as pairs of integers in the order of the numbers, the first of which decides unless they are equal. Shaders
// have no doubles, and may take NaN, infinities and the smallest numbers for something else; integers are exact.
fn order_float(high: u32, low: u32) -> vec2<u32> {
  if (((high << 1u) | low) == 0u) {
    return vec2<u32>(SIGN, 0u); // both zeros
  }
  if (high >= SIGN) {
    return vec2<u32>(~high, ~low);
  }
  return vec2<u32>(high | SIGN, low);
}

fn is_nan(high: u32, low: u32) -> bool {
  let magnitude = high & ~SIGN;
  return magnitude > INFINITY || (magnitude == INFINITY && low != 0u);
}

// The number at a position, in two words: as it is for floats, in the order of the numbers for integers.
fn read_number(position: u32) -> vec2<u32> {
  if (VALUE_BYTES == 8u) {
    return vec2<u32>(rows[2u * position + 1u], rows[2u * position]);
  }
  if (VALUE_BYTES == 4u) {
    return vec2<u32>(select(rows[position] ^ SIGN, rows[position], IS_FLOAT), 0u);
  }
  if (VALUE_BYTES == 2u) {
    return vec2<u32>(((rows[position / 2u] >> (16u * (position % 2u))) & 0xffffu) ^ 0x8000u, 0u);
  }
  return vec2<u32>((rows[position / 4u] >> (8u * (position % 4u))) & 0xffu, 0u);
}

// Whether a number is greater than a constant, equal to it, or missing: kinds 0, 1 and 2.
fn ask(kind: u32, number: vec2<u32>, constant: vec2<u32>) -> bool {
  if (IS_FLOAT && is_nan(number.x, number.y)) {
    return kind == 2u;
  }
  var x = number;
  if (IS_FLOAT) {
    x = order_float(number.x, number.y);
  }
  if (kind == 0u) {
    return x.x > constant.x || (x.x == constant.x && x.y > constant.y);
  }
  return kind == 1u && all(x == constant);
}

// One bit of 32 rows per thread; its column, kind and constant are four words of a table.
@compute @workgroup_size(32, 8)
fn encode_rows(@builtin(global_invocation_id) thread: vec3<u32>) {
  let word = thread.x;
  if (word >= batch.n_words || thread.y >= piece.n) {
    return;
  }
  let bit = piece.first + thread.y;
  let asked = ASKED + 4u * bit;
  let constant = vec2<u32>(tables[asked + 2u], tables[asked + 3u]);
  let n = min(batch.n_rows - 32u * word, 32u);
  var found = 0u;
  for (var lane = 0u; lane < n; lane++) {
    let number = read_number((32u * word + lane) * N_COLUMNS + tables[asked]);
    found |= select(0u, 1u << lane, ask(tables[asked + 1u], number, constant));
  }
  state[bit * batch.n_words + word] = found;
}

// One gate of 32 rows per thread. Threads side by side share the gate, and their words are neighbors. Bits 0, 1 and 2
// of its operation: whether it is a sum modulo 2 with the first operand, with the second, with their product.
@compute @workgroup_size(32, 8)
fn evaluate_gates(@builtin(global_invocation_id) thread: vec3<u32>) {
  let word = thread.x;
  if (word >= batch.n_words || thread.y >= piece.n) {
    return;
  }
  let gate = piece.first + thread.y;
  let coded = tables[GATES + 2u * gate];
  let a = state[(coded >> 3u) * batch.n_words + word];
  let b = state[tables[GATES + 2u * gate + 1u] * batch.n_words + word];
  var result = a & (0u - (coded & 1u));
  result ^= b & (0u - ((coded >> 1u) & 1u));
  result ^= a & b & (0u - ((coded >> 2u) & 1u));
  state[(N_BITS + gate) * batch.n_words + word] = result;
}

@compute @workgroup_size(256)
fn start_counts(@builtin(global_invocation_id) thread: vec3<u32>) {
  let row = thread.x;
  if (row >= batch.n_rows) {
    return;
  }
  for (var k = 0u; k < N_GROUPS; k++) {
    atomicStore(&counts[row * N_GROUPS + k], bitcast<i32>(tables[BASES + k]));
  }
}

// Counts a slice of the outputs of a group, which is four words of a table: first, number, group and sign. 32 rows per
// thread: digit j of their counts is a word.
@compute @workgroup_size(32, 8)
fn count_slices(@builtin(global_invocation_id) thread: vec3<u32>) {
  let word = thread.x;
  if (word >= batch.n_words || thread.y >= piece.n) {
    return;
  }
  let slice = SLICES + 4u * (piece.first + thread.y);
  let first = tables[slice];
  let end = first + tables[slice + 1u];
  var digits = array<u32, 8>();
  for (var i = first; i < end; i++) {
    var carry = state[tables[COUNTED + i] * batch.n_words + word];
    for (var j = 0u; j < 8u; j++) {
      let digit = digits[j];
      digits[j] = digit ^ carry;
      carry &= digit;
    }
  }
  let n = min(batch.n_rows - 32u * word, 32u);
  for (var lane = 0u; lane < n; lane++) {
    var count = 0u;
    for (var j = 0u; j < 8u; j++) {
      count |= ((digits[j] >> lane) & 1u) << j;
    }
    let at = (32u * word + lane) * N_GROUPS + tables[slice + 2u];
    atomicAdd(&counts[at], bitcast<i32>(tables[slice + 3u]) * bitcast<i32>(count));
  }
}

// The group with the highest count, the lowest of several, of one row per thread.
@compute @workgroup_size(256)
fn find_best(@builtin(global_invocation_id) thread: vec3<u32>) {
  let row = thread.x;
  if (row >= batch.n_rows) {
    return;
  }
  var best = 0u;
  var most = atomicLoad(&counts[row * N_GROUPS]);
  for (var k = 1u; k < N_GROUPS; k++) {
    let count = atomicLoad(&counts[row * N_GROUPS + k]);
    if (count > most) {
      best = k;
      most = count;
    }
  }
  classes[row] = bitcast<i32>(best);
}
