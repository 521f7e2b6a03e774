// Encoded cells of a union of bases, straight from the columns of a batch: no cell is built on the way. The bytes are
// those of `encodeCell` over the same requests (a property test says so).

import { ANATOMY_FIELDS, ANATOMY_SHIFT, writeAnatomyBucket, ZERO_BUCKET } from './anatomy';
import { ByteWriter } from './bytes';
import { type Family, QUALITY_SUMS } from './cell';
import {
  type Batch,
  COLUMNS,
  E2E,
  EVIDENCE_SUMS,
  FIRST_TERM,
  GAP_E2E,
  GAP_TTFT,
  MAX,
  MIN,
  MODEL,
  N,
  NOTHING,
  SUMS,
  TOTALS,
  TTFT,
  WEIGHT,
  WEIGHT_SQUARED,
  ZERO,
  ZERO_WEIGHT,
} from './foldBatch';
import { type HistogramTotals, LATENCY_SCALE, writeHistogramForm } from './histogram';
import { TERMS } from './terms';

/** Bases of one cell: ids in ascending order. */
export type Bases = ArrayLike<number>;

/** Up to this many requests of a cell their buckets are sorted; beyond, counted in a dense array. */
const SORTED_MAX = 48;
/** Bucket indexes of durations from 1 µs to 2^53 µs lie within. */
const LOWEST_INDEX = -1_400;
const DENSE_SIZE = 4_096;
const DECODE = TERMS.indexOf('decode');

const COLUMN_OF: Partial<Record<Family, number>> = {
  e2e: E2E,
  ttft: TTFT,
  model: MODEL,
  gapE2e: GAP_E2E,
  gapTtft: GAP_TTFT,
};

/** Encodes cells of one batch; keeps its memory from cell to cell. */
export class CellEncoder {
  private readonly dense = new Float64Array(DENSE_SIZE);
  private readonly indexes = new Int16Array(DENSE_SIZE);
  private readonly weights = new Float64Array(DENSE_SIZE);
  private readonly anatomy = new Float64Array(((DENSE_SIZE >> ANATOMY_SHIFT) + 1) * ANATOMY_FIELDS);
  private readonly writer = new ByteWriter();
  private readonly sums = new Float64Array(Math.max(SUMS, EVIDENCE_SUMS));
  private readonly totals: HistogramTotals = {
    scale: LATENCY_SCALE,
    n: 0,
    weight: 0,
    weightSquared: 0,
    zero: 0,
    minUs: null,
    maxUs: null,
  };
  /** Histograms of the terms of the cell at hand, encoded once: `model` is a family of its own too. */
  private readonly histograms = new ByteWriter();

  constructor(private readonly batch: Batch) {}

  /** Bytes of a family's cell; null when no request tells anything of it. */
  encode(family: Family, bases: Bases): Uint8Array | null {
    if (family === 'counts') return this.counts(bases);
    if (family === 'terms') return this.terms(bases);
    if (family === 'quality') return this.quality(bases);
    if (family === 'anatomyE2e') return this.anatomyOf(bases, E2E);
    if (family === 'anatomyTtft') return this.anatomyOf(bases, TTFT);
    const column = COLUMN_OF[family];
    if (column === undefined) throw new Error(`${family} is not a family of sums`);
    this.writer.clear();
    return this.writeColumn(this.writer, bases, column) === 0 ? null : this.writer.bytes();
  }

  private counts(bases: Bases): Uint8Array {
    this.writer.clear();
    this.writeSums(this.batch.bases.sums, SUMS, bases);
    return this.writer.bytes();
  }

  private quality(bases: Bases): Uint8Array | null {
    this.writer.clear();
    this.writeSums(this.batch.bases.quality, QUALITY_SUMS.length, bases);
    return this.sums[0] === 0 ? null : this.writer.bytes();
  }

  /** Writes rows of `width` numbers a base, added up. */
  private writeSums(from: Float64Array, width: number, bases: Bases): void {
    const { sums } = this;
    sums.fill(0, 0, width);
    for (let b = 0; b < bases.length; b++) {
      for (let i = 0, at = bases[b]! * width; i < width; i++) sums[i]! += from[at + i]!;
    }
    for (let i = 0; i < width; i++) this.writer.signed(sums[i]!);
  }

  private terms(bases: Bases): Uint8Array | null {
    this.histograms.clear();
    this.writer.clear();
    let n = 0;
    for (let term = 0; term < TERMS.length; term++) n += this.writeColumn(this.histograms, bases, FIRST_TERM + term);
    if (n === 0) return null;
    this.writeSums(this.batch.bases.evidence, EVIDENCE_SUMS, bases);
    this.writer.copy(this.histograms);
    return this.writer.bytes();
  }

