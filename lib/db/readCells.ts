// The one read of roll-ups: stored parts ∪ a live fold of what is not folded yet, from one snapshot.
//
// The first statement reads the parts and lists the pending chunks of the range. Only when there are any, a second one
// reads both parts and chunks together. So each answer comes from a single statement, and raw rows are not touched once
// everything is folded.

import { Calendar, type Period } from '../core/calendar';
import type { CellOf } from '../core/cell';
import {
  type Cell,
  emptyCell,
  FAMILIES,
  type Family,
  GROUPINGS,
  type Grouping,
  keyPrefix,
  mergeCell,
  TIERS,
  type Tier,
} from '../core/cell';
import { fold } from '../core/fold';
import { CHUNK_JSON, type ChunkRow } from './chunk';
import { decodeRows, projectZone } from './pendingChunks';
import { pool } from './pool';
import { mergeBlock } from './rollupStore';

export type CellQuestion = {
  projectId: string;
  grouping: Grouping;
  families: readonly Family[];
  /** Half-open, µs since the epoch; snapped outward to the finest tier. */
  fromUs: number;
  toUs: number;
  finest: Tier;
  coarsest?: Tier;
  /** Only cells of this endpoint (groupings that lead with it). */
  endpoint?: string;
  /** Keeps periods apart instead of merging the range. */
  byPeriod?: boolean;
};

/** Cells by key, one of each family asked for (families without requests are missing). */
export type CellSet = Map<Family, Cell>;

export type CellAnswer = {
  /** Period start (s) → key → cells; a single entry 0 unless asked by period. */
  periods: Map<number, Map<string, CellSet>>;
  effectiveFromUs: number;
  effectiveToUs: number;
  asOf: Date;
  calendar: Calendar;
  cover: Period[];
};

/** One family's cell of a set, empty when it has no requests. */
export function cellOf<F extends Family>(set: CellSet | undefined, family: F): CellOf<F> {
  return (set?.get(family) as CellOf<F> | undefined) ?? emptyCell(family);
}

type ReadRow = {
  family: number | null;
  period: string | null;
  body: Buffer | null;
  chunk: ChunkRow | null;
  as_of: Date;
};

const PENDING = `SELECT project_id, shard_key, day, chunk_id FROM pending
  WHERE project_id = $1 AND shard_key = 0 AND last_at >= $6 AND first_at < $7`;

function statement(withChunks: boolean): string {
  const parts = `SELECT family, period, body, NULL::json AS chunk, now() AS as_of FROM rollup
    WHERE project_id = $1 AND shard_key = 0 AND grouping = $2 AND family = ANY($3::smallint[])
      AND (tier, period) IN (SELECT t, p FROM unnest($4::smallint[], $5::bigint[]) AS wanted(t, p))
      AND ($8::text IS NULL OR (last_cell >= $8 AND first_cell < $9))`;
  const chunks = `SELECT NULL, NULL, NULL, ${withChunks ? CHUNK_JSON : 'NULL::json'}, now() FROM `;
  const source = withChunks
    ? `hot_chunk WHERE (project_id, shard_key, day, chunk_id) IN (${PENDING})`
    : `(${PENDING}) AS waiting`;
  return `${parts} UNION ALL ${chunks}${source}`;
}

/** Reads and merges the cells of a range. */
export async function readCells(question: CellQuestion): Promise<CellAnswer> {
  const calendar = new Calendar(await projectZone(pool(), question.projectId));
  const { finest, coarsest = 'day' } = question;
  const cover = calendar.cover(question.fromUs, question.toUs, { finest, coarsest });
  const last = cover.at(-1)!;
  const fromS = cover[0]!.startS;
  const toS = calendar.endS(last.tier, last.startS);
  const prefix = question.endpoint === undefined ? null : keyPrefix(question.endpoint);
  const values = [
    question.projectId,
    GROUPINGS.indexOf(question.grouping),
    question.families.map((f) => FAMILIES.indexOf(f)),
    cover.map((p) => TIERS.indexOf(p.tier)),
    cover.map((p) => p.startS),
    fromS * 1e6,
    toS * 1e6,
    prefix,
    prefix === null ? null : `${prefix}\u{10ffff}`,
  ];
  let { rows } = await pool().query<ReadRow>(statement(false), values);
  const nowWithoutRows = new Date();
  if (rows.some((row) => row.family === null)) ({ rows } = await pool().query<ReadRow>(statement(true), values));
  const periods = new Map<number, Map<string, CellSet>>();
  const asOf = rows[0]?.as_of ?? nowWithoutRows;
  const collect = collector(question, periods);
  collectParts(rows, prefix, collect);
  await collectLive({ question, rows, calendar, cover, collect });
  return { periods, effectiveFromUs: fromS * 1e6, effectiveToUs: toS * 1e6, asOf, calendar, cover };
}

type Collect = (at: { periodS: number; family: Family }, cells: Map<string, Cell>) => void;

function collector(question: CellQuestion, periods: CellAnswer['periods']): Collect {
  const prefix = question.endpoint === undefined ? '' : keyPrefix(question.endpoint);
  return ({ periodS, family }, cells) => {
    const at = question.byPeriod ? periodS : 0;
    const sets = periods.get(at) ?? new Map<string, CellSet>();
    periods.set(at, sets);
    for (const [key, cell] of cells) {
      if (!key.startsWith(prefix)) continue;
      const set = sets.get(key) ?? new Map<Family, Cell>();
      sets.set(key, set);
      const known = set.get(family);
      if (known) mergeCell(known, cell);
      else set.set(family, cell);
    }
  };
}

function collectParts(rows: readonly ReadRow[], prefix: string | null, collect: Collect): void {
  const keep = prefix === null ? undefined : (key: string) => key.startsWith(prefix);
  for (const { family, period, body } of rows) {
    if (family === null || body === null) continue;
    const cells = new Map<string, Cell>();
    mergeBlock(cells, { family: FAMILIES[family]!, body }, keep);
    collect({ periodS: Number(period), family: FAMILIES[family]! }, cells);
  }
}

async function collectLive(live: {
  question: CellQuestion;
  rows: readonly ReadRow[];
  calendar: Calendar;
  cover: readonly Period[];
  collect: Collect;
}): Promise<void> {
  const chunks = live.rows.flatMap((row) => (row.chunk === null ? [] : [row.chunk]));
  if (chunks.length === 0) return;
  const wanted = new Set(live.cover.map((p) => `${p.tier} ${p.startS}`));
  const parts = fold(await decodeRows(live.question.projectId, chunks), {
    calendar: live.calendar,
    groupings: [live.question.grouping],
    families: live.question.families,
    wants: (tier, periodS) => wanted.has(`${tier} ${periodS}`),
  });
  for (const part of parts) live.collect(part, part.cells);
}
