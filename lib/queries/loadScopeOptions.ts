import { parseKey } from '../core/cell';
import type { Viewer } from '../core/viewer';
import { readCells } from '../db/readCells';

export type ScopeOptions = {
  endpoints: string[];
  clientRegions: string[];
  serviceRegions: string[];
  providers: string[];
  models: string[];
  environments: string[];
};

/** What can be filtered by: the values seen in a range. */
export async function loadScopeOptions(question: {
  viewer: Viewer;
  input: { fromUs: number; toUs: number };
}): Promise<ScopeOptions> {
  const { viewer, input } = question;
  const range = { projectId: viewer.projectId, fromUs: input.fromUs, toUs: input.toUs, finest: 'hour' as const };
  const { periods } = await readCells({ ...range, grouping: 'full', families: ['duration'] });
  const keys = [...(periods.get(0)?.keys() ?? [])].map(parseKey);
  const seen = (of: (key: (typeof keys)[number]) => string | null | undefined) =>
    [...new Set(keys.map(of).filter((value): value is string => typeof value === 'string'))].sort();
  return {
    endpoints: seen((k) => k.endpoint),
    clientRegions: seen((k) => k.clientRegion),
    serviceRegions: seen((k) => k.serviceRegion),
    providers: seen((k) => k.provider),
    models: seen((k) => k.model),
    environments: seen((k) => k.environment),
  };
}
