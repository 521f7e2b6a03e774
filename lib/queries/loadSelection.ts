import type { SampledRequest } from '../core/request';
import { waitUs } from '../core/request';
import type { SelectionStudy } from '../core/selection';
import { studySelection } from '../core/selection';
import type { Basis } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { loadEndpointClasses } from '../db/endpointClasses';
import { type Snapshot, withSnapshot } from '../db/snapshot';
import { type BasisOfEndpoint, basisOf, chooseVantage, classify, readPopulation } from './population';
import { readSampled } from './sampled';
import type { Scope } from './scope';

/** A box of the heatmap: times (µs since the epoch) and waits (ms), both half-open. */
export type Box = { fromUs: number; toUs: number; lowMs: number; highMs: number };

export type Selection = SelectionStudy & {
  /** What the selection is held against: other waits in the same time, and as long before and after (RFC 3339). */
  restFrom: string;
  restTo: string;
  /** False when the requests at hand stand for others that were not kept. */
  complete: boolean;
  slowest: { id: string; at: string; endpoint: string; clientRegion: string | null; waitMs: number }[];
};

const SLOWEST_SHOWN = 10;

/** What is different about the requests in a box of the heatmap? From whole requests of the sample tier. */
export async function loadSelection(question: { viewer: Viewer; input: Scope & { box: Box } }): Promise<Selection> {
  const { viewer, input } = question;
  const { box } = input;
  const lengthUs = box.toUs - box.fromUs;
  const around: Scope = {
    ...input,
    fromUs: Math.max(input.fromUs, box.fromUs - lengthUs),
    toUs: Math.min(input.toUs, box.toUs + lengthUs),
  };
  const stored = await loadEndpointClasses(viewer.projectId);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const { rows, basisOfEndpoint, complete } = await readAround(snapshot, around, stored);
    const basis = (row: SampledRequest) => basisOfEndpoint(row.dims.endpoint);
    const waitMs = (row: SampledRequest) => (waitUs(row, basis(row)) ?? 0) / 1000;
    const isSelected = (row: SampledRequest) =>
      row.startedAtUs >= box.fromUs &&
      row.startedAtUs < box.toUs &&
      waitMs(row) >= box.lowMs &&
      waitMs(row) < box.highMs;
    const timed = rows.filter((row) => row.startedAtUs >= around.fromUs && row.startedAtUs < around.toUs);
    const slowest = timed.filter(isSelected).sort((a, b) => waitMs(b) - waitMs(a));
    return {
      ...studySelection({ rows: timed, isSelected, basis }),
      restFrom: new Date(around.fromUs / 1000).toISOString(),
      restTo: new Date(around.toUs / 1000).toISOString(),
      complete,
      slowest: slowest.slice(0, SLOWEST_SHOWN).map((row) => ({
        ...{ id: row.id, at: new Date(row.startedAtUs / 1000).toISOString(), waitMs: waitMs(row) },
        ...{ endpoint: row.dims.endpoint, clientRegion: row.dims.clientRegion },
      })),
    };
  });
}

type Around = { rows: SampledRequest[]; basisOfEndpoint: BasisOfEndpoint; complete: boolean };

/** Whole requests of every endpoint of a scope, each from the sample of its own basis. */
async function readAround(
  snapshot: Snapshot,
  scope: Scope,
  stored: Awaited<ReturnType<typeof loadEndpointClasses>>,
): Promise<Around> {
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
  for (const basis of ['e2e', 'ttft'] as const satisfies readonly Basis[]) {
    const own = [...endpoints].filter((endpoint) => basisOfEndpoint(endpoint) === basis);
    if (own.length === 0) continue;
    const { sampledOf } = await readSampled(snapshot, {
      ...{ scope, vantage, basis, many: false, groupOf: () => 'all' },
      leading: leadingPairs(own, scope.clientRegion),
    });
    const sampled = sampledOf('all');
    rows.push(...sampled.rows);
    complete &&= sampled.complete;
  }
  return { rows, basisOfEndpoint, complete };
}

function leadingPairs(endpoints: readonly string[], clientRegions: readonly string[]) {
  if (clientRegions.length === 0) return endpoints.map((endpoint) => ({ endpoint }));
  return endpoints.flatMap((endpoint) => clientRegions.map((clientRegion) => ({ endpoint, clientRegion })));
}
