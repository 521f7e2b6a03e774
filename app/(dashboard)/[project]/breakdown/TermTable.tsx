import { formatMs, formatRatio } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { QUANTILE_KEYS, QUANTILE_LABELS } from '@/lib/core/estimate';
import { TERM_LABELS, TERMS } from '@/lib/core/terms';
import type { Breakdown } from '@/lib/queries/loadBreakdown';
import { Percentile } from '../Percentile';
import { ScrollCard } from '../ScrollCard';

type Props = { terms: Breakdown['quantiles']['terms']; touched: Breakdown['touched'] };

/** Each term with its own percentiles, how it is known, and in how many requests. Rows do not add up. */
export function TermTable({ terms, touched }: Props) {
  return (
    <ScrollCard label="Terms">
      <h2 className="mb-2">Terms</h2>
      <table>
        <caption className="text-left text-quiet">
          Percentiles of each term by itself: they do not add up. The anatomy does.
        </caption>
        <thead>
          <tr>
            <th scope="col">Term</th>
            <th scope="col">Evidence</th>
            <th scope="col" className="number">
              Coverage
            </th>
            {QUANTILE_KEYS.map((key) => (
              <th key={key} scope="col" className="number">
                {QUANTILE_LABELS[key]}
              </th>
            ))}
            <th scope="col">Touches</th>
          </tr>
        </thead>
        <tbody>
          {TERMS.map((term) => (
            <tr key={term} data-testid="term" data-term={term}>
              <th scope="row">
                <span
                  aria-hidden="true"
                  className="mr-2 inline-block size-2.5 rounded-sm"
                  style={{ background: TERM_COLOURS[term] }}
                />
                {TERM_LABELS[term]}
              </th>
              <td>{terms[term].evidence}</td>
              <td className="number">{formatRatio(terms[term].coverage)}</td>
              {QUANTILE_KEYS.map((key) => (
                <Percentile key={key} value={terms[term][key]} testId={key} />
              ))}
              <td className="whitespace-nowrap">{touches(touched[term])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollCard>
  );
}

function touches(touch: Breakdown['touched'][keyof Breakdown['touched']]): string {
  if (touch === undefined) return '';
  return `${formatRatio(touch.share)} of requests, typically ${formatMs(touch.typicalMs)}`;
}
