// Seal: ten minutes after its end a UTC hour of a project is rewritten into sorted chunks.
//
//   hot chunks (folded) ─┬─ rows of hours that may be sealed ─► sorted by (endpoint, e2e ↓) ─► sealed chunks
//   sealed chunks of     │     ids seen twice: the first stays, the others leave the roll-ups (−old)
//   the same hours ──────┘     superseded rows: gone
//                        └─ rows of later hours ─► hot chunks again
//
// Then the roll-ups of the periods that are over are merged into one part each (finishPeriods).
//
// Everything is read and encoded before the project's lock in fold_state is taken; under it only the old chunks are
// deleted. A correction, a rebuild or another sealer that was faster is seen there (a chunk is missing, or other rows are
// superseded), and the transaction is given up. A process that dies leaves nothing.

import { Calendar } from '../core/calendar';
import type { TimedRequest } from '../core/request';
import type { Placed } from '../db/chunk';
import { giveCodes } from '../db/codes';
import { ensurePartitions, utcDay } from '../db/partitions';
import { type Client, inTransaction, lockFold, projectZone } from '../db/pendingChunks';
import { countSuperseded, deleteRaw, insertHotChunks, insertSealedChunk } from '../db/rawStore';
import { type RawHead, readRaw } from '../db/readRaw';
import { encodeSealed } from '../db/sealedChunk';
import {
  hourOf,
  idsAmong,
  lockSeal,
  nextToSeal,
  projectsToSeal,
  type ReadyBefore,
  type SealedHour,
  sealedOfHour,
} from '../db/sealQueue';
import { attributeSetId, seriesId } from '../db/series';
import { arrange } from './arrange';
import { finishPeriods } from './finishPeriods';
import { isolateBadRows } from './isolate';
import { takeAway } from './takeAway';

const DELAY_S = 600;
/** Requests a step reads: about 1 kB each while they are sorted. */
const REQUESTS_A_STEP = 160_000;
const READ_REQUESTS = 20_000;
/** An hour is written anew when what is new is at least this share of it, or when it lies in this many small chunks. */
const REWRITE_SHARE = 1 / 8;
const SMALL_CHUNK = 256;
const MOST_SMALL_CHUNKS = 16;

export type Sealed = { requests: number; duplicates: number };
const NOTHING: Sealed & { hours: number[] } = { requests: 0, duplicates: 0, hours: [] };

/** The seal was overtaken: nothing happened, the next turn sees what is there now. */
class OvertakenError extends Error {}

type Row = { head: RawHead; request: TimedRequest };

function readyBefore(nowMs: number): ReadyBefore {
  const nowS = Math.floor(nowMs / 1_000);
  return { firstAtUs: hourOf((nowS - DELAY_S) * 1e6) * 1e6, receivedS: nowS - DELAY_S };
}

/** The rows of chunks, attributes included. A chunk that cannot be read throws UnreadableError with its head. */
class UnreadableError extends Error {
  constructor(
    readonly head: RawHead,
    cause: unknown,
  ) {
    super(`chunk cannot be read: ${String(cause)}`, { cause });
  }
}

async function rowsOf(client: Client, projectId: string, heads: readonly RawHead[]): Promise<Row[]> {
  const rows: Row[] = [];
  let batch: RawHead[] = [];
  let size = 0;
  const readBatch = async () => {
    for (const chunk of await readRaw(client, projectId, { heads: batch, withAttributes: true })) {
      if (chunk.rows === null) throw new UnreadableError(chunk.head, chunk.error);
      for (const { request } of chunk.rows as Placed[]) rows.push({ head: chunk.head, request });
    }
    batch = [];
    size = 0;
  };
  for (const head of heads) {
    batch.push(head);
    size += head.n;
    if (size >= READ_REQUESTS) await readBatch();
  }
  if (batch.length > 0) await readBatch();
  return rows;
}

/** Which sealed chunks of an hour are written anew together with `fresh` requests. */
function chooseRewritten(existing: readonly SealedHour[], fresh: number): SealedHour[] {
  const total = existing.reduce((sum, head) => sum + head.n, 0);
  const small = existing.filter((head) => head.n < SMALL_CHUNK).length;
  const isWorth = fresh >= total * REWRITE_SHARE || small >= MOST_SMALL_CHUNKS;
  if (isWorth && total + fresh <= REQUESTS_A_STEP) return [...existing];
  return existing.filter((head) => head.voided > 0);
}

const newestOf = (heads: readonly RawHead[]) =>
  new Date(heads.reduce((newest, head) => Math.max(newest, head.receivedAt.getTime()), 0));

type Hour = { hourS: number; rows: Row[] };

function byHour(rows: readonly Row[], before: ReadyBefore): { hours: Hour[]; later: Row[] } {
  const hours = new Map<number, Hour>();
  const later: Row[] = [];
  for (const row of rows) {
    const hourS = hourOf(row.request.startedAtUs);
    if (hourS * 1e6 >= before.firstAtUs) later.push(row);
    else {
      const hour = hours.get(hourS) ?? { hourS, rows: [] };
      hours.set(hourS, hour);
      hour.rows.push(row);
    }
  }
  return { hours: [...hours.values()].sort((a, b) => a.hourS - b.hourS), later };
}

