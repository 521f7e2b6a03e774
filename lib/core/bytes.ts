// Canonical bytes: varints (7 bits a byte, up to 2^53), zigzag for signed, length-prefixed UTF-8. No clock, no I/O.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Grows as it is written; `bytes()` gives what was written. */
export class ByteWriter {
  private buffer = new Uint8Array(256);
  private length = 0;

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

  text(value: string): void {
    this.sized(encoder.encode(value));
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
    let scale = 1;
    for (;;) {
      const byte = this.buffer[this.position++];
      if (byte === undefined) throw new Error('bytes end within a number');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
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

  sized(): Uint8Array {
    const length = this.unsigned();
    const bytes = this.buffer.subarray(this.position, this.position + length);
    this.position += length;
    return bytes;
  }

  text(): string {
    return decoder.decode(this.sized());
  }
}
