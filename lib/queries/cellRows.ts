// Whole requests of the one endpoint in question: what gains, stages and explanations are read from, all from the same.

import type { EndpointClass } from '../core/endpointClass';
import type { Basis, Vantage } from '../core/terms';
import type { Viewer } from '../core/viewer';
import type { Snapshot } from '../db/snapshot';
import { basisOf, leadingOf } from './population';
import { readSampled, type Sampled, seedOf } from './sampled';
import type { Scope } from './scope';

export type CellRows = Sampled & {
  /** Null when several endpoints are in view: they are never pooled, and there are no rows. */
  endpoint: string | null;
  basis: Basis;
  /** Of every draw made from these rows. */
  seed: string;
  fromUs: number;
  toUs: number;
};

export async function readCellRows(
  snapshot: Snapshot,
  question: {
    viewer: Viewer;
    scope: Scope;
    vantage: Vantage | null;
    classes: ReadonlyMap<string, EndpointClass>;
    floorsVersion: string;
  },
): Promise<CellRows> {
  const { viewer, scope, vantage, classes } = question;
  const [endpoint = null] = classes.size === 1 ? classes.keys() : [];
  const basis = basisOf(scope.metric, endpoint === null ? 'interactive' : classes.get(endpoint)!);
  const { sampledOf, effectiveFromUs, effectiveToUs } = await readSampled(snapshot, {
    ...{ scope, vantage, basis, many: false },
    leading:
      endpoint === null ? [] : (leadingOf({ ...scope, endpoint: [endpoint] }, 'endpointClientRegion').leading ?? []),
    groupOf: () => 'all',
  });
  const cell = [vantage, endpoint, basis, effectiveFromUs, effectiveToUs, question.floorsVersion];
  return {
    ...{ ...sampledOf('all'), endpoint, basis, fromUs: effectiveFromUs, toUs: effectiveToUs },
    seed: seedOf({ viewer, scope }, cell),
  };
}
