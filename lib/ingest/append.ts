// Group commit. Posts that arrive while a flush runs share the next one; there is no timer: a lone post is written at
// once. A post is answered after the COMMIT that holds its rows (or, for duplicates, after the one that held theirs).
//
// When a post's ledger key is known, the whole statement is undone: the known posts are answered as duplicates and the
// rest goes again. When a row cannot be stored, the posts go one by one, so that no project fails another.

import type { TimedRequest } from '../core/request';
import { addCounts } from '../db/counts';
import { type Flush, FlushError, flush, MAX_CHUNKS_A_FLUSH } from '../db/flush';
import { knownPosts, type LedgerEntry, ledgerName } from '../db/ledger';
import { recentIds } from '../db/recentIds';
import { env } from '../platform/env';
import { AnswerError } from '../platform/errors';
import { log } from '../platform/log';
import { singleton } from '../platform/singleton';
import { foldOverflow } from './cardinality';
import { RecentIds } from './recent';

/** What one HTTP post asks to store. `ledger` is null for a single event without an Idempotency-Key. */
export type Post = { projectId: string; requests: readonly TimedRequest[]; ledger: LedgerEntry | null };
export type Appended = { accepted: number; duplicates: number };

type Waiting = { post: Post; resolve: (appended: Appended) => void; reject: (error: unknown) => void };

const MAX_QUEUED_REQUESTS = 50_000;
const MAX_FLUSH_REQUESTS = 20_000;
const MAX_ROUNDS = 5;
const REFILL_MINUTES = 10;

function state() {
  return singleton('append', () => ({
    waiting: [] as Waiting[],
    queuedRequests: 0,
    running: null as Promise<void> | null,
    recent: null as RecentIds | null,
  }));
}

/** Stores a post; resolves after COMMIT. Throws AnswerError 429 (queue full), 503 (no database) or 400 (unstorable). */
export async function append(post: Post): Promise<Appended> {
  if (post.requests.length === 0) return { accepted: 0, duplicates: 0 };
  const s = state();
  if (s.queuedRequests + post.requests.length > MAX_QUEUED_REQUESTS) throw queueFull();
  s.queuedRequests += post.requests.length;
  return await new Promise<Appended>((resolve, reject) => {
    s.waiting.push({ post, resolve, reject });
    s.running ??= run();
  }).finally(() => {
    s.queuedRequests -= post.requests.length;
  });
}

/** Resolves when everything queued so far is answered. */
export async function appendIdle(): Promise<void> {
  while (state().running) await state().running;
}

/** Writes what waits, and says that it ended in the same step in which it found nothing more: what comes later begins anew. */
async function run(): Promise<void> {
  const s = state();
  try {
    while (s.waiting.length > 0) await settle(s.waiting.splice(0, fitting(s.waiting)));
  } finally {
    s.running = null;
  }
}

/** How many of those that wait share the next flush. */
function fitting(waiting: readonly Waiting[]): number {
  let [taken, size, chunks] = [0, 0, 0];
  for (const { post } of waiting) {
    size += post.requests.length;
    chunks += daysOf(post.requests);
    if (taken > 0 && (size > MAX_FLUSH_REQUESTS || chunks > MAX_CHUNKS_A_FLUSH)) break;
    taken++;
  }
  return taken;
}

/** On how many UTC days requests started: so many chunks they become. */
function daysOf(requests: readonly TimedRequest[]): number {
  const days = new Set<number>();
  let last = Number.NaN;
  for (const { startedAtUs } of requests) {
    const day = Math.floor(startedAtUs / 86_400_000_000);
    if (day !== last) days.add(day);
    last = day;
  }
  return days.size;
}

