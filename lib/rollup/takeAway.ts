import type { Calendar } from '../core/calendar';
import { type Cell, negateCell } from '../core/cell';
import { type FoldedPart, fold } from '../core/fold';
import type { TimedRequest } from '../core/request';
import type { Client } from '../db/pendingChunks';
import { markForRepair, type RepairMark } from '../db/repairMarks';
import { compactParts, insertParts, storedCells } from '../db/rollupStore';

const isSample = (part: FoldedPart) => /^(sample|thin)/.test(part.family);

const histogramsOf = (cell: Cell) =>
  'histograms' in cell ? cell.histograms : 'histogram' in cell ? [cell.histogram] : [];

/**
 * Whether a stored cell holds the minimum or maximum that `taken` would remove. Also when nothing would be left: what the
 * fold adds before the parts are merged would inherit them.
 */
function losesExtreme(taken: Cell, stored: Cell | null): boolean {
  if (stored === null) return true;
  const before = histogramsOf(stored);
  return histogramsOf(taken).some((histogram, i) => {
    const { minUs, maxUs } = before[i]!;
    if (histogram.n === 0) return false;
    return minUs === null || maxUs === null || histogram.minUs! <= minUs || histogram.maxUs! >= maxUs;
  });
}

/**
 * Takes folded requests out of the roll-ups, under the project's lock: signed parts for what adds up; cells that lose a
 * minimum, a maximum or a request of their sample are marked for repair from raw.
 */
export async function takeAway(
  client: Client,
  projectId: string,
  { requests, calendar }: { requests: readonly TimedRequest[]; calendar: Calendar },
): Promise<void> {
  if (requests.length === 0) return;
  const parts = fold(requests, { calendar });
  const cells = parts.flatMap((part) =>
    [...part.cells].map(([key, cell]) => ({ part, key, cell, place: { ...part, key } })),
  );
  const extremes = cells.filter(({ cell }) => histogramsOf(cell).length > 0);
  const stored = await storedCells(
    client,
    projectId,
    extremes.map(({ place }) => place),
  );
  const lost = extremes.filter(({ cell }, i) => losesExtreme(cell, stored[i]!));
  const marks: RepairMark[] = [...lost, ...cells.filter(({ part }) => isSample(part))].map(({ part, key }) => ({
    ...{ grouping: part.grouping, tier: part.tier, periodS: part.periodS, key },
  }));
  await markForRepair(client, projectId, marks);
  const negative = parts.filter((part) => !isSample(part)).map(negated);
  await insertParts(client, projectId, { parts: negative, level: 0 });
  await compactParts(client, projectId, negative);
}

/** What folded requests say of quality is replaced by signed parts: sums alone, so nothing is to be repaired. */
export async function moveQuality(
  client: Client,
  projectId: string,
  { moved, calendar }: { moved: readonly { old: TimedRequest; now: TimedRequest }[]; calendar: Calendar },
): Promise<void> {
  const told = moved.filter(({ old, now }) => old.quality !== now.quality);
  if (told.length === 0) return;
  const partsOf = (requests: readonly TimedRequest[]) => fold(requests, { calendar, families: ['quality'] });
  const parts = [...partsOf(told.map(({ old }) => old)).map(negated), ...partsOf(told.map(({ now }) => now))];
  await insertParts(client, projectId, { parts, level: 0 });
  await compactParts(client, projectId, parts);
}

const negated = (part: FoldedPart): FoldedPart => ({
  ...part,
  cells: new Map([...part.cells].map(([key, cell]) => [key, negateCell(cell)])),
});

/** Whether two requests are the same to every roll-up but that of quality: a correction leaves the others alone. */
export function areEqualInRollups(a: TimedRequest, b: TimedRequest): boolean {
  const seen = (request: TimedRequest) =>
    JSON.stringify({ ...request, quality: 0, sessionId: 0, attributes: 0, serviceUs: 0 });
  return seen(a) === seen(b);
}
