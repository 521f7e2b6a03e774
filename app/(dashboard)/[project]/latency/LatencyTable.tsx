import { formatCount } from '@/lib/charts/formatMs';
import { LINES } from '@/lib/charts/latencyLines';
import type { TimeAxis } from '@/lib/charts/timeAxis';
import type { LatencyPoint } from '@/lib/queries/loadLatency';
import { Percentile } from '../Percentile';
import { Scroller } from '../Scroller';

/** The numbers behind the chart. */
export function LatencyTable({ axis, points, title }: { axis: TimeAxis; points: LatencyPoint[]; title: string }) {
  return (
    <details className="mt-2">
      <summary>As a table</summary>
      <Scroller label={title}>
        <table>
          <caption className="sr-only">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {['Requests', ...LINES].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point, i) => (
              <tr key={point.at} data-testid="point" data-at={point.at}>
                <th scope="row" className="whitespace-nowrap">
                  {axis.long[i]}
                  {point.forming && ' (still filling)'}
                </th>
                <td className="number">{formatCount(point.n)}</td>
                {LINES.map((key) => (
                  <Percentile key={key} value={point[key]} testId={key} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </details>
  );
}
