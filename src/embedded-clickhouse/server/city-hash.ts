/**
 * CityHash128 of version 1.0.2, the checksum of ClickHouse's compressed blocks. Later versions of CityHash give other
 * values. The names are those of Google's own source.
 */
const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
const MUL = 0x9ddfea08eb382d69n;

type Pair = readonly [first: bigint, second: bigint];

/** Returns 16 bytes: the low half first, each half little-endian. */
export function cityHash128(data: Buffer): Buffer {
  const [first, second] = hash(data);
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(first, 0);
  bytes.writeBigUInt64LE(second, 8);
  return bytes;
}

function hash(data: Buffer): Pair {
  const { length } = data;
  if (length >= 16) return withSeed(data.subarray(16), [fetch(data, 0) ^ K3, fetch(data, 8)]);
  if (length >= 8)
    return withSeed(data.subarray(0, 0), [
      fetch(data, 0) ^ u64(BigInt(length) * K0),
      fetch(data, length - 8) ^ K1,
    ]);
  return withSeed(data, [K0, K1]);
}

function withSeed(data: Buffer, seed: Pair): Pair {
  if (data.length < 128) return murmur(data, seed);
  let length = data.length;
  let at = 0;
  let [x, y] = seed;
  let z = u64(BigInt(length) * K1);
  const v0 = u64(rotate(y ^ K1, 49n) * K1 + fetch(data, 0));
  let v: Pair = [v0, u64(rotate(v0, 42n) * K1 + fetch(data, 8))];
  let w: Pair = [u64(rotate(u64(y + z), 35n) * K1 + x), u64(rotate(u64(x + fetch(data, 88)), 53n) * K1)];
  for (; length >= 128; length -= 128) {
    for (let half = 0; half < 2; half += 1) {
      x = u64(rotate(u64(x + y + v[0] + fetch(data, at + 16)), 37n) * K1) ^ w[1];
      y = u64(rotate(u64(y + v[1] + fetch(data, at + 48)), 42n) * K1) ^ v[0];
      z = rotate(z ^ w[0], 33n);
      v = weak(data, at, u64(v[1] * K1), u64(x + w[0]));
      w = weak(data, at + 32, u64(z + w[1]), y);
      [z, x] = [x, z];
      at += 64;
    }
  }
  y = u64(y + rotate(w[0], 37n) * K0 + z);
  x = u64(x + rotate(u64(v[0] + z), 49n) * K0);
  for (let done = 0; done < length; ) {
    done += 32;
    y = u64(rotate(u64(y - x), 42n) * K0 + v[1]);
    w = [u64(w[0] + fetch(data, at + length - done + 16)), w[1]];
    x = u64(rotate(x, 49n) * K0 + w[0]);
    w = [u64(w[0] + v[0]), w[1]];
    v = weak(data, at + length - done, v[0], v[1]);
  }
  x = mix(x, v[0]);
  y = mix(y, w[0]);
  return [u64(mix(u64(x + v[1]), w[1]) + y), mix(u64(x + w[1]), u64(y + v[1]))];
}

function murmur(data: Buffer, seed: Pair): Pair {
  const { length } = data;
  let [a, b] = seed;
  let c: bigint;
  let d: bigint;
  if (length <= 16) {
    a = u64(shiftMix(u64(a * K1)) * K1);
    c = u64(b * K1 + short(data));
    d = shiftMix(u64(a + (length >= 8 ? fetch(data, 0) : c)));
  } else {
    c = mix(u64(fetch(data, length - 8) + K1), a);
    d = mix(u64(b + BigInt(length)), u64(c + fetch(data, length - 16)));
    a = u64(a + d);
    for (let at = 0, left = length - 16; left > 0; at += 16, left -= 16) {
      a = u64((a ^ u64(shiftMix(u64(fetch(data, at) * K1)) * K1)) * K1);
      b ^= a;
      c = u64((c ^ u64(shiftMix(u64(fetch(data, at + 8) * K1)) * K1)) * K1);
      d ^= c;
    }
  }
  a = mix(a, c);
  b = mix(d, b);
  return [a ^ b, mix(b, a)];
}

/** HashLen0to16. */
function short(data: Buffer): bigint {
  const { length } = data;
  const size = BigInt(length);
  if (length > 8) {
    const b = fetch(data, length - 8);
    return mix(fetch(data, 0), rotate(u64(b + size), size)) ^ b;
  }
  if (length >= 4)
    return mix(size + (BigInt(data.readUInt32LE(0)) << 3n), BigInt(data.readUInt32LE(length - 4)));
  if (length === 0) return K2;
  const y = BigInt(data.readUInt8(0)) + (BigInt(data.readUInt8(length >> 1)) << 8n);
  const z = size + (BigInt(data.readUInt8(length - 1)) << 2n);
  return u64(shiftMix(u64(y * K2) ^ u64(z * K3)) * K2);
}

/** WeakHashLen32WithSeeds. */
function weak(data: Buffer, at: number, seedA: bigint, seedB: bigint): Pair {
  const z = fetch(data, at + 24);
  const start = u64(seedA + fetch(data, at));
  const turned = rotate(u64(seedB + start + z), 21n);
  const sum = u64(start + fetch(data, at + 8) + fetch(data, at + 16));
  return [u64(sum + z), u64(turned + rotate(sum, 44n) + start)];
}

/** HashLen16. */
function mix(u: bigint, v: bigint): bigint {
  let a = u64((u ^ v) * MUL);
  a ^= a >> 47n;
  let b = u64((v ^ a) * MUL);
  b ^= b >> 47n;
  return u64(b * MUL);
}

function fetch(data: Buffer, at: number): bigint {
  return data.readBigUInt64LE(at);
}

function rotate(value: bigint, shift: bigint): bigint {
  return u64((value >> shift) | (value << (64n - shift)));
}

function shiftMix(value: bigint): bigint {
  return value ^ (value >> 47n);
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
