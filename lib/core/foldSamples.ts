// Encoded samples of a union of bases. All requests of a batch are ranked once by the hash of their id; a cell then sorts
// small integers (bucket and rank), and the bytes of a row are made once, however many samples keep it.

import { ByteWriter } from './bytes';
import { type Batch, COLUMNS, E2E, TTFT } from './foldBatch';
import type { Bases } from './foldCells';
import { hash53 } from './hash';
import type { Dimensions, TimedRequest } from './request';
import { type SampleLimits, sampleBucket } from './sample';
import { dimensionsKey, Table, writeCalls, writeRowRest, writeRowStart, writeTables } from './sampleCodec';
import type { Basis } from './terms';

/** Sample buckets begin at −1. */
const FIRST_BUCKET = -1;

/** Bottom-k order: by hash, then whatever makes the order total (as in `sample`). */
const byHash = (hashes: Float64Array, requests: readonly TimedRequest[]) => (a: number, b: number) => {
  const [x, y] = [requests[a]!, requests[b]!];
  return (
    hashes[a]! - hashes[b]! ||
    (x.id < y.id ? -1 : x.id > y.id ? 1 : 0) ||
    x.startedAtUs - y.startedAtUs ||
    x.e2eUs - y.e2eUs
  );
};

/** Requests (their place in the batch) in the order of their hash. */
function orderByHash(requests: readonly TimedRequest[]): Int32Array {
  const n = requests.length;
  const hashes = Float64Array.from(requests, (request) => hash53(request.id));
  // The leading bits of the hash and the place as one double sort natively; ties of the leading bits are put right after
  const places = 2 ** Math.ceil(Math.log2(Math.max(2, n)));
  const keys = Float64Array.from(hashes, (hash, i) => Math.floor(hash / places) * places + i).sort();
  const sorted = Int32Array.from(keys, (key) => key % places);
  const lead = (at: number) => Math.floor(hashes[sorted[at]!]! / places);
  const compare = byHash(hashes, requests);
  for (let start = 0; start < n; ) {
    let end = start + 1;
    while (end < n && lead(end) === lead(start)) end++;
    if (end - start > 1) sorted.set([...sorted.subarray(start, end)].sort(compare), start);
    start = end;
  }
  return sorted;
}

export class SampleEncoder {
  /** Place in the batch by rank, and rank by place. */
  private readonly byRank: Int32Array;
  private readonly rankOf: Int32Array;
  /** [basis][place]: bucket of the wait − FIRST_BUCKET; −1 without one. */
  private readonly buckets: [Int16Array, Int16Array];
  private readonly dimsOf = new Map<Dimensions, number>();
  private readonly dims: Dimensions[] = [];
  private readonly dimsByText = new Map<string, number>();
  /** Bytes of rows made so far: [start, end of the first part, end of the rest) in `rows`, by place. */
  private readonly rows = new ByteWriter();
  private readonly rowAt: Float64Array;
  private readonly body = new ByteWriter();
  private readonly bucketRows = new ByteWriter();

  constructor(private readonly batch: Batch) {
    this.byRank = orderByHash(batch.requests);
    this.rankOf = new Int32Array(batch.n);
    for (let rank = 0; rank < batch.n; rank++) this.rankOf[this.byRank[rank]!] = rank;
    this.buckets = [this.bucketsOf(E2E), this.bucketsOf(TTFT)];
    this.rowAt = new Float64Array(batch.n * 3).fill(-1);
  }

  private bucketsOf(column: number): Int16Array {
    const { n, values } = this.batch;
    const buckets = new Int16Array(n);
    for (let i = 0; i < n; i++) {
      const wait = values[i * COLUMNS + column]!;
      buckets[i] = Number.isNaN(wait) ? -1 : sampleBucket(wait) - FIRST_BUCKET;
    }
    return buckets;
  }

  /** Bucket and rank of every request of these bases that has a wait, in canonical order. */
  select(basis: Basis, bases: Bases): Float64Array {
    const buckets = this.buckets[basis === 'e2e' ? 0 : 1];
    const { starts } = this.batch.bases;
    let most = 0;
    for (let b = 0; b < bases.length; b++) most += starts[bases[b]! + 1]! - starts[bases[b]!]!;
    const keys = new Float64Array(most);
    let n = 0;
    for (let b = 0; b < bases.length; b++) {
      for (let i = starts[bases[b]!]!; i < starts[bases[b]! + 1]!; i++) {
        if (buckets[i]! >= 0) keys[n++] = buckets[i]! * this.batch.n + this.rankOf[i]!;
      }
    }
    return keys.subarray(0, n).sort();
  }

  /** Encodes what `select` gave, at least one request, within the limits. */
  encode(selected: Float64Array, limits: SampleLimits): Uint8Array {
    const { batch, body } = this;
    const keep = selected.length <= limits.all ? Number.POSITIVE_INFINITY : limits.perBucket;
    const tables = { dims: new Map<number, number>(), texts: new Table<string>((text) => text) };
    body.clear();
    for (let start = 0; start < selected.length; ) {
      const bucket = Math.floor(selected[start]! / batch.n);
      this.bucketRows.clear();
      let [end, weight] = [start, 0];
      for (; end < selected.length && selected[end]! < (bucket + 1) * batch.n; end++) {
        const i = this.byRank[selected[end]! - bucket * batch.n]!;
        weight += batch.weights[i]!;
        if (end - start < keep) this.writeRow(i, tables);
      }
      body.signed(bucket + FIRST_BUCKET);
      body.unsigned(end - start);
      body.unsigned(weight);
      body.unsigned(Math.min(keep, end - start));
      body.unsigned(this.bucketRows.size);
      body.copy(this.bucketRows);
      start = end;
    }
    const writer = new ByteWriter();
    const dims = [...tables.dims.keys()].map((index) => this.dims[index]!);
    writeTables(writer, selected.length, { dims, texts: tables.texts.values });
    writer.copy(body);
    return writer.bytes();
  }

  private writeRow(i: number, tables: { dims: Map<number, number>; texts: Table<string> }): void {
    const { rows, rowAt, bucketRows } = this;
    const request = this.batch.requests[i]!;
    if (rowAt[i * 3]! < 0) {
      rowAt[i * 3] = rows.size;
      writeRowStart(rows, request);
      rowAt[i * 3 + 1] = rows.size;
      writeRowRest(rows, request);
      rowAt[i * 3 + 2] = rows.size;
    }
    bucketRows.copy(rows, rowAt[i * 3], rowAt[i * 3 + 1]);
    const dims = this.dimsIndex(request.dims);
    let index = tables.dims.get(dims);
    if (index === undefined) {
      index = tables.dims.size;
      tables.dims.set(dims, index);
    }
    bucketRows.unsigned(index);
    bucketRows.copy(rows, rowAt[i * 3 + 1], rowAt[i * 3 + 2]);
    if (request.calls.length > 0) writeCalls(bucketRows, tables.texts, request.calls);
  }

  /** Dimensions numbered by content; requests of one chunk share theirs, so most look-ups are by identity. */
  private dimsIndex(dims: Dimensions): number {
    let index = this.dimsOf.get(dims);
    if (index !== undefined) return index;
    const text = dimensionsKey(dims);
    index = this.dimsByText.get(text);
    if (index === undefined) {
      index = this.dims.push(dims) - 1;
      this.dimsByText.set(text, index);
    }
    this.dimsOf.set(dims, index);
    return index;
  }
}
