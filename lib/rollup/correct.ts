// Corrections of stored requests: a late span, an outcome told later. Raw gets the new row, the old one is superseded, and
// the roll-ups get −old and (through the fold) +new, all in one transaction under the project's lock.
//
//   old row not folded yet  → the fold and every read leave it out from now on
//   old row folded          → signed parts; cells that lose a minimum, a maximum or a sampled row are marked for repair
//   roll-ups see no change  → (attributes, …) only raw changes; of quality alone its sums move

import { Calendar } from '../core/calendar';
import type { TimedRequest } from '../core/request';
import { locate } from '../db/locate';
import { ensurePartitions, utcDay } from '../db/partitions';
import { type Client, inTransaction, lockFold, projectZone, unfoldedAmong } from '../db/pendingChunks';
import { pool } from '../db/pool';
import { type RawPlace, readPlaces } from '../db/rawRows';
import { insertHotChunks, insertSuperseded, supersededAmong } from '../db/rawStore';
import { storeReferenced } from '../db/series';
import { areEqualInRollups, moveQuality, takeAway } from './takeAway';

/** One stored request to correct: by its id, or by its trace. */
export type Correction = {
  id: string | null;
  traceId?: string | null;
  /** When it began, µs since the epoch; `withinUs` (default 0: exactly) is how far off that may be. */
  startedAtUs: number;
  withinUs?: number;
  /** What is stored → what it should be; null removes it. Pure: it may be called again when the data moved meanwhile. */
  change: (stored: TimedRequest) => TimedRequest | null;
};

export type Corrected = 'corrected' | 'unchanged' | 'not_found';

type Stored = { places: RawPlace[]; request: TimedRequest };

const nameOf = (place: RawPlace) => `${place.chunkId}/${place.position}`;

async function find(client: Pick<Client, 'query'>, projectId: string, correction: Correction): Promise<RawPlace[]> {
  const { id, traceId = null, startedAtUs, withinUs = 0 } = correction;
  // A second around it is one hour's chunks: the wide search is for what that does not find
  for (const us of new Set([Math.min(withinUs, 1e6), withinUs])) {
    const range = { fromUs: startedAtUs - us, toUs: startedAtUs + us + 1 };
    const places = await locate(client, projectId, { id, traceId, ...range });
    if (places.length > 0) return places;
  }
  return [];
}

/** The requests behind each correction, as they are now. `found` was looked up before the lock and may have moved. */
async function storedFor(
  client: Client,
  projectId: string,
  { corrections, found }: { corrections: readonly Correction[]; found: readonly RawPlace[][] },
): Promise<Stored[][]> {
  const places = found.flat();
  const [requests, superseded] = [
    await readPlaces(client, projectId, places),
    await supersededAmong(client, projectId, places),
  ];
  const known = new Map(places.map((place, i) => [nameOf(place), requests[i]]));
  const isThere = (place: RawPlace) => known.get(nameOf(place)) !== undefined && !superseded.has(nameOf(place));
  const stored: Stored[][] = [];
  for (const [i, correction] of corrections.entries()) {
    let some = found[i]!;
    if (some.length === 0 || !some.every(isThere)) {
      some = await find(client, projectId, correction);
      const again = await readPlaces(client, projectId, some);
      for (const [k, place] of some.entries()) known.set(nameOf(place), again[k]);
    }
    const byId = new Map<string, Stored>();
    for (const place of some) {
      const request = known.get(nameOf(place))!;
      // An id that was stored twice: the first counts, and both make way.
      const same = byId.get(request.id);
      if (same) same.places.push(place);
      else byId.set(request.id, { places: [place], request });
    }
    stored.push([...byId.values()]);
  }
  return stored;
}

type Change = { places: RawPlace[]; old: TimedRequest; now: TimedRequest | null };

/** What is to change, a request once, however many corrections it has; and what each correction came to. */
function plan(
  corrections: readonly Correction[],
  stored: readonly Stored[][],
): { changes: Change[]; results: Corrected[] } {
  const byPlace = new Map<string, Change>();
  const results = corrections.map((correction, i): Corrected => {
    if (stored[i]!.length === 0) return 'not_found';
    let changed = false;
    for (const { places, request } of stored[i]!) {
      const name = nameOf(places[0]!);
      const known = byPlace.get(name) ?? { places, old: request, now: request };
      const now = known.now === null ? null : correction.change(known.now);
      if (JSON.stringify(now) === JSON.stringify(known.now)) continue;
      byPlace.set(name, { ...known, now });
      changed = true;
    }
    return changed ? 'corrected' : 'unchanged';
  });
  return { changes: [...byPlace.values()], results };
}

async function write(client: Client, projectId: string, changes: readonly Change[]): Promise<void> {
  const unfolded = await unfoldedAmong(
    client,
    projectId,
    changes.flatMap((change) => change.places),
  );
  const isFolded = (place: RawPlace) => place.sealed || !unfolded.has(place.chunkId);
  const moved: { old: TimedRequest; now: TimedRequest }[] = [];
  const fresh: TimedRequest[] = [];
  const taken: TimedRequest[] = [];
  for (const { places, old, now } of changes) {
    const folded = places.filter(isFolded).length;
    if (now !== null && folded === 1 && places.length === 1 && areEqualInRollups(old, now)) moved.push({ old, now });
    else {
      if (now !== null) fresh.push(now);
      for (let i = 0; i < folded; i++) taken.push(old);
    }
  }
  const rawOnly = moved.map(({ now }) => now);
  const all = [...rawOnly, ...fresh];
  await ensurePartitions(new Set(all.map((request) => utcDay(request.startedAtUs))));
  await storeReferenced(all.map((request) => ({ projectId, dims: request.dims, attributes: request.attributes })));
  const receivedAt = new Date();
  await insertHotChunks(client, projectId, { requests: rawOnly, pending: false, receivedAt });
  await insertHotChunks(client, projectId, { requests: fresh, pending: true, receivedAt });
  await insertSuperseded(
    client,
    projectId,
    changes.flatMap(({ places, old }) => places.map((place) => ({ ...place, id: old.id }))),
  );
  const calendar = new Calendar(await projectZone(client, projectId));
  await takeAway(client, projectId, { requests: taken, calendar });
  await moveQuality(client, projectId, { moved, calendar });
}

/**
 * The same within the caller's transaction, which this takes the project's lock in: corrections and what the caller
 * writes beside them commit together.
 */
export async function correctWithin(
  client: Client,
  projectId: string,
  corrections: readonly Correction[],
): Promise<Corrected[]> {
  const found: RawPlace[][] = [];
  for (const correction of corrections) found.push(await find(pool(), projectId, correction));
  await lockFold(client, projectId, { wait: true });
  const { changes, results } = plan(corrections, await storedFor(client, projectId, { corrections, found }));
  if (changes.length > 0) await write(client, projectId, changes);
  return results;
}

/** Corrects stored requests of a project in one transaction; what each correction came to, in their order. */
export function correctRequests(projectId: string, corrections: readonly Correction[]): Promise<Corrected[]> {
  return inTransaction((client) => correctWithin(client, projectId, corrections));
}
