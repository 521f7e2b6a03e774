import type { Evidence, Term } from '../core/terms';
import { waterfallsOf } from '../core/trace/waterfall';
import type { Viewer } from '../core/viewer';
import { assembledTraces, type CloseReason } from '../db/assemblyStore';
import { replicaStarts } from '../db/hintStore';
import { addDays, utcDay } from '../db/partitions';
import { loadTermRules } from '../db/termRules';
import { spansOfTraces } from './traceSpans';

/** A stretch of the critical path; ms from the start of the request. */
export type WaterfallPiece = { fromMs: number; toMs: number; term: Term; evidence: Evidence };

export type WaterfallRow = {
  /** Null: a wait that no span shows. */
  spanId: string | null;
  name: string;
  service: string | null;
  kind: string | null;
  failed: boolean;
  depth: number;
  startMs: number;
  durationMs: number;
  /** On the critical path: its own, and with everything below it. */
  ownMs: number;
  subtreeMs: number;
  pieces: WaterfallPiece[];
  /** How far its stamps were moved to fit the clock of the root; 0 when they agree. */
  movedMs: number;
  /** Nobody waited for it: it went on after everything above it had ended. */
  outlives: boolean;
};

export type Waterfall = {
  traceId: string;
  e2eMs: number;
  ttftMs: number | null;
  rows: WaterfallRow[];
  spans: number;
  closeReason: CloseReason;
  /** 1, and one more for each time that late spans changed it. */
  version: number;
};

/** Why a request has no waterfall. */
export type NoWaterfall = 'not_traced' | 'expired';

/** Waits that no span shows, by their term. */
const WAITS: Record<string, string> = {
  queue: 'waiting in the queue',
  retry: 'failed attempts and back-off',
  coldStart: 'waiting for a replica to start',
};

const ms = (us: number) => us / 1_000;
const HOUR_US = 3_600_000_000;

/**
 * Where did this request spend its time, span by span? Spans are kept 7 days. `requestId` chooses the request of a trace
 * that holds several; the term rules are those in force now.
 */
export async function loadTrace({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: { traceId: string | null; requestId: string; startedAtUs: number };
}): Promise<Waterfall | NoWaterfall> {
  const { projectId } = viewer;
  const traceId = input.traceId?.toLowerCase() ?? '';
  if (!/^[0-9a-f]{32}$/.test(traceId)) return 'not_traced';
  const sinceDay = addDays(utcDay(input.startedAtUs), -1);
  const trace = (await assembledTraces(projectId, { traceIds: [traceId], sinceDay })).get(traceId);
  if (trace === undefined) return 'not_traced';
  const spans = (await spansOfTraces(projectId, [trace])).get(traceId) ?? [];
  if (spans.length === 0) return 'expired';
  const [{ rules }, starts] = await Promise.all([
    loadTermRules(projectId),
    replicaStarts(projectId, {
      ...{ fromUs: input.startedAtUs - HOUR_US, toUs: input.startedAtUs + HOUR_US, sinceDay },
    }),
  ]);
  const explained = waterfallsOf({ spans, rules, replicaStarts: starts });
  const own = explained.find((one) => input.requestId === `${traceId}-${one.rootSpanId}`) ?? explained[0];
  if (own === undefined) return 'not_traced';
  return {
    ...{ traceId, e2eMs: ms(own.e2eUs), ttftMs: own.ttftUs === null ? null : ms(own.ttftUs), spans: spans.length },
    ...{ closeReason: trace.reason, version: trace.version },
    rows: own.rows.map((row) => ({
      ...{ spanId: row.spanId, service: row.service, kind: row.kind, failed: row.isError, depth: row.depth },
      name: row.spanId === null ? (WAITS[row.name] ?? 'waiting') : row.name,
      ...{ startMs: ms(row.startUs), durationMs: ms(row.durationUs), ownMs: ms(row.ownPathUs) },
      ...{ subtreeMs: ms(row.subtreePathUs), movedMs: row.skewUs === null ? 0 : ms(-row.skewUs) },
      outlives: row.outlives,
      pieces: row.segments.map(({ startUs, endUs, term, evidence }) => ({
        ...{ fromMs: ms(startUs), toMs: ms(endUs), term, evidence },
      })),
    })),
  };
}
