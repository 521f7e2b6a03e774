import type { ScopeOptions } from '@/lib/queries/loadScopeOptions';
import { type PageScope, RANGES } from './scopeUrl';

const METRICS = { wait: 'Wait (by endpoint class)', e2e: 'End to end', ttft: 'First output' } as const;
const SHOWN = ['range', 'from', 'to', 'endpoint', 'clientRegion', 'metric'];

/** Range, endpoint, client region and metric as a plain form: it works without scripts and all of it is in the URL. */
export function ScopeBar({ page, options }: { page: PageScope; options: ScopeOptions }) {
  const { scope, range, params } = page;
  const kept = [...params].filter(([name]) => !SHOWN.includes(name));
  return (
    <form method="get" className="card flex flex-wrap items-end gap-3" aria-label="What is shown">
      <label className="flex flex-col gap-1">
        Range
        <select name="range" defaultValue={range}>
          {Object.entries(RANGES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          <option value="custom">From – to</option>
        </select>
      </label>
      <TimeField name="from" label="From (UTC)" us={range === 'custom' ? scope.fromUs : null} />
      <TimeField name="to" label="To (UTC)" us={range === 'custom' ? scope.toUs : null} />
      <Choice name="endpoint" label="Endpoint" values={options.endpoints} chosen={scope.endpoint} />
      <Choice name="clientRegion" label="Client region" values={options.clientRegions} chosen={scope.clientRegion} />
      <label className="flex flex-col gap-1">
        Metric
        <select name="metric" defaultValue={scope.metric}>
          {Object.entries(METRICS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {kept.map(([name, value]) => (
        <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" className="primary">
        Show
      </button>
    </form>
  );
}

function TimeField({ name, label, us }: { name: string; label: string; us: number | null }) {
  const value = us === null ? '' : new Date(us / 1000).toISOString().slice(0, 16);
  return (
    <label className="flex flex-col gap-1">
      {label}
      <input type="datetime-local" name={name} defaultValue={value} />
    </label>
  );
}

function Choice(props: { name: string; label: string; values: string[]; chosen: string[] }) {
  const { name, label, values, chosen } = props;
  const all = [...new Set([...values, ...chosen])].sort();
  const [first] = chosen;
  const size = chosen.length > 1 ? { multiple: true, defaultValue: chosen } : { defaultValue: first ?? '' };
  return (
    <label className="flex flex-col gap-1">
      {label}
      <select name={name} className="max-w-64" {...size}>
        <option value="">All</option>
        {all.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}