/** Rows with an id of their own, the first that came of each; the others are duplicates. */
function separate(rows: readonly Row[], known: ReadonlySet<string>): { kept: Row[]; duplicates: TimedRequest[] } {
  const seen = new Set(known);
  const kept: Row[] = [];
  const duplicates: TimedRequest[] = [];
  for (const row of rows) {
    if (seen.has(row.request.id)) duplicates.push(row.request);
    else {
      seen.add(row.request.id);
      kept.push(row);
    }
  }
  return { kept, duplicates };
}

type Written = { sources: RawHead[]; duplicates: TimedRequest[]; requests: number };

/** Writes one hour's sealed chunks (not yet visible); tells which sealed chunks they replace and what was doubled. */
async function writeHour(client: Client, projectId: string, hour: Hour): Promise<Written> {
  const existing = await sealedOfHour(client, projectId, hour.hourS);
  const rewritten = chooseRewritten(existing, hour.rows.length);
  const staying = existing.filter((head) => !rewritten.includes(head));
  const ids = new Set(hour.rows.map((row) => row.request.id));
  const known = staying.length === 0 ? new Set<string>() : await idsAmong(client, projectId, { heads: staying, ids });
  const old = await rowsOf(client, projectId, rewritten);
  const { kept, duplicates } = separate([...old, ...hour.rows], known);
  if (kept.length === 0) return { sources: rewritten, duplicates, requests: 0 };
  const codes = await giveCodes(projectId, {
    series: kept.map((row) => seriesId(row.request.dims)),
    attributeSets: kept.flatMap(({ request: r }) => (r.attributes === null ? [] : [attributeSetId(r.attributes)])),
  });
  const receivedAt = newestOf(kept.map((row) => row.head));
  const requests = kept.map((row) => row.request);
  for (const { head, requests: inChunk } of arrange(requests, codes)) {
    const columns = encodeSealed(inChunk, codes);
    await insertSealedChunk(client, projectId, { head: { ...head, hourS: hour.hourS, receivedAt }, columns });
  }
  return { sources: rewritten, duplicates, requests: hour.rows.length };
}

async function sealStep(projectId: string, nowMs: number): Promise<Sealed & { hours: number[] }> {
  const before = readyBefore(nowMs);
  return inTransaction(async (client) => {
    if (!(await lockSeal(client, projectId))) return NOTHING;
    const hot = await nextToSeal(client, projectId, { before, requests: REQUESTS_A_STEP });
    if (hot.length === 0) return NOTHING;
    const voidedHot = await countSuperseded(client, projectId, hot);
    const { hours, later } = byHour(await rowsOf(client, projectId, hot), before);
    await ensurePartitions(hours.map((hour) => utcDay(hour.hourS * 1e6)));
    const written: Written[] = [];
    for (const hour of hours) written.push(await writeHour(client, projectId, hour));
    const sources = [...hot, ...written.flatMap((w) => w.sources)];
    const voided = voidedHot + written.reduce((sum, w) => sum + voidedIn(w.sources), 0);
    const duplicates = written.flatMap((w) => w.duplicates);
    await lockFold(client, projectId, { wait: true });
    if ((await countSuperseded(client, projectId, sources)) !== voided) throw new OvertakenError();
    if ((await deleteRaw(client, projectId, sources)) !== sources.length) throw new OvertakenError();
    const receivedAt = newestOf(hot);
    const laterRequests = later.map((row) => row.request);
    await insertHotChunks(client, projectId, { requests: laterRequests, pending: false, receivedAt });
    const calendar = new Calendar(await projectZone(client, projectId));
    await takeAway(client, projectId, { requests: duplicates, calendar });
    const requests = written.reduce((sum, w) => sum + w.requests, 0);
    return { requests, duplicates: duplicates.length, hours: hours.map((hour) => hour.hourS) };
  });
}

const voidedIn = (heads: readonly RawHead[]) =>
  heads.reduce((sum, head) => sum + ((head as Partial<SealedHour>).voided ?? 0), 0);

/** One step of one project: at most an hour. The rows of a chunk that cannot be read go to quarantine. */
export async function sealProject(projectId: string, nowMs: number): Promise<Sealed> {
  try {
    const { hours, ...sealed } = await sealStep(projectId, nowMs);
    await finishPeriods(projectId, { hours, nowMs });
    return sealed;
  } catch (error) {
    if (error instanceof OvertakenError) return { requests: 0, duplicates: 0 };
    if (!(error instanceof UnreadableError) || error.head.sealed) throw error;
    const id = { day: error.head.day, chunk_id: error.head.chunkId };
    await isolateBadRows(projectId, { id, reason: error.message, pending: false });
    return { requests: 0, duplicates: 0 };
  }
}

/** One step of every project that has something to seal. */
export async function sealDue(nowMs: number): Promise<Sealed> {
  const total: Sealed = { requests: 0, duplicates: 0 };
  for (const projectId of await projectsToSeal(readyBefore(nowMs))) {
    const sealed = await sealProject(projectId, nowMs);
    total.requests += sealed.requests;
    total.duplicates += sealed.duplicates;
  }
  return total;
}
