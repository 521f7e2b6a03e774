// What the trust page counts. Summed in memory and written within half a second, so that the row everybody adds to is
// never locked by a flush. A process that is killed loses at most that half second of counts, never a request.

import { log } from '../platform/log';
import { singleton } from '../platform/singleton';
import { arrayLiteral } from './arrayLiteral';
import { pool } from './pool';

const DELAY_MS = 500;
const HOUR_MS = 3_600_000;
const KEPT_KEYS = 50_000;

type Counter = { projectId: string; hourMs: number; kind: string; count: number };

function state() {
  return singleton('counts', () => ({
    counters: new Map<string, Counter>(),
    timer: null as NodeJS.Timeout | null,
    writing: Promise.resolve(),
  }));
}

/** Adds to what a project counts in this hour. `kinds` holds kind → count; zeros are left out. */
export function addCounts(projectId: string, kinds: Readonly<Record<string, number>>, nowMs: number): void {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  for (const [kind, count] of Object.entries(kinds)) if (count > 0) add({ projectId, hourMs, kind, count });
  schedule();
}

function add(counter: Counter): void {
  const { counters } = state();
  const key = `${counter.projectId}/${counter.hourMs}/${counter.kind}`;
  const existing = counters.get(key);
  if (existing) existing.count += counter.count;
  else if (counters.size < KEPT_KEYS) counters.set(key, { ...counter });
}

function schedule(): void {
  const s = state();
  if (s.timer !== null || s.counters.size === 0) return;
  s.timer = setTimeout(() => {
    s.timer = null;
    void writeCounts().then(schedule);
  }, DELAY_MS);
  s.timer.unref();
}

/** Writes what was counted so far; keeps it for the next time when the database does not answer. Never throws. */
export function writeCounts(): Promise<void> {
  const s = state();
  s.writing = s.writing.then(async () => {
    const taken = [...s.counters.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter);
    s.counters.clear();
    if (taken.length === 0) return;
    try {
      await upsert(taken);
    } catch (error) {
      log().warn({ err: error }, 'ingest counts not written yet; trying again');
      for (const counter of taken) add(counter);
    }
  });
  return s.writing;
}

async function upsert(counters: Counter[]): Promise<void> {
  await pool().query(
    `INSERT INTO ingest_count AS c (project_id, shard_key, hour, kind, count)
     SELECT p, 0, to_timestamp(hour), kind, count
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[]) AS r(p, hour, kind, count)
     ON CONFLICT (project_id, shard_key, hour, kind) DO UPDATE SET count = c.count + excluded.count`,
    [
      arrayLiteral(counters.map((c) => c.projectId)),
      arrayLiteral(counters.map((c) => c.hourMs / 1_000)),
      arrayLiteral(counters.map((c) => c.kind)),
      arrayLiteral(counters.map((c) => c.count)),
    ],
  );
}
