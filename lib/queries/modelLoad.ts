// How many requests were in flight when each began: as its client told, else by Little's law over the endpoint's
// five-minute counts.

import { inFlightByLittle } from '../core/models/concurrency';
import type { SampledRequest } from '../core/request';
import type { Vantage } from '../core/terms';
import type { Snapshot } from '../db/snapshot';
import { merged } from './modelCells';
import type { Loaded } from './modelSample';

const SLOT_S = 300;
/** Five-minute counts of longer ranges would be thousands of periods. */
const LONGEST_US = 8 * 86_400e6;
const TOLD_BY = 0.5;

export type LoadSource = 'told' | 'little' | null;

export async function readLoad(
  snapshot: Snapshot,
  question: {
    rows: readonly SampledRequest[];
    endpoint: string;
    vantage: Vantage | null;
    fromUs: number;
    toUs: number;
  },
): Promise<{ rows: Loaded[]; source: LoadSource }> {
  const { rows, endpoint, vantage, fromUs, toUs } = question;
  const weightOf = (some: readonly SampledRequest[]) => some.reduce((sum, row) => sum + row.weight, 0);
  const isTold = weightOf(rows.filter((row) => row.inFlight !== null)) >= TOLD_BY * weightOf(rows);
  if (isTold)
    return { rows: rows.map((row) => ({ row, inFlight: row.inFlight })), source: rows.length ? 'told' : null };
  if (toUs - fromUs > LONGEST_US) return { rows: rows.map((row) => ({ row, inFlight: null })), source: null };
  const { periods } = await snapshot.read({
    ...{ fromUs, toUs, finest: '5min', coarsest: '5min', byPeriod: true, grouping: 'endpoint', families: ['e2e'] },
    ...{ leading: [{ endpoint }], keep: (key) => key.vantage === vantage && !key.cached },
  });
  const bySlot = new Map([...periods].map(([startS, some]) => [startS, inFlightByLittle(merged(some, 'e2e'), SLOT_S)]));
  const inFlightOf = ({ startedAtUs }: SampledRequest) =>
    bySlot.get(snapshot.calendar.startS('5min', startedAtUs)) ?? null;
  return {
    rows: rows.map((row) => ({ row, inFlight: inFlightOf(row) })),
    source: bySlot.size > 0 ? 'little' : null,
  };
}