/** Writes a group and answers every post in it. Never throws. */
async function settle(group: Waiting[]): Promise<void> {
  try {
    const recent = await recentTable();
    const results = await store(
      group.map((w) => w.post),
      recent,
    );
    group.forEach((w, i) => {
      w.resolve(results[i]!);
    });
  } catch (error) {
    if (error instanceof FlushError && error.failure === 'unstorable' && group.length > 1) {
      for (const one of group) await settle([one]);
      return;
    }
    log().warn({ err: error, posts: group.length }, 'posts not stored');
    const answer = answerTo(error);
    for (const w of group) w.reject(answer);
  }
}

async function store(posts: readonly Post[], recent: RecentIds): Promise<Appended[]> {
  const known = new Set<string>();
  for (let round = 1; ; round++) {
    const plan = planFlush(posts, { recent, known });
    try {
      const { requests, overflow } = await admitted(plan.flush.requests);
      if (requests.length > 0) await flush({ requests, ledger: plan.flush.ledger });
      for (const [projectId, n] of overflow) addCounts(projectId, { overflow: n }, Date.now());
    } catch (error) {
      if (!(error instanceof FlushError) || error.failure !== 'known_post' || round === MAX_ROUNDS) throw error;
      for (const name of await knownPosts(plan.flush.ledger)) known.add(name);
      continue;
    }
    const nowMs = Date.now();
    for (const { projectId, request } of plan.flush.requests) recent.add(projectId, request.id, nowMs);
    return plan.results;
  }
}

/** Labels within the daily cap of series. What the database says on the way is said as the flush would say it. */
async function admitted(requests: Flush['requests']): ReturnType<typeof foldOverflow> {
  return foldOverflow(requests, { cap: env().SERIES_A_DAY, nowMs: Date.now() }).catch((error: unknown) => {
    throw new FlushError('unavailable', error);
  });
}

/** What of these posts is new: not in a known post, not stored minutes ago, not earlier in this same flush. */
function planFlush(
  posts: readonly Post[],
  { recent, known }: { recent: RecentIds; known: ReadonlySet<string> },
): { flush: Flush; results: Appended[] } {
  recent.beginFlush();
  const names = new Set<string>();
  const requests: { projectId: string; request: TimedRequest }[] = [];
  const ledger: LedgerEntry[] = [];
  const results = posts.map((post) => {
    const name = post.ledger && ledgerName(post.ledger);
    if (name !== null && (known.has(name) || names.has(name))) return { accepted: 0, duplicates: post.requests.length };
    let accepted = 0;
    for (const request of post.requests) {
      if (!recent.isNew(post.projectId, request.id)) continue;
      requests.push({ projectId: post.projectId, request });
      accepted++;
    }
    if (post.ledger && name !== null && accepted > 0) {
      names.add(name);
      ledger.push(post.ledger);
    }
    return { accepted, duplicates: post.requests.length - accepted };
  });
  return { flush: { requests, ledger }, results };
}

/** The table of recent ids, filled from the database before the first flush of this process. */
async function recentTable(): Promise<RecentIds> {
  const s = state();
  if (s.recent) return s.recent;
  const table = new RecentIds(Date.now());
  for (const { projectId, ids } of await recentIds(REFILL_MINUTES)) {
    for (const id of ids) table.add(projectId, id, Date.now());
  }
  s.recent = table;
  return table;
}

function answerTo(error: unknown): AnswerError {
  if (error instanceof FlushError && error.failure === 'unstorable') {
    return new AnswerError({
      status: 400,
      code: 'unstorable',
      message: 'The database refused a value of this batch; nothing of it was stored.',
      hint: 'Send it in smaller batches to find the event, and please report it.',
    });
  }
  return new AnswerError({
    status: 503,
    code: 'database_unavailable',
    message: 'The database does not answer; nothing of this batch was stored.',
    hint: 'Send the same batch again.',
    retryAfterS: 2,
  });
}

function queueFull(): AnswerError {
  return new AnswerError({
    status: 429,
    code: 'queue_full',
    message: 'Too many events are waiting to be written.',
    hint: 'Send the same batch again after the time in Retry-After.',
    retryAfterS: 1,
  });
}
