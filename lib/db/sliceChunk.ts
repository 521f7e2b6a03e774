import { arrayLiteral } from './arrayLiteral';
import { ARRAY_COLUMNS, CHUNK_ARRAYS, type ChunkRow } from './chunk';
import type { RawArrays } from './rawStore';

type Values = (string | number | null)[] | null;

/** The rows of a chunk at these places (from 1, ascending), as they are stored: nothing is decoded. */
export function sliceChunk(row: ChunkRow, positions: readonly number[]): ChunkRow {
  const slice: ChunkRow = { n: positions.length };
  for (const { name } of CHUNK_ARRAYS.request) {
    const values = row[name] as Values;
    slice[name] = values === null ? null : positions.map((position) => values[position - 1] ?? null);
  }
  const counts = (row.call_count ?? []) as (number | null)[];
  const starts: number[] = [];
  counts.reduce<number>((start, count) => {
    starts.push(start);
    return start + (count ?? 0);
  }, 0);
  for (const { name } of CHUNK_ARRAYS.call) {
    const values = row[name] as Values;
    const callsOf = (position: number) => {
      const start = starts[position - 1] ?? 0;
      return values!.slice(start, start + (counts[position - 1] ?? 0));
    };
    slice[name] = values === null ? null : positions.flatMap(callsOf);
  }
  return slice;
}

/** A row as read → what is inserted, without looking at what it means. */
export function encodeRow(row: ChunkRow): RawArrays {
  const times = (row.started_at as (number | null)[]).map((us) => us ?? 0);
  return {
    n: row.n,
    firstAtUs: times.reduce((a, b) => Math.min(a, b)),
    lastAtUs: times.reduce((a, b) => Math.max(a, b)),
    arrays: ARRAY_COLUMNS.map(({ name }) => {
      const values = row[name] as Values | undefined;
      return values === null || values === undefined ? null : arrayLiteral(values);
    }),
  };
}
