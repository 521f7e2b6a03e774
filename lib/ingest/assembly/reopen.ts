// Closed traces that a hint of another trace concerns: attributed once more, with the spans they were closed with.

import { assembledTraces } from '../../db/assemblyStore';
import { type OpenHints, tracesMadeBy } from '../../db/hintStore';
import { addDays, utcDay } from '../../db/partitions';
import type { DueTrace, OpenTraces } from './openTraces';

/** Those of a project that are closed; what is still open takes the hint in when it closes. */
export async function tracesToReopen(projectId: string, hints: OpenHints, open: OpenTraces): Promise<DueTrace[]> {
  const traceIds = [...(await tracesMadeBy(projectId, hints))].filter((traceId) => !open.holds(traceId));
  const sinceDay = addDays(utcDay(Date.now() * 1_000), -1);
  const closed = await assembledTraces(projectId, { traceIds, sinceDay });
  return [...closed.values()].map(({ traceId, reason }) => ({ trace: closedTrace(traceId), reason }));
}

const closedTrace = (traceId: string): DueTrace['trace'] => ({
  ...{ traceId, members: [], parts: [], spans: 0, lastAtMs: 0 },
  ...{ rooted: false, clientHalf: false, serviceHalf: false },
});
