import { formatMs, formatRatio } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import type { SelectionStudy } from '@/lib/core/selection';
import { TERM_LABELS } from '@/lib/core/terms';
import { Scroller } from './Scroller';

type Props = { study: SelectionStudy; here: string; others: string };

/** What differs between two groups of requests: values, then terms. `here` and `others` name the groups. */
export function StudyTables(props: Props) {
  return (
    <>
      <Features {...props} />
      <Terms {...props} />
    </>
  );
}

function Features({ study, here, others }: Props) {
  if (study.features.length === 0)
    return (
      <p className="mt-3" data-testid="no-features">
        {Math.min(study.selected.rows, study.rest.rows) < 10
          ? 'Too few requests to compare.'
          : 'No value is more or less frequent beyond chance.'}
      </p>
    );
  return (
    <div className="mt-3">
      <Scroller label="What differs">
        <table>
          <caption className="text-left text-quiet">
            Values that are more or less frequent, beyond chance (false discoveries below 1 %).
          </caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col" className="number">
                {here}
              </th>
              <th scope="col" className="number">
                {others}
              </th>
              <th scope="col" className="w-1/3">
                <span className="sr-only">As bars</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {study.features.slice(0, 12).map((feature) => (
              <tr key={`${feature.dimension}=${feature.value}`} data-testid="feature" data-feature={feature.dimension}>
                <th scope="row">
                  {feature.dimension}: <span className="text-ink">{feature.value}</span>
                </th>
                <td className="number">{formatRatio(feature.share)}</td>
                <td className="number">{formatRatio(feature.restShare)}</td>
                <td aria-hidden="true">
                  <div className="h-1.5 rounded bg-accent" style={{ width: `${feature.share * 100}%` }} />
                  <div className="mt-0.5 h-1.5 rounded bg-quiet" style={{ width: `${feature.restShare * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </div>
  );
}

function Terms({ study, here, others }: Props) {
  if (study.terms.length === 0) return <p className="mt-3 text-quiet">No term differs beyond chance.</p>;
  return (
    <div className="mt-3">
      <Scroller label="Terms that differ">
        <table>
          <caption className="text-left text-quiet">Where their time goes: means of terms that differ.</caption>
          <thead>
            <tr>
              {['Term', here, others, 'Difference (95 %)'].map((heading, i) => (
                <th key={heading} scope="col" className={i === 0 ? '' : 'number'}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {study.terms.map((term) => (
              <tr key={term.term} data-testid="term-difference" data-term={term.term}>
                <th scope="row">
                  <span
                    aria-hidden="true"
                    className="mr-2 inline-block size-2.5 rounded-sm"
                    style={{ background: TERM_COLOURS[term.term] }}
                  />
                  {TERM_LABELS[term.term]}
                </th>
                <td className="number">{formatMs(term.meanMs)}</td>
                <td className="number">{formatMs(term.restMeanMs)}</td>
                <td className="number">
                  {formatMs(term.lowMs)} to {formatMs(term.highMs)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </div>
  );
}
