import { COUNTS } from '../core/cell';
import { regionKey } from '../core/regions';
import type { Viewer } from '../core/viewer';
import { cellOf, type Member, withSnapshot } from '../db/snapshot';
import { type AnswerRange, rangeOf } from './answer';
import { accepts, chooseGrouping, filteredDimensions, leadingOf } from './population';
import type { Scope } from './scope';

/** How one client region is measured. Requests, not weights; probes and cache hits apart. */
export type RegionSetup = {
  clientRegion: string | null;
  n: number;
  /** Share with an e2e measured at the client, and share whose model time is known. */
  clientShare: number;
  modelShare: number;
  /** Measured at the client, but in the service's own region: not what users elsewhere see. */
  nextToService: boolean;
  /** At least 299 requests: a p99 can be told. */
  hasP99: boolean;
};

/** todo: nothing of it; partly: for some of the requests; done. */
export type StepState = 'todo' | 'partly' | 'done';
export const SETUP_STEPS = ['client', 'model', 'size', 'p99'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

export type Setup = AnswerRange & {
  n: number;
  clientShare: number | null;
  modelShare: number | null;
  steps: Record<SetupStep, StepState>;
  regions: RegionSetup[];
};

const NEEDED_FOR_P99 = 299;
/** From this share on a step counts as done: a few old clients do not hold it back. */
const DONE_SHARE = 0.95;

/**
 * How far is this project with the method: measure at the client, subtract the model, size, report p99? Of the scope, all
 * but the vantage: where it is measured is the question.
 */
export async function loadSetup({ viewer, input }: { viewer: Viewer; input: Scope }): Promise<Setup> {
  const dimensions = ['clientRegion', 'serviceRegion', ...filteredDimensions(input)] as const;
  const grouping = chooseGrouping(dimensions, 'model', 'hour') ?? 'full';
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const answer = await snapshot.read({
      ...{ fromUs: input.fromUs, toUs: input.toUs, finest: 'hour', grouping, ...leadingOf(input, grouping) },
      families: ['counts', 'model'],
      keep: (key) => key.vantage !== 'probe' && !key.cached && key.outcome !== 'error' && accepts(input, key),
    });
    const members = answer.periods.get(0) ?? [];
    const byRegion = new Map<string | null, Member[]>();
    for (const member of members) {
      const region = member.key.clientRegion ?? null;
      byRegion.set(region, [...(byRegion.get(region) ?? []), member]);
    }
    const regions = [...byRegion].map(([region, some]) => regionSetup(region, some)).sort((a, b) => b.n - a.n);
    const all = countsOf(members);
    const share = (part: number) => (all.n === 0 ? null : part / all.n);
    return {
      ...rangeOf(snapshot, answer, input.timeZone),
      ...{ n: all.n, clientShare: share(all.client), modelShare: share(all.model), regions },
      steps: stepsOf(all, regions),
    };
  });
}

type Counts = { n: number; client: number; model: number };

function countsOf(members: readonly Member[]): Counts {
  const counts: Counts = { n: 0, client: 0, model: 0 };
  for (const { key, set } of members) {
    const n = cellOf(set, 'counts').counts[COUNTS.indexOf('n')]!;
    counts.n += n;
    counts.model += cellOf(set, 'model').histogram.n;
    if (key.vantage === 'client') counts.client += n;
  }
  return counts;
}

function regionSetup(clientRegion: string | null, members: readonly Member[]): RegionSetup {
  const { n, client, model } = countsOf(members);
  const ofClients = members.filter((member) => member.key.vantage === 'client');
  const isBeside = ({ key }: Member) =>
    typeof key.clientRegion === 'string' &&
    typeof key.serviceRegion === 'string' &&
    regionKey(key.clientRegion) === regionKey(key.serviceRegion);
  return {
    ...{ clientRegion, n, clientShare: client / n, modelShare: model / n, hasP99: n >= NEEDED_FOR_P99 },
    nextToService: ofClients.length > 0 && ofClients.every(isBeside),
  };
}

function stepsOf(all: Counts, regions: readonly RegionSetup[]): Setup['steps'] {
  const stateOf = (part: number, whole: number): StepState =>
    part === 0 || whole === 0 ? 'todo' : part >= DONE_SHARE * whole ? 'done' : 'partly';
  // next to the service tells nothing of the way to users
  const seen = regions.filter((one) => !one.nextToService).reduce((sum, one) => sum + one.n * one.clientShare, 0);
  const client = seen === 0 && all.client > 0 ? 'partly' : stateOf(seen === 0 ? 0 : all.client, all.n);
  const model = stateOf(all.model, all.n);
  const withP99 = regions.filter((one) => one.hasP99).length;
  return {
    client,
    model,
    // gains can be ranked once both ends are known
    size: client === 'todo' || model === 'todo' ? 'todo' : withP99 === 0 ? 'partly' : 'done',
    p99: stateOf(withP99, regions.length),
  };
}
