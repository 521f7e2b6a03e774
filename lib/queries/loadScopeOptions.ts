import type { Dimensions } from '../core/request';
import type { Viewer } from '../core/viewer';
import { loadAllSeries } from '../db/series';

export type ScopeOptions = {
  endpoints: string[];
  clientRegions: string[];
  serviceRegions: string[];
  providers: string[];
  models: string[];
  environments: string[];
  versions: string[];
};

/** What can be filtered by: every value the project has ever sent. */
export async function loadScopeOptions({ viewer }: { viewer: Viewer }): Promise<ScopeOptions> {
  const series = await loadAllSeries(viewer.projectId);
  const seen = (field: keyof Dimensions) =>
    [...new Set(series.map((dims) => dims[field]).filter((value) => value !== null))].sort();
  return {
    endpoints: seen('endpoint'),
    clientRegions: seen('clientRegion'),
    serviceRegions: seen('serviceRegion'),
    providers: seen('provider'),
    models: seen('model'),
    environments: seen('environment'),
    versions: seen('version'),
  };
}
