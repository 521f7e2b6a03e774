// The daily cap of series. Every new combination of labels is a cell in every hour from then on, so a label that holds an
// id would make the roll-ups as large as the raw data. Beyond the cap of the day a request that would open a new series
// loses its most varied labels to `__overflow__`, one after the other: endpoint, version, model, then all the rest. The
// request itself is stored and counted, and so is how many were folded: nothing is dropped silently.

import type { Dimensions, TimedRequest } from '../core/request';
import { utcDay } from '../db/partitions';
import { countSeriesSince, isKnownSeries, loadKnownSeries, seriesId } from '../db/series';

export const OVERFLOW = '__overflow__';

type Label = Exclude<keyof Dimensions, 'vantage'>;
/** What is folded, in order; each step folds what the steps before it did, too. */
const STEPS: readonly (readonly Label[])[] = [
  ['endpoint'],
  ['endpoint', 'version'],
  ['endpoint', 'version', 'model'],
  ['endpoint', 'version', 'model', 'environment', 'clientRegion', 'serviceRegion', 'provider', 'modelRegion'],
];
/** Folded combinations are series too: so many of them, as a share of the cap, before the next label goes. */
const OVERFLOW_SHARE = 0.1;

type Row = { projectId: string; request: TimedRequest };
type Admitted = { requests: readonly Row[]; overflow: ReadonlyMap<string, number> };

/**
 * Requests as they may be stored; `overflow` counts by project those that lost labels. Processes side by side may pass
 * the cap by what they open at the same moment. Throws what the database throws.
 */
export async function foldOverflow(
  rows: readonly Row[],
  { cap, nowMs }: { cap: number; nowMs: number },
): Promise<Admitted> {
  const unknown = unknownSeries(rows);
  const replacements = new Map<string, ReadonlyMap<string, Dimensions>>();
  for (const [projectId, dims] of unknown) {
    await loadKnownSeries(projectId, dims.keys());
    const fresh = [...dims].filter(([id]) => !isKnownSeries(projectId, id));
    if (fresh.length === 0) continue;
    const room = cap - (await countSeriesSince(projectId, utcDay(nowMs * 1_000)));
    const beyond = fresh.slice(Math.max(0, room));
    if (beyond.length > 0) replacements.set(projectId, await fold(projectId, beyond, room + cap * OVERFLOW_SHARE));
  }
  if (replacements.size === 0) return { requests: rows, overflow: new Map() };
  const overflow = new Map<string, number>();
  const requests = rows.map((row) => {
    const dims = replacements.get(row.projectId)?.get(seriesId(row.request.dims));
    if (dims === undefined) return row;
    overflow.set(row.projectId, (overflow.get(row.projectId) ?? 0) + 1);
    return { projectId: row.projectId, request: { ...row.request, dims } };
  });
  return { requests, overflow };
}

/** Project → series id → dimensions, of what this process has not seen stored. Mostly empty. */
function unknownSeries(rows: readonly Row[]): Map<string, Map<string, Dimensions>> {
  const unknown = new Map<string, Map<string, Dimensions>>();
  for (const { projectId, request } of rows) {
    const id = seriesId(request.dims);
    if (isKnownSeries(projectId, id)) continue;
    const ofProject = unknown.get(projectId) ?? new Map<string, Dimensions>();
    unknown.set(projectId, ofProject);
    ofProject.set(id, request.dims);
  }
  return unknown;
}

function withoutLabels(dims: Dimensions, labels: readonly Label[]): Dimensions {
  const folded = { ...dims };
  // A label that was not told stays so
  for (const label of labels) if (folded[label] !== null) folded[label] = OVERFLOW;
  return folded;
}

/** Series id → the dimensions to store instead. `room`: how many new folded series may be opened. */
async function fold(
  projectId: string,
  beyond: readonly [string, Dimensions][],
  room: number,
): Promise<Map<string, Dimensions>> {
  const choices = beyond.map(([id, dims]) => ({ id, steps: STEPS.map((labels) => withoutLabels(dims, labels)) }));
  await loadKnownSeries(
    projectId,
    choices.flatMap(({ steps }) => steps.map(seriesId)),
  );
  const opened = new Set<string>();
  const isOpen = (dims: Dimensions) => {
    const id = seriesId(dims);
    if (isKnownSeries(projectId, id) || opened.has(id)) return true;
    if (opened.size >= room) return false;
    opened.add(id);
    return true;
  };
  return new Map(choices.map(({ id, steps }) => [id, steps.find(isOpen) ?? steps.at(-1)!]));
}
