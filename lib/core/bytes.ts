// Canonical bytes: varints (7 bits a byte, up to 2^53), zigzag for signed, length-prefixed UTF-8. No clock, no I/O.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HEX32 = /^[0-9a-f]{32}$/;
const NO_ID = 0;
const TEXT_FORM = 1;
const UUID_FORM = 2;
const HEX_FORM = 3;
const HYPHEN = 45;
/** Value of a lower-case hex digit's character code. */
const nibble = (code: number) => (code < 58 ? code - 48 : code - 87);
const HEX_OF = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Grows as it is written; `bytes()` gives what was written. */
export class ByteWriter {
  private buffer: Uint8Array;
  private length = 0;

  /** `size`: how many bytes are likely to come. */
  constructor(size = 256) {
    this.buffer = new Uint8Array(size);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length + more));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }

  /** A non-negative integer; beyond 2^53 (weights squared) whatever a double holds, unchanged. */
  unsigned(value: number): void {
    this.reserve(20);
    let rest = value;
    if (rest < 0x8000_0000) {
      let small = rest | 0; // the usual case, without divisions of doubles
      for (; small >= 128; small >>= 7) this.buffer[this.length++] = (small & 127) | 128;
      this.buffer[this.length++] = small;
      return;
    }
    while (rest >= 128) {
      this.buffer[this.length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.length++] = rest;
  }

  /** An integer within ±2^52. */
  signed(value: number): void {
    this.unsigned(value < 0 ? -value * 2 - 1 : value * 2);
  }

  /** null → 0, n → n + 1. */
  optional(value: number | null): void {
    this.unsigned(value === null ? 0 : value + 1);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  sized(bytes: Uint8Array): void {
    this.unsigned(bytes.length);
    this.raw(bytes);
  }

  /** How much is written. */
  get size(): number {
    return this.length;
  }

  /** Starts again, keeping the memory. */
  clear(): void {
    this.length = 0;
  }

  /** Appends what `other` holds from `start` to `end`. */
  copy(other: ByteWriter, start = 0, end = other.length): void {
    this.reserve(end - start);
    if (end - start > 32) this.buffer.set(other.buffer.subarray(start, end), this.length);
    else for (let i = start, at = this.length; i < end; i++, at++) this.buffer[at] = other.buffer[i]!;
    this.length += end - start;
  }

  text(value: string): void {
    this.sized(encoder.encode(value));
  }

  optionalText(value: string | null): void {
    this.optional(value === null ? null : 0);
    if (value !== null) this.text(value);
  }

  /** An id or null; the usual forms (UUID, trace id) take 16 bytes. */
  identifier(value: string | null): void {
    const form = value === null ? NO_ID : UUID.test(value) ? UUID_FORM : HEX32.test(value) ? HEX_FORM : TEXT_FORM;
    this.unsigned(form);
    if (form === TEXT_FORM) this.text(value!);
    else if (form !== NO_ID) {
      this.reserve(16);
      for (let i = 0; i < value!.length; i++) {
        const high = value!.charCodeAt(i);
        if (high !== HYPHEN) this.buffer[this.length++] = (nibble(high) << 4) | nibble(value!.charCodeAt(++i));
      }
    }
  }

  /** An unsigned integer below 2^53 in 8 bytes. */
  fixed(value: number): void {
    this.reserve(8);
    let rest = value;
    for (let i = 0; i < 8; i++) {
      this.buffer[this.length++] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}

/** Reads what ByteWriter wrote, in the same order. */
export class ByteReader {
  private position = 0;
  constructor(private readonly buffer: Uint8Array) {}

  get done(): boolean {
    return this.position >= this.buffer.length;
  }

  unsigned(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.buffer[this.position++];
      if (byte === undefined) throw new Error('bytes end within a number');
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    for (let scale = 2 ** 28; ; scale *= 128) {
      const byte = this.buffer[this.position++];
      if (byte === undefined) throw new Error('bytes end within a number');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  optional(): number | null {
    const value = this.unsigned();
    return value === 0 ? null : value - 1;
  }

  take(length: number): Uint8Array {
    const bytes = this.buffer.subarray(this.position, this.position + length);
    this.position += length;
    return bytes;
  }

  skip(length: number): void {
    this.position += length;
  }

  sized(): Uint8Array {
    return this.take(this.unsigned());
  }

  text(): string {
    return decoder.decode(this.sized());
  }

  optionalText(): string | null {
    return this.optional() === null ? null : this.text();
  }

  identifier(): string | null {
    const form = this.unsigned();
    if (form === NO_ID) return null;
    if (form === TEXT_FORM) return this.text();
    let hex = '';
    for (let i = 0; i < 16; i++) hex += HEX_OF[this.buffer[this.position++]!]!;
    if (form === HEX_FORM) return hex;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  fixed(): number {
    let low = 0;
    let high = 0;
    for (let i = 3; i >= 0; i--) low = low * 256 + this.buffer[this.position + i]!;
    for (let i = 7; i >= 4; i--) high = high * 256 + this.buffer[this.position + i]!;
    this.position += 8;
    return high * 4294967296 + low;
  }
}
