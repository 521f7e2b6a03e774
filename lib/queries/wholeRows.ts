// Whole requests of every endpoint of a scope, each from the sample of its own basis.

import type { EndpointClass } from '../core/endpointClass';
import type { SampledRequest } from '../core/request';
import type { Snapshot } from '../db/snapshot';
import { type BasisOfEndpoint, basisOf, chooseVantage, classify, readPopulation } from './population';
import { readSampled } from './sampled';
import type { Scope } from './scope';

export type WholeRows = {
  rows: SampledRequest[];
  basisOfEndpoint: BasisOfEndpoint;
  /** False when the rows stand for others that were not kept. */
  complete: boolean;
};

/**
 * Reads them with weights calibrated to all that they stand for. Samples are kept by hour and by local day; rows outside
 * the range are left out.
 */
export async function readWholeRows(
  snapshot: Snapshot,
  question: { scope: Scope; stored: ReadonlyMap<string, EndpointClass> },
): Promise<WholeRows> {
  const { scope, stored } = question;
  const range = { fromUs: scope.fromUs, toUs: scope.toUs, finest: 'hour' as const };
  const vantage = await chooseVantage(snapshot, scope, range);
  const counts = await readPopulation(snapshot, {
    ...{ scope, vantage, range, dimensions: ['endpoint'], families: ['counts'] },
  });
  const endpoints = new Set(counts.members.map((member) => member.key.endpoint!));
  const classes = await classify(snapshot, { endpoints, stored, vantage, range });
  const basisOfEndpoint: BasisOfEndpoint = (endpoint) => basisOf(scope.metric, classes.get(endpoint) ?? 'interactive');
  const rows: SampledRequest[] = [];
  let complete = true;
  for (const basis of ['e2e', 'ttft'] as const) {
    const own = [...endpoints].filter((endpoint) => basisOfEndpoint(endpoint) === basis);
    if (own.length === 0) continue;
    const { sampledOf } = await readSampled(snapshot, {
      ...{ scope, vantage, basis, many: false, groupOf: () => 'all' },
      leading: leadingPairs(own, scope.clientRegion),
    });
    const sampled = sampledOf('all');
    rows.push(...sampled.rows.filter((row) => row.startedAtUs >= scope.fromUs && row.startedAtUs < scope.toUs));
    complete &&= sampled.complete;
  }
  return { rows, basisOfEndpoint, complete };
}

function leadingPairs(endpoints: readonly string[], clientRegions: readonly string[]) {
  if (clientRegions.length === 0) return endpoints.map((endpoint) => ({ endpoint }));
  return endpoints.flatMap((endpoint) => clientRegions.map((clientRegion) => ({ endpoint, clientRegion })));
}
