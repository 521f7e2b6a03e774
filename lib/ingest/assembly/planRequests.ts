// What becomes of the requests of a trace, given what is stored of it already: added, corrected, removed, or merged with
// the half that was sent as an event. The same vantage twice is two requests; of several nobody knows which is whose.

import type { TimedRequest } from '../../core/request';
import { type Half, mergeHalves } from '../../core/trace/mergeHalves';

/** A change of a stored request, found by id and start; `change` is pure, and null removes it. In order. */
export type RequestCorrection = {
  id: string;
  startedAtUs: number;
  change: (stored: TimedRequest) => TimedRequest | null;
};

export type PlannedRequests = {
  add: TimedRequest[];
  corrections: RequestCorrection[];
  /** Ids of what is then stored of the trace, but for halves that stayed alone. */
  requestIds: string[];
};

type Material = {
  /** Of its spans. */
  accepted: readonly TimedRequest[];
  halves: readonly Half[];
  /** Stored by earlier closings → when they began (µs). */
  stored: ReadonlyMap<string, number>;
};

/** Throws nothing; corrections of what is not there are no corrections. */
export function planRequests(material: Material): PlannedRequests {
  const { accepted, halves } = material;
  const clients = halves.filter((half) => half.vantage === 'client');
  const services = halves.filter((half) => half.vantage === 'service');
  const [client, service, traced] = [only(clients), only(services), only(accepted)];
  if (accepted.length === 0 && client && service) return mergeTwoHalves(client, service);
  if (traced === null) return replaceAll(material);
  if (client && traced.dims.vantage === 'service') {
    const merged: RequestCorrection = { ...placeOf(client), change: (stored) => mergeHalves(stored, traced) };
    return { add: [], corrections: [...removals(material, [client.id]), merged], requestIds: [client.id] };
  }
  if (service && traced.dims.vantage === 'client') return mergeIntoTraced(traced, service, material);
  return replaceAll(material);
}

const only = <T>(list: readonly T[]): T | null => (list.length === 1 ? list[0]! : null);
const placeOf = ({ id, startedAtUs }: { id: string; startedAtUs: number }) => ({ id, startedAtUs });

/** The service's half makes way, and gives its terms to the client's. */
function mergeTwoHalves(client: Half, service: Half): PlannedRequests {
  let taken: TimedRequest | null = null;
  return {
    add: [],
    corrections: [
      {
        ...placeOf(service),
        change: (stored) => {
          taken = stored;
          return null;
        },
      },
      { ...placeOf(client), change: (stored) => (taken === null ? stored : mergeHalves(stored, taken)) },
    ],
    requestIds: [client.id],
  };
}

/** The client's side was traced, the service's sent as an event. */
function mergeIntoTraced(traced: TimedRequest, service: Half, { stored }: Material): PlannedRequests {
  const corrections: RequestCorrection[] = stored.has(traced.id)
    ? // merged before: what is stored holds the service's terms
      [{ ...placeOf(traced), change: (was) => mergeHalves(traced, { ...was, e2eUs: was.serviceUs ?? was.e2eUs }) }]
    : [{ ...placeOf(service), change: (half) => mergeHalves(traced, half) }];
  return { add: [], corrections, requestIds: [traced.id] };
}

function replaceAll(material: Material): PlannedRequests {
  const { accepted, stored } = material;
  const ids = accepted.map((request) => request.id);
  const changed = accepted.filter((request) => stored.has(request.id));
  return {
    add: accepted.filter((request) => !stored.has(request.id)),
    corrections: [
      ...removals(material, ids),
      ...changed.map((request) => ({ ...placeOf(request), change: () => request })),
    ],
    requestIds: ids,
  };
}

/** What is stored of the trace and is no request of it any more. */
function removals({ stored }: Material, kept: readonly string[]): RequestCorrection[] {
  return [...stored]
    .filter(([id]) => !kept.includes(id))
    .map(([id, startedAtUs]) => ({ id, startedAtUs, change: () => null }));
}
