"""The wirings, and the candidates of learned ones, written again from `docs/format.md`: one number at a time."""


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def permute(key, value, n):
    low_bits = (n - 1).bit_length() // 2
    high_bits = (n - 1).bit_length() - low_bits
    while True:
        high, low = divmod(value, 2**low_bits)
        for t in range(24 if low_bits + high_bits <= 6 else 8):
            if t % 2 == 0:
                high ^= mix(key ^ (t << 32) ^ low) >> (64 - high_bits)
            else:
                low ^= mix(key ^ (t << 32) ^ high) >> (64 - low_bits)
        value = high << low_bits | low
        if value < n:
            return value


def key(seed, layer, x):
    return mix(mix(mix(seed) ^ layer) ^ x)


def random_as_specified(seed, layer, n, out_features):
    def pin(j):
        return permute(key(seed, layer, j // n), j % n, n)

    def repaired(j):
        deal, position = divmod(j, n)
        twice = deal % 2 and n % 2 and n > 1 and pin(deal * n - 1) == pin(deal * n)
        return pin(j + 1 - 2 * position) if twice and position < 2 else pin(j)

    pins = [repaired(j) for j in range(2 * out_features)]
    return pins[0::2], pins[1::2]


def unique_as_specified(seed, layer, n, out_features):
    def vertex(r, t):
        if t == 0:
            return n - 1
        return (r + t // 2 if t % 2 == 0 else r - (t - 1) // 2) % (n - 1)

    def gate(g):
        if n == 1:
            return 0, 0
        n_rounds, n_positions = (n - 1, n // 2) if n % 2 == 0 else ((n - 1) // 2, n)
        c, (index, p) = g // (n_rounds * n_positions), divmod(g % (n_rounds * n_positions), n_positions)
        r = permute(key(seed, layer, 2 * c + 1), index, n_rounds)
        if n % 2:
            t = 2 * p % n
            x, y = vertex(r, t), vertex(r, (t + 1) % n)
        else:
            x, y = ((r + p) % (n - 1), (r - p) % (n - 1)) if p else (n - 1, r)
        return tuple(permute(key(seed, layer, 2 * c), wire, n) for wire in (x, y))

    gates = [gate(g) for g in range(out_features)]
    return [a for a, _ in gates], [b for _, b in gates]


def local_as_specified(seed, layer, n, m):
    def in_order(j):
        d = max(1, 2 * m // (4 * n))
        r = min(j // (4 * n), d - 1)
        size = 4 * n if r < d - 1 else 2 * m - 4 * n * (d - 1)
        return (j - 4 * n * r) * n // size

    starts = [0]
    if 2 * m > 4096:
        starts += [s for s in range(2048, 2 * m - 2048 + 1, 2048) if s % 4096 == (2048 if layer % 2 else 0)]
    a, b = [], []
    for k, (start, end) in enumerate(zip(starts, [*starts[1:], 2 * m], strict=True)):
        pins = [in_order(start + permute(key(seed, layer, k), i, end - start)) for i in range(end - start)]
        xs, ys = pins[0::2], pins[1::2]
        for i in range(len(xs) if n > 1 else 0):
            if xs[i] == ys[i]:
                others = [(i + step) % len(xs) for step in range(1, len(xs))]
                other = next(j for j in others if xs[i] not in (xs[j], ys[j]))
                ys[i], ys[other] = ys[other], ys[i]
        a, b = a + xs, b + ys
    if layer == 0:
        a, b = [[permute(key(seed, layer, 2**32), wire, n) for wire in wires] for wires in (a, b)]
    return a, b


def nearby_as_specified(wiring, seed, layer, n, m):
    if layer >= len(wiring.reach):
        return unique_as_specified(seed, layer, n, m)
    inputs, places = zip(*image_as_specified(wiring), strict=True)
    for before in range(layer):
        pairs = pair_as_specified(places, 256 * wiring.reach[before], seed, before, n)
        places = [tuple((p + q) // 2 for p, q in zip(places[x], places[y], strict=True)) for x, y in pairs]
    pairs = pair_as_specified(places, 256 * wiring.reach[layer], seed, layer, m)
    if layer == 0:
        pairs = [(inputs[x], inputs[y]) for x, y in pairs]
    return [x for x, _ in pairs], [y for _, y in pairs]


def image_as_specified(wiring):
    """Every input inside the margin, and its place."""
    channels, rows, columns = wiring.shape
    for index in range(channels * rows * columns * wiring.n_thresholds):
        row, column = index // wiring.n_thresholds // columns % rows, index // wiring.n_thresholds % columns
        if all(wiring.margin <= at < size - wiring.margin for at, size in ((row, rows), (column, columns))):
            yield index, (256 * row, 256 * column)


def pair_as_specified(places, side, seed, layer, m):
    n, found = len(places), []
    if n == 1:
        return [(0, 0)] * m
    for c in range(1024):
        if len(found) >= m:
            break
        offsets = [key(seed, layer, 4 * c + axis) % side for axis in (0, 1)]

        def rank(w, c=c, offsets=offsets):
            square = [(at + offset) // side for at, offset in zip(places[w], offsets, strict=True)]
            return *square, permute(key(seed, layer, 4 * c + 2), w, n)

        order = sorted(range(n), key=rank)
        pairs = [tuple(sorted(order[i : i + 2])) for i in range(0, n - 1, 2)]
        fresh = [pair for pair in pairs if pair not in found]
        found += fresh if 5 * len(fresh) >= len(pairs) else pairs
    found = found[:m]
    return [found[permute(key(seed, layer, 3), i, m) % len(found)] for i in range(m)]


AS_SPECIFIED = {"random": random_as_specified, "unique": unique_as_specified, "local": local_as_specified}


def butterfly_as_specified(wiring, seed, layer, n, out_features):
    channels, rows, columns = wiring.shape
    size = (channels, rows, columns, wiring.n_thresholds)
    steps, distance = [], 1
    while distance < max(rows, columns):
        steps += [(0, 0, distance, 0)] * (distance < columns) + [(0, distance, 0, 0)] * (distance < rows)
        distance *= 2
    steps += [(c, 0, 0, 0) for c in range(1, channels)]
    steps += [(0, 0, 1, t) for t in range(1, wiring.n_thresholds)] if columns > 1 else []
    steps = steps or [(0, 0, 0, 0)]

    def move(wire, step):
        place = []
        for side in reversed(size):
            wire, digit = divmod(wire, side)
            place.insert(0, digit)
        moved = 0
        for digit, distance, side in zip(place, step, size, strict=True):
            moved = moved * side + (digit + distance) % side
        return moved

    def has_common_divisor(f):
        return any(f % d == 0 and n % d == 0 for d in range(2, n + 1))

    a, b = [], []
    for gate in range(out_features):
        t, i = divmod(gate, n)
        f, g = key(seed, layer, 2 * t) % n, key(seed, layer, 2 * t + 1) % n
        while has_common_divisor(f):
            f += 1
        wire = (f * i + g) % n
        a.append(wire)
        if layer == 0:
            b.append(move(wire, steps[t % len(steps)]))
        else:
            b.append((wire + 2 ** ((layer - 1 + t) % max(1, (n - 1).bit_length()))) % n)
    return a, b


def random_candidates_as_specified(k, seed, layer, n, m):
    """Candidates of pin a of all gates, then of pin b."""
    return [[permute(mix(key(seed, layer, 0) ^ p), j, n) for j in range(k)] for p in range(2 * m)]


def nearby_candidates_as_specified(candidates, seed, layer, n, m):
    if layer > 0:
        return random_candidates_as_specified(min(candidates.k, n), seed, layer, n, m)
    channels, rows, columns = candidates.shape
    height, width = (min(2 * candidates.radius + 1, side) for side in (rows, columns))
    found = []
    for p in range(2 * m):
        deal, position = divmod(p % m, rows * columns)
        q = permute(mix(key(seed, 0, 0) ^ deal), position, rows * columns)
        top = min(max(q // columns - height // 2, 0), rows - height)
        left = min(max(q % columns - width // 2, 0), columns - width)
        found.append([])
        for j in range(candidates.k):
            n_bits = channels * height * width * candidates.n_thresholds
            rest, t = divmod(permute(mix(key(seed, 0, 0) ^ p), j, n_bits), candidates.n_thresholds)
            rest, x = divmod(rest, width)
            c, y = divmod(rest, height)
            found[-1].append(((c * rows + top + y) * columns + left + x) * candidates.n_thresholds + t)
    return found


def candidates_as_specified(candidates, seed, layer, n, m):
    if hasattr(candidates, "shape"):
        return nearby_candidates_as_specified(candidates, seed, layer, n, m)
    if hasattr(candidates, "k"):
        return random_candidates_as_specified(candidates.k, seed, layer, n, m)
    return [list(range(n))] * (2 * m)