  /** Writes the histogram of a column; returns how many requests it has. */
  private writeColumn(writer: ByteWriter, bases: Bases, column: number): number {
    const { totals } = this;
    const from = this.batch.bases.totals;
    totals.n = totals.weight = totals.weightSquared = totals.zero = 0;
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let b = 0; b < bases.length; b++) {
      const at = (bases[b]! * COLUMNS + column) * TOTALS;
      if (from[at] === 0) continue;
      totals.n += from[at + N]!;
      totals.weight += from[at + WEIGHT]!;
      totals.weightSquared += from[at + WEIGHT_SQUARED]!;
      totals.zero += from[at + ZERO_WEIGHT]!;
      if (from[at + MIN]! < min) min = from[at + MIN]!;
      if (from[at + MAX]! > max) max = from[at + MAX]!;
    }
    totals.minUs = totals.n === 0 ? null : min;
    totals.maxUs = totals.n === 0 ? null : max;
    const length =
      totals.n === 0 ? 0 : totals.n <= SORTED_MAX ? this.sorted(bases, column) : this.counted(bases, column);
    writeHistogramForm(writer, totals, { indexes: this.indexes, weights: this.weights, length });
    return totals.n;
  }

  /** Few requests: their buckets by insertion into `indexes` and `weights`. */
  private sorted(bases: Bases, column: number): number {
    const { batch, indexes, weights } = this;
    let length = 0;
    for (let b = 0; b < bases.length; b++) {
      const [start, end] = [batch.bases.starts[bases[b]!]!, batch.bases.starts[bases[b]! + 1]!];
      for (let i = start; i < end; i++) {
        const index = batch.buckets[column * batch.n + i]!;
        if (index <= ZERO) continue;
        let at = length;
        while (at > 0 && indexes[at - 1]! > index) at--;
        if (at > 0 && indexes[at - 1] === index) {
          weights[at - 1]! += batch.weights[i]!;
          continue;
        }
        for (let k = length; k > at; k--) {
          indexes[k] = indexes[k - 1]!;
          weights[k] = weights[k - 1]!;
        }
        indexes[at] = index;
        weights[at] = batch.weights[i]!;
        length++;
      }
    }
    return length;
  }

  /** Many requests: one counter a bucket. */
  private counted(bases: Bases, column: number): number {
    const { batch, dense, indexes, weights } = this;
    let [low, high] = [DENSE_SIZE, -1];
    for (let b = 0; b < bases.length; b++) {
      const [start, end] = [batch.bases.starts[bases[b]!]!, batch.bases.starts[bases[b]! + 1]!];
      for (let i = start; i < end; i++) {
        const index = batch.buckets[column * batch.n + i]!;
        if (index <= ZERO) continue;
        const at = index - LOWEST_INDEX;
        dense[at]! += batch.weights[i]!;
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
    return length;
  }

  private anatomyOf(bases: Bases, basis: typeof E2E | typeof TTFT): Uint8Array | null {
    const { batch, anatomy } = this;
    const last = (DENSE_SIZE >> ANATOMY_SHIFT) - 1;
    let [low, high] = [last, -1];
    for (let b = 0; b < bases.length; b++) {
      const [start, end] = [batch.bases.starts[bases[b]!]!, batch.bases.starts[bases[b]! + 1]!];
      for (let i = start; i < end; i++) {
        const index = batch.buckets[basis * batch.n + i]!;
        if (index === NOTHING) continue;
        // ZERO sorts before all others: entry 0
        const at = index === ZERO ? 0 : (index - LOWEST_INDEX) >> ANATOMY_SHIFT;
        if (at < low) low = at;
        if (at > high) high = at;
        this.addAnatomy(anatomy, at * ANATOMY_FIELDS, { i, basis });
      }
    }
    if (high < 0) return null;
    this.writer.clear();
    for (let at = low; at <= high; at++) {
      const start = at * ANATOMY_FIELDS;
      if (anatomy[start] === 0) continue;
      const index = at === 0 ? ZERO_BUCKET : at + (LOWEST_INDEX >> ANATOMY_SHIFT);
      writeAnatomyBucket(this.writer, index, anatomy.subarray(start, start + ANATOMY_FIELDS));
      anatomy.fill(0, start, start + ANATOMY_FIELDS);
    }
    return this.writer.bytes();
  }

  /** n, weight, wait, then of every term its sum and the weight that knows it. */
  private addAnatomy(anatomy: Float64Array, at: number, { i, basis }: { i: number; basis: number }): void {
    const { values, weights, requests } = this.batch;
    const weight = weights[i]!;
    const row = i * COLUMNS;
    anatomy[at]! += 1;
    anatomy[at + 1]! += weight;
    anatomy[at + 2]! += values[row + basis]! * weight;
    for (let term = 0; term < TERMS.length; term++) {
      const us = values[row + FIRST_TERM + term]!;
      if (Number.isNaN(us)) continue;
      if (term === DECODE && basis === TTFT && requests[i]!.ttftUs !== null) continue;
      anatomy[at + 3 + term]! += us * weight;
      anatomy[at + 3 + TERMS.length + term]! += weight;
    }
  }
}
