import type { Scope } from '@/lib/queries/scope';
import { SCOPE_LISTS } from '@/lib/queries/scopeParameters';

/** The address of the same answer as CSV: the range in view, as instants. By group when one is named, else over time. */
export function csvHref(root: string, scope: Scope, own: { step: string } | { groupBy: string }): string {
  const params = new URLSearchParams({ project: root.slice(1), format: 'csv', metric: scope.metric });
  params.set('from', new Date(scope.fromUs / 1000).toISOString());
  params.set('to', new Date(scope.toUs / 1000).toISOString());
  for (const name of [...SCOPE_LISTS, 'outcome'] as const) for (const value of scope[name]) params.append(name, value);
  if (scope.vantage !== null) params.set('vantage', scope.vantage);
  if (scope.timeZone !== null) params.set('timeZone', scope.timeZone);
  for (const [name, value] of Object.entries(own)) params.set(name, value);
  return `/api/v1/latency${'groupBy' in own ? '/groups' : ''}?${params}`;
}
