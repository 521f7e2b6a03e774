// Postgres' binary form of one-dimensional arrays: read by the server three times faster than text, written here without
// making a string a number. Head of 20 bytes, then each element with its length (−1: NULL); numbers are big-endian.

/** 64 bits as two words, for ids beyond 2^53. */
export type Words = { high: number; low: number };
export type ArrayType = 'bigint[]' | 'integer[]' | 'smallint[]' | 'real[]' | 'text[]' | 'bytea[]';

/** A value that its column cannot hold: the data's fault, and no reason to try again. */
export class UnstorableValueError extends Error {
  constructor(type: ArrayType, value: unknown) {
    super(`${String(value)} does not fit into ${type}`);
    this.name = 'UnstorableValueError';
  }
}

const HEAD = 20;
const OID: Record<ArrayType, number> = {
  'bigint[]': 20,
  'integer[]': 23,
  'smallint[]': 21,
  'real[]': 700,
  'text[]': 25,
  'bytea[]': 17,
};
const WIDTH = { 'bigint[]': 8, 'integer[]': 4, 'smallint[]': 2, 'real[]': 4 } as const;
const LIMIT = { 'bigint[]': 2 ** 53, 'integer[]': 2 ** 31, 'smallint[]': 2 ** 15, 'real[]': Number.POSITIVE_INFINITY };
const WORD = 4_294_967_296;

function writeHead(view: DataView, type: ArrayType, { length, hasNull }: { length: number; hasNull: boolean }): void {
  view.setInt32(0, 1); // dimensions
  view.setInt32(4, hasNull ? 1 : 0);
  view.setInt32(8, OID[type]);
  view.setInt32(12, length);
  view.setInt32(16, 1); // lower bound
}

/** Whole numbers (or reals) as an array of a type. Throws UnstorableValueError beyond the type's range. */
export function numberArray(type: keyof typeof WIDTH, values: readonly (number | null)[]): Buffer {
  const width = WIDTH[type];
  const view = new DataView(new ArrayBuffer(HEAD + values.length * (4 + width)));
  let at = HEAD;
  let hasNull = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null) {
      view.setInt32(at, -1);
      at += 4;
      hasNull = true;
      continue;
    }
    if (!(value < LIMIT[type] && value >= -LIMIT[type]) || (type !== 'real[]' && !Number.isInteger(value)))
      throw new UnstorableValueError(type, value);
    view.setInt32(at, width);
    if (width === 8) {
      view.setInt32(at + 4, Math.floor(value / WORD));
      view.setInt32(at + 8, value | 0);
      if (value > 0x7fff_ffff || value < 0) view.setUint32(at + 8, ((value % WORD) + WORD) % WORD);
    } else if (type === 'real[]') view.setFloat32(at + 4, value);
    else if (width === 4) view.setInt32(at + 4, value);
    else view.setInt16(at + 4, value);
    at += 4 + width;
  }
  writeHead(view, type, { length: values.length, hasNull });
  return Buffer.from(view.buffer, 0, at);
}

/** 64-bit ids as `bigint[]`. */
export function wordsArray(values: readonly (Words | null)[]): Buffer {
  const view = new DataView(new ArrayBuffer(HEAD + values.length * 12));
  let at = HEAD;
  let hasNull = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    view.setInt32(at, value === null ? -1 : 8);
    at += 4;
    if (value === null) {
      hasNull = true;
      continue;
    }
    view.setInt32(at, value.high);
    view.setInt32(at + 4, value.low);
    at += 8;
  }
  writeHead(view, 'bigint[]', { length: values.length, hasNull });
  return Buffer.from(view.buffer, 0, at);
}

/** Texts (well-formed, without NUL) as `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let most = HEAD;
  for (let i = 0; i < values.length; i++) most += 4 + (values[i]?.length ?? 0) * 3;
  const buffer = Buffer.from(new ArrayBuffer(most));
  const view = new DataView(buffer.buffer);
  let at = HEAD;
  let hasNull = false;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null) {
      view.setInt32(at, -1);
      at += 4;
      hasNull = true;
      continue;
    }
    const length = writeText(buffer, value, at + 4);
    view.setInt32(at, length);
    at += 4 + length;
  }
  writeHead(view, 'text[]', { length: values.length, hasNull });
  return buffer.subarray(0, at);
}

/** Byte strings as `bytea[]`. */
export function bytesArray(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + value.length, HEAD);
  const buffer = Buffer.from(new ArrayBuffer(size));
  const view = new DataView(buffer.buffer);
  let at = HEAD;
  for (const value of values) {
    view.setInt32(at, value.length);
    buffer.set(value, at + 4);
    at += 4 + value.length;
  }
  writeHead(view, 'bytea[]', { length: values.length, hasNull: false });
  return buffer;
}

/** Short ASCII is copied here: cheaper than a call into the runtime. */
function writeText(buffer: Buffer, text: string, at: number): number {
  if (text.length > 64) return buffer.write(text, at);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return buffer.write(text, at);
    buffer[at + i] = code;
  }
  return text.length;
}
