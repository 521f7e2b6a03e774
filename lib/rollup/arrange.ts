import type { TimedRequest } from '../core/request';
import { utcDay } from '../db/partitions';
import type { SealedHead } from '../db/rawStore';
import type { Codes } from '../db/sealedChunk';
import { attributeSetId } from '../db/series';

const CHUNK_REQUESTS = 2_000;
/** From so many requests on an endpoint has chunks of its own in an hour. */
const OWN_CHUNK = 256;
/** More distinct attribute sets than this are not listed: the list would be as long as what it spares. */
const MOST_ATTRIBUTE_SETS = 256;

export type ArrangedChunk = { head: Omit<SealedHead, 'hourS' | 'receivedAt'>; requests: TimedRequest[] };

function headOf(requests: readonly TimedRequest[], codes: Codes): ArrangedChunk['head'] {
  const sets = new Set<number>();
  const endpoints = new Set<string>();
  let [firstAtUs, lastAtUs, minE2eUs, maxE2eUs] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  let maxTtftUs: number | null = null;
  for (const { startedAtUs, e2eUs, ttftUs, dims, attributes } of requests) {
    firstAtUs = Math.min(firstAtUs, startedAtUs);
    lastAtUs = Math.max(lastAtUs, startedAtUs);
    minE2eUs = Math.min(minE2eUs, e2eUs);
    maxE2eUs = Math.max(maxE2eUs, e2eUs);
    if (ttftUs !== null) maxTtftUs = Math.max(maxTtftUs ?? 0, ttftUs);
    endpoints.add(dims.endpoint);
    if (attributes !== null) sets.add(codes.attributeSets.get(attributeSetId(attributes))!);
  }
  const attributeSets = sets.size <= MOST_ATTRIBUTE_SETS ? [...sets].sort((a, b) => a - b) : null;
  const times = { day: utcDay(firstAtUs), firstAtUs, lastAtUs, minE2eUs, maxE2eUs, maxTtftUs };
  return { ...times, n: requests.length, endpoints: [...endpoints], attributeSets };
}

const slowestFirst = (a: TimedRequest, b: TimedRequest) =>
  b.e2eUs - a.e2eUs || a.startedAtUs - b.startedAtUs || (a.id < b.id ? -1 : 1);

/**
 * The requests of one hour as chunks of at most 2,000, sorted by (endpoint, e2e descending). Endpoints with many requests
 * have chunks of their own, the others share.
 */
export function arrange(requests: readonly TimedRequest[], codes: Codes): ArrangedChunk[] {
  const byEndpoint = new Map<string, TimedRequest[]>();
  for (const request of requests) {
    const some = byEndpoint.get(request.dims.endpoint);
    if (some) some.push(request);
    else byEndpoint.set(request.dims.endpoint, [request]);
  }
  const chunks: TimedRequest[][] = [];
  let shared: TimedRequest[] = [];
  for (const endpoint of [...byEndpoint.keys()].sort()) {
    const some = byEndpoint.get(endpoint)!.sort(slowestFirst);
    if (some.length < OWN_CHUNK) {
      if (shared.length + some.length > CHUNK_REQUESTS) {
        chunks.push(shared);
        shared = [];
      }
      shared.push(...some);
    } else {
      const pieces = Math.ceil(some.length / CHUNK_REQUESTS);
      const size = Math.ceil(some.length / pieces);
      for (let at = 0; at < some.length; at += size) chunks.push(some.slice(at, at + size));
    }
  }
  if (shared.length > 0) chunks.push(shared);
  return chunks.map((inChunk) => ({ head: headOf(inChunk, codes), requests: inChunk }));
}
