import { msToLocal } from '@/lib/core/ranges';
import type { ScopeOptions } from '@/lib/queries/loadScopeOptions';
import { ScopeControls } from '../scopeBar/ScopeControls';
import type { PageScope } from './scopeUrl';

type Props = { page: PageScope; options: ScopeOptions; canCompare?: boolean };

/** What is shown: range, comparison, filters and metric. All of it is in the URL. */
export function ScopeBar({ page, options, canCompare = false }: Props) {
  const { scope, range, compare, zone, projectZone } = page;
  const local = ({ fromUs, toUs }: { fromUs: number; toUs: number }) => ({
    from: msToLocal(fromUs / 1000, zone),
    to: msToLocal(toUs / 1000, zone),
  });
  return (
    <ScopeControls
      range={{ chosen: range, ...local(scope) }}
      compare={canCompare ? { kind: compare?.kind ?? null, ...local(compare ?? scope) } : null}
      instants={{
        from: new Date(scope.fromUs / 1000).toISOString(),
        to: new Date(scope.toUs / 1000).toISOString(),
      }}
      zones={{ shown: zone, project: projectZone }}
      chosen={{
        endpoint: scope.endpoint,
        clientRegion: scope.clientRegion,
        serviceRegion: scope.serviceRegion,
        provider: scope.provider,
        model: scope.model,
        environment: scope.environment,
        version: scope.version,
        outcome: scope.outcome,
        vantage: scope.vantage === null ? [] : [scope.vantage],
      }}
      seen={{
        endpoint: options.endpoints,
        clientRegion: options.clientRegions,
        serviceRegion: options.serviceRegions,
        provider: options.providers,
        model: options.models,
        environment: options.environments,
        version: options.versions,
      }}
      metric={scope.metric}
    />
  );
}
