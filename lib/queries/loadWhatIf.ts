import { DEFAULT_OBJECTIVES, type EndpointClass } from '../core/endpointClass';
import { LEVERS, type Lever } from '../core/terms';
import type { Viewer } from '../core/viewer';
import { type WhatIf as Effect, whatIf } from '../core/whatIf';
import { loadEndpointClasses } from '../db/endpointClasses';
import { withSnapshot } from '../db/snapshot';
import { type AnswerRange, rangeOf } from './answer';
import { loadLeverContext } from './loadLeverContext';
import { basisOf, chooseVantage, classify, countOf, isTimed, readPopulation } from './population';
import { seedOf } from './sampled';
import type { Scope } from './scope';
import { readWholeRows } from './wholeRows';

export type WhatIfInput = Scope & {
  levers: Lever[];
  /** Floors (ms) to hold instead of the project's, and targets for model and application. */
  floors: Partial<Record<Lever, number>>;
  /** Where the service would run; null: the best region it may run in. */
  region: string | null;
};

export type WhatIf = AnswerRange & {
  /** The one endpoint it is about: endpoints are never pooled. Null without requests. */
  endpoint: string | null;
  endpointClass: EndpointClass | null;
  /** The default objective of the class. */
  objective: { thresholdMs: number; target: number } | null;
  complete: boolean;
  effect: Effect | null;
  /** What each lever asked for would do alone, at p99. */
  alone: { lever: Lever; p99: Effect['quantiles']['p99']['gain'] }[];
};

/** What would it gain? Request by request over the sample tier. */
export async function loadWhatIf({ viewer, input }: { viewer: Viewer; input: WhatIfInput }): Promise<WhatIf> {
  const range = { fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const [stored, own] = await Promise.all([loadEndpointClasses(viewer.projectId), loadLeverContext({ viewer })]);
  return withSnapshot(viewer.projectId, async (snapshot) => {
    const vantage = await chooseVantage(snapshot, input, range);
    const counts = await readPopulation(snapshot, {
      ...{ scope: input, vantage, range, dimensions: ['endpoint'], families: ['counts'] },
    });
    const endpoint = largestEndpoint(counts.members.filter(isTimed));
    const effective = snapshot.effective(range);
    const answer = rangeOf(snapshot, effective, input.timeZone);
    const none = { endpoint: null, endpointClass: null, objective: null, complete: true, effect: null, alone: [] };
    if (endpoint === null) return { ...answer, ...none };
    const classes = await classify(snapshot, { endpoints: [endpoint], stored, vantage, range });
    const endpointClass = classes.get(endpoint)!;
    const { thresholdUs, objective } = DEFAULT_OBJECTIVES[endpointClass];
    const basis = basisOf(input.metric, endpointClass);
    const scope = { ...input, endpoint: [endpoint] };
    const { rows, complete } = await readWholeRows(snapshot, { scope, stored });
    const context = {
      ...own,
      ...(input.region === null ? {} : { deployableRegions: [input.region] }),
      overrides: [
        ...own.overrides.filter(({ lever }) => input.floors[lever] === undefined),
        ...LEVERS.flatMap((lever) => {
          const floorMs = input.floors[lever];
          return floorMs === undefined ? [] : [{ lever, floorMs }];
        }),
      ],
    };
    const seed = seedOf({ viewer, scope }, [vantage, endpoint, basis, ...Object.values(effective), context.version]);
    const study = (levers: Lever[]) => whatIf({ rows, basis, context, levers, thresholdUs, seed });
    return {
      ...{ ...answer, endpoint, endpointClass, complete, effect: study(input.levers) },
      objective: { thresholdMs: thresholdUs / 1000, target: objective },
      alone: input.levers.map((lever) => ({ lever, p99: study([lever]).quantiles.p99.gain })),
    };
  });
}

function largestEndpoint(members: Parameters<typeof countOf>[0]): string | null {
  const names = [...new Set(members.map((member) => member.key.endpoint!))];
  const sizes = names.map((name) => ({
    name,
    n: countOf(
      members.filter((member) => member.key.endpoint === name),
      'n',
    ),
  }));
  return sizes.sort((a, b) => b.n - a.n)[0]?.name ?? null;
}
