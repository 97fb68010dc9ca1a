// Unpacks a module that xz --format=lzma has packed: browsers unpack gzip only, which is half as
// long again. The format is LZMA with the header of lzma_alone: one byte of properties, the size
// of the dictionary (4 bytes), the size of the text (8), then a range coder's bytes. It assumes
// that the size is known (cmd/web/build writes it) and returns the text as a Uint8Array.
//
// Names are those of the format's description: a probability is that of a bit being 0, in 1/2048.
"use strict";

function unpackLzma(input) {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input[0] >= 225) throw new Error("the module is not packed as LZMA");
  const lc = input[0] % 9;
  const lp = Math.floor(input[0] / 9) % 5;
  const pb = Math.floor(input[0] / 45);
  const size = view.getUint32(5, true);
  if (view.getUint32(9, true) !== 0) throw new Error("the size of the module is not known");
  const out = new Uint8Array(size);
  const fresh = (n) => new Uint16Array(n).fill(1024);

  // The range coder: code is where the input is in a range; both are 32 bits without a sign.
  let at = 18;
  let range = 0xffffffff;
  let code = view.getUint32(14);
  const bit = (probabilities, i) => {
    const p = probabilities[i];
    const bound = (range >>> 11) * p;
    let b = 0;
    if (code < bound) {
      range = bound;
      probabilities[i] = p + ((2048 - p) >> 5);
    } else {
      range = range - bound;
      code = code - bound;
      probabilities[i] = p - (p >> 5);
      b = 1;
    }
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | input[at++]) >>> 0;
    }
    return b;
  };
  const direct = (n) => {
    let value = 0;
    while (n-- > 0) {
      range >>>= 1;
      const b = code >= range ? 1 : 0;
      if (b) code -= range;
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | input[at++]) >>> 0;
      }
      value = (value << 1) | b;
    }
    return value;
  };
  const tree = (probabilities, from, bits) => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = (m << 1) | bit(probabilities, from + m);
    return m - (1 << bits);
  };
  const backward = (probabilities, from, bits) => {
    let m = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const b = bit(probabilities, from + m);
      m = (m << 1) | b;
      value |= b << i;
    }
    return value;
  };

  // A length is 2 and up: 8 short ones and 8 middle ones by position, then 256.
  const lengths = () => ({ choice: fresh(2), low: fresh(16 << 3), middle: fresh(16 << 3), high: fresh(256) });
  const length = (l, position) => {
    if (!bit(l.choice, 0)) return 2 + tree(l.low, position << 3, 3);
    if (!bit(l.choice, 1)) return 10 + tree(l.middle, position << 3, 3);
    return 18 + tree(l.high, 0, 8);
  };

  const literals = fresh(0x300 << (lc + lp));
  const isMatch = fresh(12 << 4);
  const isRep = fresh(12);
  const isRep0 = fresh(12);
  const isRep1 = fresh(12);
  const isRep2 = fresh(12);
  const isRep0Long = fresh(12 << 4);
  const slots = fresh(4 << 6);
  const special = fresh(1 + 128 - 14 + 4);
  const align = fresh(16);
  const matchLengths = lengths();
  const repLengths = lengths();
  let rep0 = 0;
  let rep1 = 0;
  let rep2 = 0;
  let rep3 = 0;
  let state = 0;
  for (let to = 0; to < size;) {
    const position = to & ((1 << pb) - 1);
    if (!bit(isMatch, (state << 4) + position)) {
      const before = to > 0 ? out[to - 1] : 0;
      const from = 0x300 * (((to & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
      let symbol = 1;
      if (state >= 7) { // after a match its next byte is likely not the one
        let match = out[to - rep0 - 1];
        while (symbol < 0x100) {
          const expected = (match >> 7) & 1;
          match <<= 1;
          const b = bit(literals, from + ((1 + expected) << 8) + symbol);
          symbol = (symbol << 1) | b;
          if (expected !== b) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(literals, from + symbol);
      out[to++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let n;
    if (bit(isRep, state)) {
      if (!bit(isRep0, state)) {
        if (!bit(isRep0Long, (state << 4) + position)) {
          state = state < 7 ? 9 : 11;
          out[to] = out[to - rep0 - 1];
          to++;
          continue;
        }
      } else {
        let distance;
        if (!bit(isRep1, state)) {
          distance = rep1;
        } else {
          if (!bit(isRep2, state)) {
            distance = rep2;
          } else {
            distance = rep3;
            rep3 = rep2;
          }
          rep2 = rep1;
        }
        rep1 = rep0;
        rep0 = distance;
      }
      n = length(repLengths, position);
      state = state < 7 ? 8 : 11;
    } else {
      rep3 = rep2;
      rep2 = rep1;
      rep1 = rep0;
      n = length(matchLengths, position);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots, Math.min(n - 2, 3) << 6, 6);
      rep0 = slot;
      if (slot >= 4) {
        const bits = (slot >> 1) - 1;
        rep0 = (2 | (slot & 1)) << bits;
        if (slot < 14) {
          rep0 += backward(special, rep0 - slot, bits);
        } else {
          rep0 += (direct(bits - 4) << 4) + backward(align, 0, 4);
        }
      }
    }
    if (rep0 >= to || n > size - to) throw new Error("the packed module is damaged");
    for (let from = to - rep0 - 1; n > 0; n--) out[to++] = out[from++];
  }
  return out;
}
