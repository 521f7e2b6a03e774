import Link from 'next/link';
import { formatCount, formatMs, formatRatio } from '@/lib/charts/formatMs';
import { QUANTILE_LABELS } from '@/lib/core/estimate';
import { LEVER_LABELS, type Lever, TERM_LABELS } from '@/lib/core/terms';
import type { Explanation } from '@/lib/queries/loadExplanation';
import { floorWords } from '../headlineWords';
import { Scroller } from '../Scroller';
import { withParams } from '../scopeUrl';
import { BeforeAfterChart } from './BeforeAfterChart';

type Props = { explanation: Explanation; root: string; params: URLSearchParams; zone: string };

/** Behind a gain: the subtraction, the two distributions, and the slowest requests with what was taken off each. */
export function Explain({ explanation, root, params, zone }: Props) {
  const { levers, quantile, distribution, requests } = explanation;
  const names = levers.map((lever) => LEVER_LABELS[lever]).join(' + ');
  const at = QUANTILE_LABELS[quantile];
  return (
    <section
      className="card scroll-mt-20"
      id="explain"
      aria-label={`Behind the gain of ${names}`}
      data-testid="explain"
    >
      <div className="flex flex-wrap items-baseline gap-4">
        <h2 className="flex-1">Behind the gain of {names}</h2>
        <Link href={withParams(params, { explain: null, explainAt: null }) || `${root}/breakdown`} scroll={false}>
          Close
        </Link>
      </div>
      <p className="mt-1" data-testid="explain-sum">
        {at} of the wait is {formatMs(explanation.beforeMs)}. With {names} at the floor of each request, {at} of the
        same requests is {formatMs(explanation.afterMs)}: a gain of{' '}
        <strong data-testid="explain-gain">{formatMs(explanation.gainMs)}</strong>.{' '}
        {formatRatio(explanation.touchedShare)} of {formatCount(explanation.n)} requests would be faster.
      </p>
      {levers.map((lever) => (
        <Floor key={lever} lever={lever} explanation={explanation} />
      ))}
      {distribution.edgesMs.length > 0 && (
        <BeforeAfterChart
          title={`Distribution of the wait as it is, and with ${names} at the floor`}
          distribution={distribution}
        />
      )}
      {requests.length > 0 && <RequestTable explanation={explanation} root={root} zone={zone} at={at} />}
    </section>
  );
}

function Floor({ lever, explanation }: { lever: Lever; explanation: Explanation }) {
  const floor = explanation.floors[lever];
  if (floor === undefined) return null;
  return <p className="mt-1 text-quiet">{floorWords(lever, floor)}</p>;
}

function RequestTable(props: { explanation: Explanation; root: string; zone: string; at: string }) {
  const { explanation, root, zone, at } = props;
  const terms = explanation.requests[0]?.terms.map(({ term }) => term) ?? [];
  return (
    <Scroller label="The slowest requests">
      <table className="mt-3">
        <caption className="text-left text-quiet">
          The requests at {at} and beyond, slowest first
          {explanation.moreRequests > 0 && `; ${formatCount(explanation.moreRequests)} more are not listed`}.
          {!explanation.complete && ' They are a sample: each stands for as many as the last column says.'}
        </caption>
        <thead>
          <tr>
            <th scope="col">Request</th>
            {['Wait', ...terms.map((term) => TERM_LABELS[term]), 'Saved', 'Then'].map((heading) => (
              <th key={heading} scope="col" className="number">
                {heading}
              </th>
            ))}
            {!explanation.complete && (
              <th scope="col" className="number">
                Stands for
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {explanation.requests.map((request) => (
            <tr key={request.id} data-testid="explain-row">
              <th scope="row" className="whitespace-nowrap">
                <Link
                  href={`${root}/requests/${encodeURIComponent(request.id)}?startedAt=${encodeURIComponent(request.startedAt)}`}
                  title={request.id}
                >
                  {startWords(request.startedAt, zone)}
                </Link>
              </th>
              <td className="number">{formatMs(request.waitMs)}</td>
              {request.terms.map(({ term, ms }) => (
                <td key={term} className="number">
                  {formatMs(ms)}
                </td>
              ))}
              <td className="number">{request.savedMs === 0 ? '–' : `− ${formatMs(request.savedMs)}`}</td>
              <td className="number">{formatMs(request.afterMs)}</td>
              {!explanation.complete && <td className="number">{formatCount(request.weight)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function startWords(text: string, timeZone: string): string {
  return new Date(text).toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
}
