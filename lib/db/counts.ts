// What the trust page counts. Summed in memory and written within half a second, so that the rows everybody adds to are
// never locked by a flush. A process that is killed loses at most that half second of counts, never a request.

import { log } from '../platform/log';
import { singleton } from '../platform/singleton';
import { arrayLiteral } from './arrayLiteral';
import { pool } from './pool';

const DELAY_MS = 500;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const KEPT_ROWS = 50_000;

/** What one post says of its key. Times in ms since the epoch; `skewMs`: receipt − sending, null when not corrected. */
export type KeyNote = { keyId: string; newestEventMs: number | null; receivedAtMs: number; skewMs: number | null };

type Counter = { projectId: string; hourMs: number; kind: string; count: number };
type KeyDay = {
  projectId: string;
  dayMs: number;
  keyId: string;
  newestEventMs: number | null;
  receivedAtMs: number;
  skewedPosts: number;
  skewMsMin: number | null;
  skewMsMax: number | null;
};

function state() {
  return singleton('counts', () => ({
    counters: new Map<string, Counter>(),
    keyDays: new Map<string, KeyDay>(),
    timer: null as NodeJS.Timeout | null,
    writing: Promise.resolve(),
  }));
}

/** Adds to what a project counts in this hour. `kinds` holds kind → count; zeros are left out. */
export function addCounts(projectId: string, kinds: Readonly<Record<string, number>>, nowMs: number): void {
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  for (const kind in kinds) {
    const count = kinds[kind]!;
    if (count > 0) add({ projectId, hourMs, kind, count });
  }
  schedule();
}

/** Notes a post of a key in its row of the day. */
export function noteKey(projectId: string, note: KeyNote): void {
  const { keyId, newestEventMs, receivedAtMs, skewMs } = note;
  const dayMs = Math.floor(receivedAtMs / DAY_MS) * DAY_MS;
  const skew = { skewedPosts: skewMs === null ? 0 : 1, skewMsMin: skewMs, skewMsMax: skewMs };
  addKeyDay({ projectId, dayMs, keyId, newestEventMs, receivedAtMs, ...skew });
  schedule();
}

function add(counter: Counter): void {
  const { counters } = state();
  const key = `${counter.projectId}/${counter.hourMs}/${counter.kind}`;
  const existing = counters.get(key);
  if (existing) existing.count += counter.count;
  else if (counters.size < KEPT_ROWS) counters.set(key, counter);
}

const greatest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b));
const least = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b));

function addKeyDay(row: KeyDay): void {
  const { keyDays } = state();
  const key = `${row.projectId}/${row.dayMs}/${row.keyId}`;
  const existing = keyDays.get(key);
  if (!existing) {
    if (keyDays.size < KEPT_ROWS) keyDays.set(key, row);
    return;
  }
  existing.newestEventMs = greatest(existing.newestEventMs, row.newestEventMs);
  existing.receivedAtMs = Math.max(existing.receivedAtMs, row.receivedAtMs);
  existing.skewedPosts += row.skewedPosts;
  existing.skewMsMin = least(existing.skewMsMin, row.skewMsMin);
  existing.skewMsMax = greatest(existing.skewMsMax, row.skewMsMax);
}

function schedule(): void {
  const s = state();
  if (s.timer !== null || s.counters.size + s.keyDays.size === 0) return;
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
    await writeRows(s.counters, { write: upsertCounters, keep: add });
    await writeRows(s.keyDays, { write: upsertKeyDays, keep: addKeyDay });
  });
  return s.writing;
}

/** Takes all rows out of `from`, sorted by their key (no deadlocks), and writes them in one statement. */
async function writeRows<Row>(
  from: Map<string, Row>,
  { write, keep }: { write: (rows: Row[]) => Promise<void>; keep: (row: Row) => void },
): Promise<void> {
  const taken = [...from.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  from.clear();
  if (taken.length === 0) return;
  try {
    await write(taken);
  } catch (error) {
    log().warn({ err: error }, 'ingest counts not written yet; trying again');
    for (const row of taken) keep(row);
  }
}

async function upsertCounters(counters: Counter[]): Promise<void> {
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

async function upsertKeyDays(rows: KeyDay[]): Promise<void> {
  await pool().query(
    `INSERT INTO ingest_key_day AS k
       (project_id, shard_key, day, key_id, newest_event, received_at, skewed_posts, skew_ms_min, skew_ms_max)
     SELECT p, 0, (to_timestamp(d / 1000.0) AT TIME ZONE 'UTC')::date, key, to_timestamp(newest / 1000.0),
       to_timestamp(received / 1000.0), skewed, low, high
     FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
       AS r(p, d, key, newest, received, skewed, low, high)
     ON CONFLICT (project_id, shard_key, day, key_id) DO UPDATE SET
       newest_event = greatest(k.newest_event, excluded.newest_event),
       received_at = greatest(k.received_at, excluded.received_at),
       skewed_posts = k.skewed_posts + excluded.skewed_posts,
       skew_ms_min = least(k.skew_ms_min, excluded.skew_ms_min),
       skew_ms_max = greatest(k.skew_ms_max, excluded.skew_ms_max)`,
    [
      arrayLiteral(rows.map((r) => r.projectId)),
      arrayLiteral(rows.map((r) => r.dayMs)),
      arrayLiteral(rows.map((r) => r.keyId)),
      arrayLiteral(rows.map((r) => r.newestEventMs)),
      arrayLiteral(rows.map((r) => r.receivedAtMs)),
      arrayLiteral(rows.map((r) => r.skewedPosts)),
      arrayLiteral(rows.map((r) => r.skewMsMin)),
      arrayLiteral(rows.map((r) => r.skewMsMax)),
    ],
  );
}
