// What a fold works on: requests ordered by (5-minute slot, full key), and of each, once, everything that its cells add
// up. A base is a run of requests with the same slot and key; every cell of every grouping is a union of bases.

import { latencyBucket } from './bucketTable';
import type { Calendar } from './calendar';
import { addQuality, type CellKey, COUNTS, formatKey, fullKey, QUALITY_SUMS } from './cell';
import { BASIS_OF, DEFAULT_OBJECTIVES, ENDPOINT_CLASSES } from './endpointClass';
import { type Dimensions, type TimedRequest, unattributedUs, waitUs } from './request';
import { EVIDENCES, MEASURED_TERMS, OUTCOMES, TERMS } from './terms';

/** Columns of durations: the waits, the gaps, and all terms. */
export const E2E = 0;
export const TTFT = 1;
export const GAP_E2E = 2;
export const GAP_TTFT = 3;
export const FIRST_TERM = 4;
export const COLUMNS = FIRST_TERM + TERMS.length;
export const MODEL = FIRST_TERM + MEASURED_TERMS.indexOf('model');
const UNATTRIBUTED = FIRST_TERM + TERMS.indexOf('unattributed');
const DECODE = FIRST_TERM + TERMS.indexOf('decode');
const DERIVED = EVIDENCES.indexOf('derived');

/** In `buckets`: the request tells nothing of this column, or a duration of 0. Real indexes are greater. */
export const NOTHING = -32_768;
export const ZERO = -32_767;

/** Totals of a column over a base, in this order. */
export const TOTALS = 6;
export const [N, WEIGHT, WEIGHT_SQUARED, ZERO_WEIGHT, MIN, MAX] = [0, 1, 2, 3, 4, 5] as const;
/** Sums of a base: the counts of a cell, then what its default objectives judge. */
export const SUMS = COUNTS.length + ENDPOINT_CLASSES.length;

export const EVIDENCE_SUMS = TERMS.length * EVIDENCES.length;

export type Batch = {
  n: number;
  requests: TimedRequest[];
  weights: Float64Array;
  /** [column × n + request]: bucket index, NOTHING or ZERO. */
  buckets: Int16Array;
  /** [request × COLUMNS + column]: µs; NaN where the request tells nothing. */
  values: Float64Array;
  keys: { text: string; key: CellKey }[];
  bases: {
    count: number;
    /** Where each begins; one more than there are. */
    starts: Int32Array;
    slotS: Float64Array;
    /** Index in `keys`. */
    keyOf: Int32Array;
    /** [(base × COLUMNS + column) × TOTALS + total]. */
    totals: Float64Array;
    /** [base × SUMS + sum]. */
    sums: Float64Array;
    /** [base × EVIDENCE_SUMS + term × codes + code]: requests that know the term so. */
    evidence: Float64Array;
    /** [base × QUALITY_SUMS + sum]. */
    quality: Float64Array;
  };
};

/** Numbers keys by content; requests of one chunk share their dimensions, so most look-ups are by identity. */
class KeyTable {
  readonly keys: Batch['keys'] = [];
  private readonly byText = new Map<string, number>();
  private readonly byDims = new Map<Dimensions, Int32Array>();

  indexOf(request: TimedRequest): number {
    let known = this.byDims.get(request.dims);
    if (known === undefined) {
      known = new Int32Array(OUTCOMES.length * 2).fill(-1);
      this.byDims.set(request.dims, known);
    }
    const cached = request.cache === 'response' || request.cache === 'semantic';
    const variant = OUTCOMES.indexOf(request.outcome) * 2 + (cached ? 1 : 0);
    if (known[variant]! < 0) known[variant] = this.add(request);
    return known[variant]!;
  }

  private add(request: TimedRequest): number {
    const key = fullKey(request);
    const text = formatKey(key);
    let index = this.byText.get(text);
    if (index === undefined) {
      index = this.keys.push({ text, key }) - 1;
      this.byText.set(text, index);
    }
    return index;
  }
}

/** Orders requests by base, bases by slot. */
function order(requests: readonly TimedRequest[], calendar: Calendar) {
  const table = new KeyTable();
  const bySlot = new Map<number, Map<number, number>>();
  const slots: { slotS: number; key: number; id: number; n: number }[] = [];
  const baseOf = new Int32Array(requests.length);
  for (let i = 0; i < requests.length; i++) {
    const request = requests[i]!;
    const slotS = calendar.startS('5min', request.startedAtUs);
    let byKey = bySlot.get(slotS);
    if (byKey === undefined) {
      byKey = new Map();
      bySlot.set(slotS, byKey);
    }
    const key = table.indexOf(request);
    let id = byKey.get(key);
    if (id === undefined) {
      id = slots.push({ slotS, key, id: slots.length, n: 0 }) - 1;
      byKey.set(key, id);
    }
    slots[id]!.n++;
    baseOf[i] = id;
  }
  const sorted = [...slots].sort((a, b) => a.slotS - b.slotS || a.key - b.key);
  const starts = new Int32Array(sorted.length + 1);
  const next = new Int32Array(sorted.length);
  sorted.forEach((slot, i) => {
    starts[i + 1] = starts[i]! + slot.n;
    next[slot.id] = starts[i]!;
  });
  const inOrder: TimedRequest[] = new Array(requests.length);
  for (let i = 0; i < requests.length; i++) inOrder[next[baseOf[i]!]!++] = requests[i]!;
  return { sorted, starts, inOrder, keys: table.keys };
}

