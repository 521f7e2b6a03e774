// Reads what Postgres' array_send gives: one-dimensional arrays in binary form (see binaryArray).

const TYPE_AT = 8;
const LENGTH_AT = 12;
const HEAD = 20;
const WORD = 4_294_967_296;
const REAL = 700;
const NOT_ASCII = /[^\0-\x7f]/;

/** Bytes of an array with a view on them. An empty array has no dimensions and no length. */
function open(bytes: Buffer): { view: DataView; length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { view, length: view.getInt32(0) === 0 ? 0 : view.getInt32(LENGTH_AT) };
}

/** The number with the fewest digits that is this real: 0.9, not 0.8999999761581421. */
function shortest(real: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(real.toPrecision(digits));
    if (Math.fround(short) === real) return short;
  }
  return Number(real.toPrecision(9));
}

/** Integers within ±2^53, or reals (4-byte elements of `real[]`). */
export function readNumbers(bytes: Buffer): (number | null)[] {
  const { view, length } = open(bytes);
  const isReal = length > 0 && view.getInt32(TYPE_AT) === REAL;
  const values = new Array<number | null>(length);
  for (let i = 0, at = HEAD; i < length; i++) {
    const width = view.getInt32(at);
    at += 4;
    if (width === 8) values[i] = view.getInt32(at) * WORD + view.getUint32(at + 4);
    else if (width === 2) values[i] = view.getInt16(at);
    else if (width === 4) values[i] = isReal ? shortest(view.getFloat32(at)) : view.getInt32(at);
    else {
      values[i] = null;
      continue;
    }
    at += width;
  }
  return values;
}

/** 63-bit ids as decimal text: each distinct one is made once. */
export function readIds(bytes: Buffer): (string | null)[] {
  const { view, length } = open(bytes);
  const known = new Map<number, { high: number; text: string }>();
  const values = new Array<string | null>(length);
  for (let i = 0, at = HEAD; i < length; i++) {
    const width = view.getInt32(at);
    at += 4;
    if (width !== 8) {
      values[i] = null;
      continue;
    }
    const [high, low] = [view.getInt32(at), view.getUint32(at + 4)];
    at += 8;
    const key = (high & 0x1f_ffff) * WORD + low;
    let id = known.get(key);
    if (id === undefined || id.high !== high) {
      id = { high, text: view.getBigInt64(at - 8).toString() };
      known.set(key, id);
    }
    values[i] = id.text;
  }
  return values;
}

/** Texts. ASCII, the usual case, is cut out of one string. */
export function readTexts(bytes: Buffer): (string | null)[] {
  const { view, length } = open(bytes);
  const whole = bytes.toString('latin1');
  const values = new Array<string | null>(length);
  for (let i = 0, at = HEAD; i < length; i++) {
    const size = view.getInt32(at);
    at += 4;
    if (size < 0) {
      values[i] = null;
      continue;
    }
    const text = whole.slice(at, at + size);
    values[i] = NOT_ASCII.test(text) ? bytes.toString('utf8', at, at + size) : text;
    at += size;
  }
  return values;
}
