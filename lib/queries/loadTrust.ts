import type { Calendar } from '../core/calendar';
import { parseRegion } from '../core/regions';
import { EVIDENCES, type Evidence, TERMS, type Term, type Vantage } from '../core/terms';
import { type Finding, type IngestCounts, judgeTrust, type StoreState, sumCounts } from '../core/trust';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import {
  type CountRow,
  type QuarantineRow,
  readIngestCounts,
  readKeyDays,
  readQuarantine,
  readStoreState,
  type StoreRow,
} from '../db/readTrust';
import { loadAllSeries } from '../db/series';
import { type Member, withSnapshot } from '../db/snapshot';
import { type AnswerRange, formatInstant, rangeOf } from './answer';
import { poolTerms } from './breakdownTerms';
import { chooseVantage, countOf, isTimed, readPopulation } from './population';
import type { Scope } from './scope';

/** How the requests of the scope know one term. The four counts add up to `count` of the answer. */
export type TermEvidence = Record<Evidence, number> & {
  /** Share that has the term at all; null without requests. */
  coverage: number | null;
};

export type KeyFreshness = {
  id: string;
  name: string;
  scope: string;
  prefix: string;
  revoked: boolean;
  /** Start of its newest accepted event, corrected for its clock, and its last post; RFC 3339, null: never. */
  newestEventAt: string | null;
  receivedAt: string | null;
  /** Posts of this range whose clock was more than 2 s off, and by how much (ms, receipt − sending). */
  skewedPosts: number;
  skewMsMin: number | null;
  skewMsMax: number | null;
};

export type RegionName = { field: 'clientRegion' | 'serviceRegion' | 'modelRegion'; name: string };

export type ReceivedBucket = { at: string } & Pick<IngestCounts, 'accepted' | 'duplicates' | 'rejected' | 'late'>;

export type Trust = AnswerRange & {
  findings: Finding[];
  received: IngestCounts;
  /** By hour of receipt, or by local day for ranges beyond three days. Buckets without events are there, with zeros. */
  receivedOverTime: ReceivedBucket[];
  store: StoreState;
  quarantined: QuarantineRow[];
  keys: KeyFreshness[];
  /** Names that are no known region: kept as sent, without a round trip. */
  unknownRegions: RegionName[];
  vantage: Vantage | null;
  /** Requests of the scope that the evidence is about (errors have none). */
  count: number;
  evidence: Record<Term, TermEvidence>;
};

const QUARANTINE_SHOWN = 20;
const HOURLY_UP_TO_US = 3 * 86_400e6;
const WRITING_SCOPES = ['ingest', 'probe', 'browser'];