/** Reads every request once. */
export function prepareBatch(requests: readonly TimedRequest[], calendar: Calendar): Batch {
  const { sorted, starts, inOrder, keys } = order(requests, calendar);
  const n = inOrder.length;
  const batch: Batch = {
    n,
    requests: inOrder,
    weights: new Float64Array(n),
    buckets: new Int16Array(n * COLUMNS),
    values: new Float64Array(n * COLUMNS),
    keys,
    bases: {
      count: sorted.length,
      starts,
      slotS: Float64Array.from(sorted, (slot) => slot.slotS),
      keyOf: Int32Array.from(sorted, (slot) => slot.key),
      totals: new Float64Array(sorted.length * COLUMNS * TOTALS),
      sums: new Float64Array(sorted.length * SUMS),
      evidence: new Float64Array(sorted.length * EVIDENCE_SUMS),
      quality: new Float64Array(sorted.length * QUALITY_SUMS.length),
    },
  };
  for (let base = 0; base < sorted.length; base++) {
    for (let i = starts[base]!; i < starts[base + 1]!; i++) {
      batch.weights[i] = inOrder[i]!.weight;
      measure(inOrder[i]!, batch.values, i * COLUMNS);
      addSums(inOrder[i]!, batch.bases.sums, base * SUMS);
      addEvidence(batch, i, base);
      addQuality(batch.bases.quality, base * QUALITY_SUMS.length, inOrder[i]!);
    }
    for (let column = 0; column < COLUMNS; column++) addColumn(batch, base, column);
  }
  return batch;
}

/** The durations of a request into its row of `values`. */
function measure(request: TimedRequest, values: Float64Array, at: number): void {
  if (request.outcome === 'error') {
    values.fill(Number.NaN, at, at + COLUMNS);
    return;
  }
  const { terms } = request;
  const e2e = waitUs(request, 'e2e') ?? Number.NaN;
  const ttft = waitUs(request, 'ttft') ?? Number.NaN;
  values[at + E2E] = e2e;
  values[at + TTFT] = ttft;
  for (let i = 0; i < MEASURED_TERMS.length; i++) values[at + FIRST_TERM + i] = terms[i] ?? Number.NaN;
  const model = values[at + MODEL]!;
  values[at + GAP_E2E] = e2e - model;
  values[at + GAP_TTFT] = ttft - model;
  values[at + UNATTRIBUTED] = unattributedUs(request);
  values[at + DECODE] = request.decodeUs ?? Number.NaN;
}

/** What is no measured term is always derived. */
function addEvidence({ requests, values, bases }: Batch, i: number, base: number): void {
  const bits = requests[i]!.evidence;
  for (let term = 0; term < TERMS.length; term++) {
    if (Number.isNaN(values[i * COLUMNS + FIRST_TERM + term]!)) continue;
    const code = term < MEASURED_TERMS.length ? (bits >> (2 * term)) & 3 : DERIVED;
    bases.evidence[base * EVIDENCE_SUMS + term * EVIDENCES.length + code]! += 1;
  }
}

/** The thresholds of the default objectives with the column that each judges. */
const JUDGED = ENDPOINT_CLASSES.map((endpointClass) => ({
  basis: BASIS_OF[endpointClass],
  thresholdUs: DEFAULT_OBJECTIVES[endpointClass].thresholdUs,
}));

function addSums(request: TimedRequest, sums: Float64Array, at: number): void {
  const { weight, ttftUs, inputTokens, outputTokens, outcome } = request;
  sums[at]! += 1;
  sums[at + 1]! += weight;
  if (ttftUs !== null) {
    sums[at + 2]! += 1;
    sums[at + 3]! += weight;
  }
  if (inputTokens !== null) {
    sums[at + 4]! += inputTokens;
    sums[at + 6]! += 1;
  }
  if (outputTokens !== null) {
    sums[at + 5]! += outputTokens;
    sums[at + 7]! += 1;
  }
  for (let i = 0; i < JUDGED.length; i++) {
    const wait = waitUs(request, JUDGED[i]!.basis);
    if (wait === null) continue;
    const within = wait <= JUDGED[i]!.thresholdUs;
    if (outcome === 'ok' ? within : outcome === 'cancelled' && !within && ttftUs === null)
      sums[at + COUNTS.length + i]! += weight;
  }
}

/** Buckets and totals of one column over one base. */
function addColumn({ n, weights, buckets, values, bases }: Batch, base: number, column: number): void {
  let [count, weight, squared, zero] = [0, 0, 0, 0];
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = bases.starts[base]!; i < bases.starts[base + 1]!; i++) {
    let us = values[i * COLUMNS + column]!;
    if (Number.isNaN(us)) {
      buckets[column * n + i] = NOTHING;
      continue;
    }
    if (us < 0) us = 0;
    const w = weights[i]!;
    count++;
    weight += w;
    squared += w * w;
    if (us < min) min = us;
    if (us > max) max = us;
    if (us === 0) zero += w;
    buckets[column * n + i] = us === 0 ? ZERO : latencyBucket(us);
  }
  const at = (base * COLUMNS + column) * TOTALS;
  bases.totals[at + N] = count;
  bases.totals[at + WEIGHT] = weight;
  bases.totals[at + WEIGHT_SQUARED] = squared;
  bases.totals[at + ZERO_WEIGHT] = zero;
  bases.totals[at + MIN] = min;
  bases.totals[at + MAX] = max;
}
