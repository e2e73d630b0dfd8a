/**
 * SHA-256 (FIPS 180-4). What browsers have is asynchronous and, outside of secure pages, absent.
 * Its constants are the first 32 bits of the fractions of the square roots of the first 8 primes
 * and of the cube roots of the first 64.
 */
const primes: number[] = [];
for (let candidate = 2; primes.length < 64; candidate++) {
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
}

/** No fraction is so near to a multiple of 2^−32 that the last bits of a root would matter. */
const bitsOf = (root: number): number => (root % 1) * 2 ** 32;
const initial = Int32Array.from(primes.slice(0, 8), (prime) => bitsOf(Math.sqrt(prime)));
const rounds = Int32Array.from(primes, (prime) => bitsOf(Math.cbrt(prime)));

/** The hash in lower-case hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  // The bytes, a bit 1, zeros up to whole blocks, the last of which ends with the length in bits.
  const { length } = bytes;
  const padded = new Uint8Array(64 * Math.ceil((length + 9) / 64));
  padded.set(bytes);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, length / 2 ** 29);
  view.setUint32(padded.length - 4, length * 8);
  const state = initial.slice();
  const schedule = new Int32Array(64);
  for (let start = 0; start < padded.length; start += 64) mix(state, schedule, view, start);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** One block of 64 bytes. Every sum is cut to 32 bits at once, which keeps it in registers. */
function mix(state: Int32Array, schedule: Int32Array, view: DataView, start: number): void {
  for (let t = 0; t < 16; t++) schedule[t] = view.getInt32(start + 4 * t);
  for (let t = 16; t < 64; t++) {
    const near = schedule[t - 2];
    const far = schedule[t - 15];
    const s0 = turn(far, 7) ^ turn(far, 18) ^ (far >>> 3);
    const s1 = turn(near, 17) ^ turn(near, 19) ^ (near >>> 10);
    schedule[t] = (((schedule[t - 16] + s0) | 0) + ((schedule[t - 7] + s1) | 0)) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let t = 0; t < 64; t++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const chosen = (((e & f) ^ (~e & g)) + ((rounds[t] + schedule[t]) | 0)) | 0;
    const one = (((h + s1) | 0) + chosen) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
