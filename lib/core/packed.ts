// Packed columns of sealed chunks: one fixed-width value a request, so that SQL reads any of them by its place and a
// chunk of 2,000 requests takes about 50 bytes a request before Postgres' own compression of the sparse columns.
//
//   numbers   flags  base length  [base, 8 bytes]  n × code (big-endian)
//             flags = width (bits 0–2) | 64 a code of 0 is null | 128 in thousands
//             value = (code − (nulls ? 1 : 0)) × (thousands ? 1000 : 1) + base
//   texts     kind   n × 16 bytes, all zero = null        kind 1: UUIDs, 2: 32 hexadecimal digits
//
// Varints or entropy coding would save some 10 % and take the columns away from SQL. The SQL side is packed_number and
// packed_text in the migration that makes sealed_chunk.

const WIDTH = 7;
const NULLS = 64;
const THOUSANDS = 128;
const BASE_BYTES = 8;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HEX = /^[0-9a-f]{32}$/;
const ZERO = '0'.repeat(32);

function widthOf(code: number): number {
  let width = 0;
  for (let rest = code; rest >= 1; rest = Math.floor(rest / 256)) width += 1;
  return width;
}

function writeBigEndian(bytes: Uint8Array, value: number, at: { offset: number; width: number }): void {
  let rest = value;
  for (let k = at.width - 1; k >= 0; k--) {
    bytes[at.offset + k] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

/** Packs integers of 0 to 2^53, or null; null (nothing to store) when all are null. */
export function packNumbers(values: readonly (number | null)[]): Uint8Array | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let hasNulls = false;
  let inThousands = true;
  for (const value of values) {
    if (value === null) hasNulls = true;
    else {
      if (value < min) min = value;
      if (value > max) max = value;
      if (value % 1000 !== 0) inThousands = false;
    }
  }
  if (min > max) return null;
  const factor = inThousands && max > 0 ? 1000 : 1;
  const shift = hasNulls ? 1 : 0;
  const whole = widthOf(max / factor + shift);
  const relative = widthOf((max - min) / factor + shift);
  const base = relative < whole ? min : 0;
  const width = base === 0 ? whole : relative;
  const header = 2 + (base === 0 ? 0 : BASE_BYTES);
  const bytes = new Uint8Array(header + width * values.length);
  bytes[0] = width | (hasNulls ? NULLS : 0) | (factor === 1000 ? THOUSANDS : 0);
  bytes[1] = header - 2;
  if (base > 0) writeBigEndian(bytes, base, { offset: 2, width: BASE_BYTES });
  if (width === 0) return bytes;
  values.forEach((value, i) => {
    if (value === null) return;
    writeBigEndian(bytes, (value - base) / factor + shift, { offset: header + i * width, width });
  });
  return bytes;
}

/** The `i`-th packed number: a reader for a whole column. A column that is not there gives nulls. */
export function numbersOf(bytes: Uint8Array | null): (i: number) => number | null {
  if (bytes === null) return () => null;
  const flags = bytes[0]!;
  const width = flags & WIDTH;
  const header = 2 + bytes[1]!;
  const factor = flags & THOUSANDS ? 1000 : 1;
  let base = 0;
  for (let k = 2; k < header; k++) base = base * 256 + bytes[k]!;
  const hasNulls = (flags & NULLS) !== 0;
  return (i) => {
    let code = 0;
    for (let k = header + i * width, end = k + width; k < end; k++) code = code * 256 + bytes[k]!;
    if (!hasNulls) return code * factor + base;
    return code === 0 ? null : (code - 1) * factor + base;
  };
}

/** The value of a lower-case hexadecimal digit. */
function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}
const hexOf = (text: string) => text.replaceAll('-', '');

/** Packs texts that are all UUIDs or all 32 hexadecimal digits (lower case), or null; null when some are not. */
export function packTexts(texts: readonly (string | null)[]): Uint8Array | null {
  const shape = texts.some((text) => text?.length === 36) ? UUID : HEX;
  if (texts.some((text) => text !== null && !(shape.test(text) && hexOf(text) !== ZERO))) return null;
  const bytes = new Uint8Array(1 + 16 * texts.length);
  bytes[0] = shape === UUID ? 1 : 2;
  texts.forEach((text, i) => {
    if (text === null) return;
    const hex = hexOf(text);
    for (let k = 0; k < 16; k++) bytes[1 + 16 * i + k] = (digit(hex, 2 * k) << 4) | digit(hex, 2 * k + 1);
  });
  return bytes;
}

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The `i`-th packed text. */
export function textsOf(bytes: Uint8Array): (i: number) => string | null {
  const isUuid = bytes[0] === 1;
  return (i) => {
    let hex = '';
    for (let k = 1 + 16 * i, end = k + 16; k < end; k++) hex += HEX_BYTES[bytes[k]!];
    if (hex === ZERO) return null;
    if (!isUuid) return hex;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}

/** The 16 bytes that a text of these shapes is packed as; null for any other. */
export function packedBytesOf(text: string): Uint8Array | null {
  return packTexts([text])?.subarray(1) ?? null;
}
