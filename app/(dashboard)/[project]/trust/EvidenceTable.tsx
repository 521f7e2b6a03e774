import { formatCount, formatRatio } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { TERM_LABELS, TERMS } from '@/lib/core/terms';
import type { Trust } from '@/lib/queries/loadTrust';
import { Scroller } from '../Scroller';

const KINDS = [
  ['measured', 'one clock saw both ends'],
  ['derived', 'difference of two durations'],
  ['assumed', 'configured'],
  ['missing', 'nothing measured it; never counted as 0'],
] as const;

/** How each term is known, in how many requests. */
export function EvidenceTable({ evidence, count }: Pick<Trust, 'evidence' | 'count'>) {
  return (
    <section className="card">
      <h2 className="mb-2">How each term is known</h2>
      <Scroller label="How each term is known">
        <table>
          <caption className="text-left text-quiet">
            Share of the {formatCount(count)} requests of this scope (errors have no terms).
          </caption>
          <thead>
            <tr>
              <th scope="col">Term</th>
              <th scope="col" className="number">
                Coverage
              </th>
              {KINDS.map(([kind, meaning]) => (
                <th key={kind} scope="col" className="number" title={meaning}>
                  {kind}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {TERMS.map((term) => (
              <tr key={term} data-testid="evidence" data-term={term}>
                <th scope="row">
                  <span
                    aria-hidden="true"
                    className="mr-2 inline-block size-2.5 rounded-sm"
                    style={{ background: TERM_COLOURS[term] }}
                  />
                  {TERM_LABELS[term]}
                </th>
                <td className="number" data-testid="coverage">
                  {formatRatio(evidence[term].coverage)}
                </td>
                {KINDS.map(([kind]) => (
                  <td key={kind} className="number" data-testid={kind}>
                    {formatCount(evidence[term][kind])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
