// Merges stored cells of one key without building them: varints are added up in dense arrays and written again. The bytes
// are those of `mergeStored` and `encodeCell` (a property test says so), five times faster: it is what compaction costs.
// Samples hold whole requests and go the plain way.

import { ANATOMY_FIELDS, ANATOMY_SHIFT, writeAnatomyBucket, ZERO_BUCKET } from './anatomy';
import { ByteReader, ByteWriter } from './bytes';
import {
  type Cell,
  COUNTS,
  emptyCell,
  encodeCell,
  type Family,
  isEmpty,
  mergeStored,
  QUALITY_SUMS,
  type Tier,
} from './cell';
import { ENDPOINT_CLASSES } from './endpointClass';
import { type HistogramTotals, LATENCY_SCALE, readHistogramTotals, writeHistogramForm } from './histogram';
import { EVIDENCES, TERMS } from './terms';

/** Bucket indexes of durations from 1 µs to 2^53 µs lie within. */
const LOWEST_INDEX = -1_400;
const DENSE_SIZE = 4_096;
const SUMS = COUNTS.length + ENDPOINT_CLASSES.length;
const EVIDENCE_SUMS = TERMS.length * EVIDENCES.length;

export class Merger {
  private readonly dense = new Float64Array(DENSE_SIZE);
  private readonly indexes = new Int16Array(DENSE_SIZE);
  private readonly weights = new Float64Array(DENSE_SIZE);
  private readonly sums = new Float64Array(Math.max(SUMS, EVIDENCE_SUMS));
  private readonly anatomy = new Float64Array((DENSE_SIZE >> ANATOMY_SHIFT) * ANATOMY_FIELDS);
  private readonly writer = new ByteWriter(4_096);

  /** The merged cell of some stored ones (at least one); null when nothing is left of it. */
  merge(family: Family, tier: Tier, bodies: readonly Uint8Array[]): Uint8Array | null {
    if (family === 'counts') return this.sumsOf(bodies, SUMS);
    if (family === 'quality') return this.sumsOf(bodies, QUALITY_SUMS.length);
    if (family === 'terms') return this.terms(bodies.map((body) => new ByteReader(body)));
    if (family === 'anatomyE2e' || family === 'anatomyTtft')
      return this.anatomyOf(bodies.map((body) => new ByteReader(body)));
    if (family.startsWith('sample') || family.startsWith('thin')) return plainly(family, tier, bodies);
    this.writer.clear();
    const isThere = this.histogram(bodies.map((body) => new ByteReader(body)));
    return isThere ? this.writer.bytes() : null;
  }

  /** Adds up and writes the next `width` numbers of every reader; false when all are 0. */
  private writeSums(readers: readonly ByteReader[], width: number): boolean {
    this.sums.fill(0, 0, width);
    for (const reader of readers) for (let i = 0; i < width; i++) this.sums[i]! += reader.signed();
    let isThere = false;
    for (let i = 0; i < width; i++) {
      if (this.sums[i] !== 0) isThere = true;
      this.writer.signed(this.sums[i]!);
    }
    return isThere;
  }

  private sumsOf(bodies: readonly Uint8Array[], width: number): Uint8Array | null {
    this.writer.clear();
    const readers = bodies.map((body) => new ByteReader(body));
    return this.writeSums(readers, width) ? this.writer.bytes() : null;
  }

  private terms(readers: readonly ByteReader[]): Uint8Array | null {
    this.writer.clear();
    let isThere = this.writeSums(readers, EVIDENCE_SUMS);
    for (let term = 0; term < TERMS.length; term++) if (this.histogram(readers)) isThere = true;
    return isThere ? this.writer.bytes() : null;
  }

  /** Merges the next histogram of every reader into the writer; false when nothing is left of it. */
  private histogram(readers: readonly ByteReader[]): boolean {
    const { dense, indexes, weights } = this;
    const totals: HistogramTotals = {
      ...{ scale: LATENCY_SCALE, n: 0, weight: 0, weightSquared: 0, zero: 0 },
      ...{ minUs: null, maxUs: null },
    };
    let [low, high] = [DENSE_SIZE, -1];
    for (const reader of readers) {
      const length = readHistogramTotals(totals, reader);
      let index = 0;
      for (let i = 0; i < length; i++) {
        index = i === 0 ? reader.signed() : index + reader.unsigned() + 1;
        const at = index - LOWEST_INDEX;
        dense[at]! += reader.signed();
        if (at < low) low = at;
        if (at > high) high = at;
      }
    }
    let length = 0;
    for (let at = low; at <= high; at++) {
      if (dense[at] === 0) continue;
      indexes[length] = at + LOWEST_INDEX;
      weights[length++] = dense[at]!;
      dense[at] = 0;
    }
    const { n, weight, weightSquared, zero } = totals;
    const isThere = n !== 0 || weight !== 0 || weightSquared !== 0 || zero !== 0 || length > 0;
    if (!isThere) {
      totals.minUs = null;
      totals.maxUs = null;
    }
    writeHistogramForm(this.writer, totals, { indexes, weights, length });
    return isThere;
  }

  private anatomyOf(readers: readonly ByteReader[]): Uint8Array | null {
    const { anatomy, writer } = this;
    const base = LOWEST_INDEX >> ANATOMY_SHIFT;
    let [low, high] = [DENSE_SIZE, -1];
    for (const reader of readers) {
      while (!reader.done) {
        const index = reader.signed();
        const at = index === ZERO_BUCKET ? 0 : index - base;
        if (at < low) low = at;
        if (at > high) high = at;
        for (let i = 0, start = at * ANATOMY_FIELDS; i < ANATOMY_FIELDS; i++) anatomy[start + i]! += reader.signed();
      }
    }
    writer.clear();
    for (let at = low; at <= high; at++) {
      const start = at * ANATOMY_FIELDS;
      const bucket = anatomy.subarray(start, start + ANATOMY_FIELDS);
      if (bucket.some((field) => field !== 0)) writeAnatomyBucket(writer, at === 0 ? ZERO_BUCKET : at + base, bucket);
      anatomy.fill(0, start, start + ANATOMY_FIELDS);
    }
    return writer.size === 0 ? null : writer.bytes();
  }
}

function plainly(family: Family, tier: Tier, bodies: readonly Uint8Array[]): Uint8Array | null {
  const cell: Cell = emptyCell(family, tier);
  for (const body of bodies) mergeStored(cell, body);
  return isEmpty(cell) ? null : encodeCell(cell);
}
