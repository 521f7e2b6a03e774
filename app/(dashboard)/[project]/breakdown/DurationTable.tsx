import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { QUANTILE_KEYS, QUANTILE_LABELS } from '@/lib/core/estimate';
import type { Breakdown } from '@/lib/queries/loadBreakdown';
import { Percentile } from '../Percentile';
import { ScrollCard } from '../ScrollCard';
import { GapNote } from './GapNote';

const ROWS = [
  ['wait', 'Wait', 'what the user waits for, by endpoint class'],
  ['e2e', 'End to end', 'request sent to complete response'],
  ['ttft', 'First output', 'request sent to first token or audio'],
  ['model', 'Model', 'compute until the first output'],
  ['gap', 'Gap', 'wait − model, request by request'],
] as const;

/** How long it takes end to end, and how much of it is the model. */
export function DurationTable({ breakdown }: { breakdown: Breakdown }) {
  return (
    <ScrollCard label="End to end against model">
      <h2 className="mb-2">End to end against model</h2>
      <table>
        <caption className="sr-only">Percentiles of the durations</caption>
        <thead>
          <tr>
            <th scope="col">Duration</th>
            <th scope="col" className="number">
              Requests
            </th>
            {QUANTILE_KEYS.map((key) => (
              <th key={key} scope="col" className="number">
                {QUANTILE_LABELS[key]}
              </th>
            ))}
            <th scope="col" className="number">
              Max
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([key, label, meaning]) => {
            const quantiles = breakdown.quantiles[key];
            return (
              <tr key={key} data-testid="duration" data-duration={key}>
                <th scope="row" title={meaning}>
                  {label}
                </th>
                <td className="number">{formatCount(quantiles.n)}</td>
                {QUANTILE_KEYS.map((q) => (
                  <Percentile key={q} value={quantiles[q]} testId={q} />
                ))}
                <td className="number">{formatMs(quantiles.maxMs)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <GapNote gap={breakdown.gap} />
    </ScrollCard>
  );
}
