import { formatMs, formatRatio } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { TERM_LABELS, TERMS } from '@/lib/core/terms';
import type { RequestDetail } from '@/lib/queries/loadRequest';
import { Scroller } from '../../Scroller';
import { TermBar } from '../TermBar';

/** The terms of one request; they add up to its end to end. */
export function RequestTerms({ detail }: { detail: RequestDetail }) {
  const { request, evidence } = detail;
  return (
    <section className="card">
      <h2 className="mb-2">What it was made of</h2>
      <TermBar terms={request.terms} wholeMs={request.e2eMs} size="large" />
      <Scroller label="Terms of the request">
        <table className="mt-2">
          <caption className="sr-only">Terms of the request</caption>
          <thead>
            <tr>
              <th scope="col">Term</th>
              <th scope="col" className="number">
                Time
              </th>
              <th scope="col" className="number">
                Share
              </th>
              <th scope="col">Evidence</th>
            </tr>
          </thead>
          <tbody>
            {TERMS.map((term) => {
              const ms = request.terms[term];
              return (
                <tr key={term} data-testid="request-term" data-term={term}>
                  <th scope="row">
                    <span
                      aria-hidden="true"
                      className="mr-2 inline-block size-2.5 rounded-sm"
                      style={{ background: TERM_COLOURS[term] }}
                    />
                    {TERM_LABELS[term]}
                  </th>
                  <td className="number">{formatMs(ms)}</td>
                  <td className="number">
                    {formatRatio(ms === null || request.e2eMs === 0 ? null : ms / request.e2eMs)}
                  </td>
                  <td>{evidence[term]}</td>
                </tr>
              );
            })}
            <tr>
              <th scope="row">End to end</th>
              <td className="number">{formatMs(request.e2eMs)}</td>
              <td className="number">100 %</td>
              <td>measured</td>
            </tr>
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
