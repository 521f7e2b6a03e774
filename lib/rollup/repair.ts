import { Calendar } from '../core/calendar';
import { coarsen, FAMILIES, formatKey, fullKey, type Grouping, isStored, parseKey, type Tier } from '../core/cell';
import { type EncodedPart, foldEncoded } from '../core/fold';
import type { TimedRequest } from '../core/request';
import { type Client, inTransaction, lockFold, projectZone, rawCoveredFromS } from '../db/pendingChunks';
import { listRaw, readRaw } from '../db/readRaw';
import { projectsWithMarks, type RepairMark, takeMarks } from '../db/repairMarks';
import { deleteCells, insertParts, mergePlace } from '../db/rollupStore';

const REQUESTS_A_READ = 20_000;

type Repair = { tier: Tier; periodS: number; keys: Map<Grouping, Set<string>> };

function repairOf(marks: readonly RepairMark[]): Repair {
  const keys = new Map<Grouping, Set<string>>();
  for (const { grouping, key } of marks) keys.set(grouping, (keys.get(grouping) ?? new Set()).add(key));
  return { tier: marks[0]!.tier, periodS: marks[0]!.periodS, keys };
}

/** The endpoints that the marked cells are about; null when some cell is about all. */
function endpointsOf(repair: Repair): string[] | null {
  const endpoints = [...repair.keys.values()].flatMap((keys) => [...keys].map((key) => parseKey(key).endpoint));
  return endpoints.every((e) => typeof e === 'string') ? [...new Set(endpoints as string[])] : null;
}

/** The folded requests of the period that belong to a marked cell. */
async function requestsOf(
  client: Client,
  projectId: string,
  { repair, calendar }: { repair: Repair; calendar: Calendar },
): Promise<TimedRequest[]> {
  const { tier, periodS, keys } = repair;
  const range = { fromUs: periodS * 1e6, toUs: calendar.endS(tier, periodS) * 1e6, endpoints: endpointsOf(repair) };
  const heads = (await listRaw(client, projectId, range)).filter((h) => !h.isPending && !h.isQuarantined);
  const belongs = (request: TimedRequest) => {
    if (request.startedAtUs < range.fromUs || request.startedAtUs >= range.toUs) return false;
    const full = fullKey(request);
    return [...keys].some(([grouping, some]) => some.has(formatKey(coarsen(full, grouping))));
  };
  const requests: TimedRequest[] = [];
  let batch: typeof heads = [];
  let size = 0;
  const readBatch = async () => {
    for (const chunk of await readRaw(client, projectId, { heads: batch })) {
      if (chunk.rows === null) throw chunk.error;
      for (const { request } of chunk.rows) if (belongs(request)) requests.push(request);
    }
    batch = [];
    size = 0;
  };
  for (const head of heads) {
    batch.push(head);
    size += head.n;
    if (size >= REQUESTS_A_READ) await readBatch();
  }
  await readBatch();
  return requests;
}

async function replaceCells(
  client: Client,
  projectId: string,
  { repair, parts }: { repair: Repair; parts: readonly EncodedPart[] },
): Promise<void> {
  const { tier, periodS, keys } = repair;
  await deleteCells(client, projectId, repair);
  const fresh = parts
    .map((part) => ({ ...part, cells: new Map([...part.cells].filter(([key]) => keys.get(part.grouping)!.has(key))) }))
    .filter((part) => part.cells.size > 0);
  await insertParts(client, projectId, { parts: fresh, level: 0 });
  // A place that only lost cells may stand as one part with blocks that are not split canonically
  for (const grouping of keys.keys()) {
    for (const family of FAMILIES) {
      if (fresh.some((part) => part.grouping === grouping && part.family === family)) continue;
      if (isStored(grouping, tier, family)) await mergePlace(client, projectId, { grouping, tier, family, periodS });
    }
  }
}

/** Rebuilds the marked cells of one tier and period from raw; false when none is marked or another holds the lock. */
export async function repairNext(projectId: string): Promise<boolean> {
  return inTransaction(async (client) => {
    if (!(await lockFold(client, projectId, { wait: false }))) return false;
    const marks = await takeMarks(client, projectId);
    if (marks.length === 0) return false;
    const repair = repairOf(marks);
    // Raw is gone: what is stored is the best there is.
    if (repair.periodS < (await rawCoveredFromS(client, projectId))) return true;
    const calendar = new Calendar(await projectZone(client, projectId));
    const requests = await requestsOf(client, projectId, { repair, calendar });
    const parts = foldEncoded(requests, {
      calendar,
      groupings: [...repair.keys.keys()],
      wants: (tier, periodS) => tier === repair.tier && periodS === repair.periodS,
    });
    await replaceCells(client, projectId, { repair, parts });
    return true;
  });
}

/** Repairs one tier and period of every project that has marks. True when there may be more. */
export async function repairCells(): Promise<boolean> {
  let repaired = false;
  for (const projectId of await projectsWithMarks()) repaired = (await repairNext(projectId)) || repaired;
  return repaired;
}
