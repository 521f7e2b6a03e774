import { formatCount, formatMs, formatRatio } from '@/lib/charts/formatMs';
import type { SloLine } from '@/lib/queries/loadOverview';
import { Percentile } from './Percentile';
import { Scroller } from './Scroller';

/** One line a class of endpoints: inside its default objective or not, from exact counts. */
export function SloTable({ slos }: { slos: SloLine[] }) {
  if (slos.length === 0) return null;
  return (
    <section className="card">
      <h2 className="mb-2">Objectives</h2>
      <Scroller label="Objectives">
        <table>
          <caption className="sr-only">Objective, success rate and budget of each class of endpoints</caption>
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col">Objective</th>
              {['Inside', 'Success', 'p99, failures as slowest', 'Budget left', 'Requests'].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {slos.map((slo) => (
              <SloRow key={slo.endpointClass} slo={slo} />
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}

function SloRow({ slo }: { slo: SloLine }) {
  const isMet = slo.goodRatio === null ? null : slo.goodRatio >= slo.objective;
  const metric = slo.metric === 'ttft' ? 'first output' : 'complete answer';
  return (
    <tr data-testid="slo" data-class={slo.endpointClass}>
      <th scope="row" title={slo.endpoints.join(', ')}>
        {slo.endpointClass}
      </th>
      <td>
        {formatRatio(slo.objective, 3)} within {formatMs(slo.thresholdMs)} ({metric})
      </td>
      <td className={`number ${isMet === null ? '' : isMet ? 'text-good' : 'text-bad'}`}>
        {isMet === null ? '' : isMet ? '✓ ' : '✗ '}
        {formatRatio(slo.goodRatio, 3)}
      </td>
      <td className="number">{formatRatio(slo.successRatio, 3)}</td>
      {isUnanswered(slo) ? (
        <td className="number" title="more than 1 % of the requests failed, and a failure counts as slowest">
          not answered
        </td>
      ) : (
        <Percentile value={slo.p99} />
      )}
      <td className="number">{formatRatio(slo.budgetRemaining, 1)}</td>
      <td className="number">{formatCount(slo.total)}</td>
    </tr>
  );
}

/** Whether the request at p99 is a failure: then no duration can be shown for it. */
function isUnanswered(slo: SloLine): boolean {
  return slo.p99.ms === null && slo.successRatio !== null && slo.successRatio < 0.99;
}
