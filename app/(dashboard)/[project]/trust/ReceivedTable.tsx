import { formatCount } from '@/lib/charts/formatMs';
import type { ReceivedBucket } from '@/lib/queries/loadTrust';
import { Scroller } from '../Scroller';

const COLUMNS = [
  ['accepted', 'Accepted'],
  ['duplicates', 'Duplicates'],
  ['rejected', 'Rejected'],
  ['late', 'Late'],
] as const;

/** What came in, by the hour or day it came in; newest first. */
export function ReceivedTable({ buckets, timeZone }: { buckets: ReceivedBucket[]; timeZone: string }) {
  const at = (text: string) =>
    new Date(text).toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
  return (
    <section className="card">
      <h2 className="mb-2">Received over time</h2>
      <details>
        <summary>As a table</summary>
        <Scroller label="Received over time">
          <table>
            <caption className="sr-only">By time of receipt, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Received from</th>
                {COLUMNS.map(([key, label]) => (
                  <th key={key} scope="col" className="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => (
                <tr key={bucket.at} data-testid="received">
                  <th scope="row">{at(bucket.at)}</th>
                  {COLUMNS.map(([key]) => (
                    <td key={key} className="number">
                      {formatCount(bucket[key])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      </details>
    </section>
  );
}
