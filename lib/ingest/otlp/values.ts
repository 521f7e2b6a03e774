// Lenient readers of single OTLP values: what exporters of the last years really write.
//   ids      bytes (protobuf), hex of any case, base64 (writers that follow protobuf's own JSON mapping)
//   times    two halves (protobuf), decimal text, or numbers (exporters ≤ 0.41, low bits lost)
//   enums    numbers, or names with and without prefix

import type { AttributeValue } from '../../core/trace/span';
import type { Long, WireValue } from './wire';

const MAX_TEXT = 256;
const MAX_ELEMENTS = 16;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Lower-case hex of an id of `bytes` bytes; null when it is something else or all zero. */
export function readId(value: unknown, bytes: 8 | 16): string | null {
  const hex = idHex(value, bytes);
  return hex === null || /^0+$/.test(hex) ? null : hex;
}

function idHex(value: unknown, bytes: 8 | 16): string | null {
  if (value instanceof Uint8Array) {
    return value.length === bytes ? Buffer.from(value.buffer, value.byteOffset, bytes).toString('hex') : null;
  }
  if (typeof value !== 'string') return null;
  if (value.length === bytes * 2) return /^[0-9a-fA-F]+$/.test(value) ? value.toLowerCase() : null;
  const decoded = /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) ? Buffer.from(value, 'base64') : null;
  return decoded?.length === bytes ? decoded.toString('hex') : null;
}

const isLong = (value: unknown): value is Long =>
  typeof value === 'object' && value !== null && typeof (value as Long).low === 'number';

/** Nanoseconds → whole µs since the epoch; null when absent, 0 or not a time. */
export function readTimeUs(value: unknown): number | null {
  let us: number;
  if (isLong(value)) us = Math.round(((value.high >>> 0) * 4_294_967_296 + (value.low >>> 0)) / 1_000);
  else if (typeof value === 'number') us = Math.round(value / 1_000);
  else if (typeof value === 'string' && /^\d{1,20}$/.test(value)) us = usOfDigits(value);
  else return null;
  return us > 0 && Number.isSafeInteger(us) ? us : null;
}

/** Exact, where Number(text) would round to 256 ns first. */
function usOfDigits(text: string): number {
  return text.length <= 3 ? 0 : Number(text.slice(0, -3)) + (text.charCodeAt(text.length - 3) >= 53 ? 1 : 0);
}

/** Index in `names` of an enum sent as number or as name (`SPAN_KIND_CLIENT`, `client`); 0 when it is neither. */
export function readEnum(value: unknown, names: readonly string[], prefix: string): number {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 && value < names.length ? value : 0;
  if (typeof value !== 'string') return 0;
  const name = value.toUpperCase().replace(prefix, '').toLowerCase();
  return Math.max(0, names.indexOf(name));
}

/** Text without NUL (which Postgres refuses) and halves of surrogate pairs, cut to `max` characters. */
export function cleanText(value: string, max = MAX_TEXT): string {
  const cut = value.length > max ? value.slice(0, max) : value;
  return (cut.includes('\0') ? cut.replaceAll('\0', '') : cut).replace(LONE_SURROGATE, '\ufffd');
}

/** A text field, null when absent or empty. */
export function readText(value: unknown, max = MAX_TEXT): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return cleanText(value, max) || null;
}

/** An attribute's value: scalar or list of scalars; null for what is never read (maps, bytes, nested lists). */
export function readValue(value: WireValue | null | undefined): AttributeValue | null {
  if (value === null || value === undefined) return null;
  const list = value.arrayValue?.values;
  if (!Array.isArray(list)) return readScalar(value);
  const elements = [];
  for (const element of list.slice(0, MAX_ELEMENTS)) {
    const scalar = readScalar(element as WireValue);
    if (scalar !== null) elements.push(scalar);
  }
  return elements;
}

function readScalar(value: WireValue): string | number | boolean | null {
  // hasOwn: protobufjs leaves what was not sent to the prototype, as its zero value
  if (Object.hasOwn(value, 'stringValue')) {
    return typeof value.stringValue === 'string' ? cleanText(value.stringValue) : null;
  }
  if (Object.hasOwn(value, 'boolValue')) return typeof value.boolValue === 'boolean' ? value.boolValue : null;
  const number = readNumber(Object.hasOwn(value, 'intValue') ? value.intValue : value.doubleValue);
  return number !== null && Number.isFinite(number) ? number : null;
}

function readNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (isLong(value)) return value.high * 4_294_967_296 + (value.low >>> 0);
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : null;
}
