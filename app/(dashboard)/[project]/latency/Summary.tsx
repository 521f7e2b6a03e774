import { explainValue, formatCount, formatMs, formatValue } from '@/lib/charts/formatMs';
import { QUANTILE_LABELS, type Quantiles } from '@/lib/core/estimate';
import { claimedChange } from '@/lib/core/quantile';

const SHOWN = ['p50', 'p95', 'p99'] as const;

/** The percentiles of the whole range, each with its interval; a change is only named when the intervals do not touch. */
export function Summary({ now, before }: { now: Quantiles; before: Quantiles | null }) {
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-4">
      <div className="card" data-testid="summary" data-quantile="n">
        <dt className="text-quiet">Requests</dt>
        <dd className="text-xl font-semibold" data-testid="value">
          {formatCount(now.n)}
        </dd>
        {before && <dd className="text-quiet">{formatCount(before.n)} before</dd>}
      </div>
      {SHOWN.map((key) => (
        <div key={key} className="card" data-testid="summary" data-quantile={key}>
          <dt className="text-quiet">{QUANTILE_LABELS[key]}</dt>
          <dd className="text-xl font-semibold" data-testid="value">
            {formatValue(now[key])}
          </dd>
          <dd className="text-quiet">{explainValue(now[key])}</dd>
          {before && <dd data-testid="change">{changeWords(now[key], before[key])}</dd>}
        </div>
      ))}
    </dl>
  );
}

type Value = Quantiles['p50'];

/** "120 ms slower than 480 ms before", or that nothing can be claimed. */
function changeWords(now: Value, before: Value): string {
  if (now.ms === null || before.ms === null) return `before: ${formatValue(before)}`;
  if (!claimedChange(before, now)) return `no sure change from ${formatMs(before.ms)}`;
  const slower = now.ms > before.ms;
  return `${formatMs(Math.abs(now.ms - before.ms))} ${slower ? 'slower' : 'faster'} than ${formatMs(before.ms)}`;
}
