// Ids stored in the last minutes, in memory, so that a re-composed batch (other events, some of them known) stores
// nothing twice. Two generations: the older one is thrown away whole. Entered only after COMMIT: an id that was claimed
// before its write failed would be lost for ever.
//
// An id takes 20 bytes of an open-addressing table, without an object: its project's number and 128 bits. A UUID is its
// own 128 bits, so two of them never meet; other ids are hashed to 128.

const GENERATION_MS = 10 * 60_000;
const WORDS = 5;

const hex = Int8Array.from({ length: 128 }, (_, code) => {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
});

/** Ids as rows of five words. Grows to `most` ids. */
class IdTable {
  private slots: Int32Array;
  private mask: number;
  size = 0;

  constructor(private readonly most: number) {
    this.mask = 1_023;
    this.slots = new Int32Array((this.mask + 1) * WORDS);
  }

  get full(): boolean {
    return this.size >= this.most;
  }

  /** Where the row is or would be. The first word is never 0 in a row that is there. */
  private find(row: Int32Array): number {
    let at = (Math.imul(row[1]! ^ row[4]!, 0x9e3779b1) ^ Math.imul(row[2]! ^ row[3]! ^ row[0]!, 0x85ebca6b)) >>> 0;
    at = (at ^ (at >>> 15)) & this.mask;
    const { slots } = this;
    for (;;) {
      const start = at * WORDS;
      if (slots[start] === 0) return start;
      if (
        slots[start] === row[0] &&
        slots[start + 1] === row[1] &&
        slots[start + 2] === row[2] &&
        slots[start + 3] === row[3] &&
        slots[start + 4] === row[4]
      )
        return start;
      at = (at + 1) & this.mask;
    }
  }

  has(row: Int32Array): boolean {
    return this.slots[this.find(row)] !== 0;
  }

  /** False when it was there. */
  add(row: Int32Array): boolean {
    const start = this.find(row);
    if (this.slots[start] !== 0) return false;
    this.slots.set(row, start);
    this.size++;
    if (this.size * 2 > this.mask) this.grow();
    return true;
  }

  clear(): void {
    if (this.size > 0) this.slots.fill(0);
    this.size = 0;
  }

  private grow(): void {
    const old = this.slots;
    this.mask = this.mask * 2 + 1;
    this.slots = new Int32Array((this.mask + 1) * WORDS);
    for (let start = 0; start < old.length; start += WORDS) {
      if (old[start] === 0) continue;
      const row = old.subarray(start, start + WORDS);
      this.slots.set(row, this.find(row));
    }
  }
}

export class RecentIds {
  private current: IdTable;
  private previous: IdTable;
  private readonly flushing = new IdTable(Number.POSITIVE_INFINITY);
  private readonly projects = new Map<string, number>();
  private readonly row = new Int32Array(WORDS);
  private startedMs: number;

  constructor(
    nowMs: number,
    private readonly generationSize = 1_000_000,
  ) {
    this.current = new IdTable(generationSize);
    this.previous = new IdTable(generationSize);
    this.startedMs = nowMs;
  }

  has(projectId: string, id: string): boolean {
    const row = this.rowOf(projectId, id);
    return this.current.has(row) || this.previous.has(row);
  }

  add(projectId: string, id: string, nowMs: number): void {
    if (this.current.full || nowMs - this.startedMs >= GENERATION_MS) {
      this.previous = this.current;
      this.current = new IdTable(this.generationSize);
      this.startedMs = nowMs;
    }
    this.current.add(this.rowOf(projectId, id));
  }

  /** Begins a flush: `isNew` then also says false of an id that it was asked about before. */
  beginFlush(): void {
    this.flushing.clear();
  }

  isNew(projectId: string, id: string): boolean {
    const row = this.rowOf(projectId, id);
    return !this.current.has(row) && !this.previous.has(row) && this.flushing.add(row);
  }

  /** Into a row that is used again: read it before the next call. */
  private rowOf(projectId: string, id: string): Int32Array {
    let project = this.projects.get(projectId);
    if (project === undefined) {
      project = this.projects.size + 1;
      this.projects.set(projectId, project);
    }
    const { row } = this;
    if (parseUuid(id, row)) row[0] = project * 2;
    else {
      hash(id, row);
      row[0] = project * 2 + 1;
    }
    return row;
  }
}

/** The 128 bits of a lower-case UUID into words 1–4; false when it is none. */
function parseUuid(id: string, row: Int32Array): boolean {
  if (id.length !== 36) return false;
  let [word, digits] = [0, 0];
  let into = 1;
  for (let i = 0; i < 36; i++) {
    const code = id.charCodeAt(i);
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (code !== 45) return false;
      continue;
    }
    const digit = code < 128 ? hex[code]! : -1;
    if (digit < 0) return false;
    word = (word << 4) | digit;
    if (++digits === 8) {
      row[into++] = word;
      [word, digits] = [0, 0];
    }
  }
  return true;
}

/** Four lanes of a multiply-and-xor hash over the text, each mixed at the end. */
function hash(text: string, row: Int32Array): void {
  let [a, b, c, d] = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x85ebca77) ^ (b >>> 13);
    c = Math.imul(c ^ code, 0xc2b2ae3d) ^ (c >>> 16);
    d = Math.imul(d ^ code, 0x27d4eb2f) ^ (d >>> 11);
  }
  a = Math.imul(a ^ (a >>> 16) ^ text.length, 0x7feb352d);
  row[1] = a ^ (b >>> 7);
  row[2] = Math.imul(b ^ (b >>> 15) ^ a, 0x846ca68b);
  row[3] = Math.imul(c ^ (c >>> 16) ^ b, 0x7feb352d);
  row[4] = Math.imul(d ^ (d >>> 15) ^ c, 0x846ca68b);
}
