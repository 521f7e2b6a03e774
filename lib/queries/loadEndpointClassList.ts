import { BASIS_OF, ENDPOINT_CLASSES, type EndpointClass } from '../core/endpointClass';
import type { Viewer } from '../core/viewer';
import { prisma } from '../db/prisma';
import { loadAllSeries } from '../db/series';

export type EndpointClassLine = {
  endpoint: string;
  /** Null: not guessed yet (fewer than 100 requests in 7 days); reads then guess from what is in view. */
  class: EndpointClass | null;
  source: 'set' | 'guessed' | null;
  /** Which duration the wait is; null while the class is. */
  wait: 'e2e' | 'ttft' | null;
  /** RFC 3339. */
  updatedAt: string | null;
};

/** Every endpoint that was ever sent, by name, with its class and who decided it. */
export async function loadEndpointClassList({ viewer }: { viewer: Viewer }): Promise<EndpointClassLine[]> {
  const { projectId } = viewer;
  const [series, rows] = await Promise.all([
    loadAllSeries(projectId),
    prisma().endpointClass.findMany({ where: { projectId } }),
  ]);
  const known = new Map(rows.map((row) => [row.endpoint, row]));
  const endpoints = new Set([...series.map((dims) => dims.endpoint), ...known.keys()]);
  return [...endpoints].sort().map((endpoint) => {
    const row = known.get(endpoint);
    const endpointClass = ENDPOINT_CLASSES.find((one) => one === row?.class) ?? null;
    return {
      ...{ endpoint, class: endpointClass, wait: endpointClass === null ? null : BASIS_OF[endpointClass] },
      source: row === undefined ? null : row.source === 'set' ? 'set' : 'guessed',
      updatedAt: row?.updatedAt.toISOString() ?? null,
    };
  });
}