/** Can these numbers be trusted? What was received, what was not, what is on its way, and how terms are known. */
export async function loadTrust({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Trust> {
  const { projectId } = viewer;
  const range = { fromUs: input.fromUs, toUs: input.toUs };
  const [counted, store, quarantined, unknownRegions, keys] = await Promise.all([
    readIngestCounts(projectId, range),
    readStoreState(projectId),
    readQuarantine(projectId, QUARANTINE_SHOWN),
    findUnknownRegions(projectId),
    loadKeyFreshness(projectId, range),
  ]);
  const received = sumCounts(counted);
  const state = stateOf(store);
  return withSnapshot(projectId, async (snapshot) => {
    const hours = { ...range, finest: 'hour' as const };
    const vantage = await chooseVantage(snapshot, input, hours);
    const question = { scope: input, vantage, range: hours, dimensions: [], families: ['terms', 'counts'] as const };
    const timed = (await readPopulation(snapshot, question)).members.filter(isTimed);
    const count = countOf(timed, 'n');
    return {
      ...rangeOf(snapshot, snapshot.effective(hours), input.timeZone),
      findings: judgeTrust(received, state),
      ...{ received, receivedOverTime: overTime(counted, input, snapshot.calendar), store: state },
      ...{ quarantined, keys, unknownRegions, vantage, count, evidence: evidenceOf(timed, count) },
    };
  });
}

function stateOf(store: StoreRow): StoreState {
  const { oldestPendingMs, nowMs } = store;
  return {
    pending: {
      chunks: store.pendingChunks,
      requests: store.pendingRequests,
      oldestReceivedAt: oldestPendingMs === null ? null : new Date(oldestPendingMs).toISOString(),
    },
    foldLagMs: oldestPendingMs === null ? 0 : Math.max(0, nowMs - oldestPendingMs),
    quarantine: { chunks: store.quarantinedChunks, requests: store.quarantinedRequests },
    unsealed: { chunks: store.unsealedChunks, requests: store.unsealedRequests },
  };
}

/** Region names that were ever sent and are no known region, as sent. */
async function findUnknownRegions(projectId: string): Promise<RegionName[]> {
  const series = await loadAllSeries(projectId);
  return (['clientRegion', 'serviceRegion', 'modelRegion'] as const).flatMap((field) => {
    const names = new Set(series.map((dims) => dims[field]).filter((name) => name !== null));
    return [...names]
      .filter((name) => parseRegion(name) === null)
      .sort()
      .map((name) => ({ field, name }));
  });
}

async function loadKeyFreshness(projectId: string, range: { fromUs: number; toUs: number }): Promise<KeyFreshness[]> {
  const [keys, days] = await Promise.all([
    prisma().apiKey.findMany({ where: { projectId, scope: { in: WRITING_SCOPES } }, orderBy: { createdAt: 'asc' } }),
    readKeyDays(projectId, range),
  ]);
  return keys.flatMap(({ id, name, scope, prefix, revokedAt }) => {
    const seen = days.find((day) => day.keyId === id);
    if (revokedAt !== null && seen === undefined) return [];
    return {
      ...{ id, name, scope, prefix, revoked: revokedAt !== null },
      ...{ newestEventAt: seen?.newestEventAt ?? null, receivedAt: seen?.receivedAt ?? null },
      ...{
        skewedPosts: seen?.skewedPosts ?? 0,
        skewMsMin: seen?.skewMsMin ?? null,
        skewMsMax: seen?.skewMsMax ?? null,
      },
    };
  });
}

function overTime(
  counted: readonly CountRow[],
  { fromUs, toUs, timeZone }: Scope,
  calendar: Calendar,
): ReceivedBucket[] {
  // hours of receipt are UTC hours: in zones of a half hour an hour counts in the bucket that its start is in
  const tier = toUs - fromUs <= HOURLY_UP_TO_US ? ('hour' as const) : ('day' as const);
  const grouped = new Map<number, CountRow[]>();
  for (const row of counted) {
    const startS = calendar.startS(tier, row.hourMs * 1000);
    grouped.set(startS, [...(grouped.get(startS) ?? []), row]);
  }
  const starts = new Set(calendar.cover(fromUs, toUs, { finest: tier, coarsest: tier }).map((period) => period.startS));
  for (const start of grouped.keys()) starts.add(start);
  return [...starts]
    .sort((a, b) => a - b)
    .map((startS) => {
      const { accepted, duplicates, rejected, late } = sumCounts(grouped.get(startS) ?? []);
      return { at: formatInstant(startS * 1000, timeZone), accepted, duplicates, rejected, late };
    });
}

function evidenceOf(members: readonly Member[], count: number): Record<Term, TermEvidence> {
  const totals = poolTerms(members).evidence;
  return Object.fromEntries(
    TERMS.map((term, i) => {
      const counts = Object.fromEntries(EVIDENCES.map((e, j) => [e, totals[i * EVIDENCES.length + j]!]));
      const known = (counts.measured ?? 0) + (counts.derived ?? 0) + (counts.assumed ?? 0);
      return [term, { ...counts, missing: count - known, coverage: count === 0 ? null : known / count }];
    }),
  ) as Record<Term, TermEvidence>;
}
