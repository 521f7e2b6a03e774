import Link from 'next/link';
import { formatCount, formatMs, formatRatio } from '@/lib/charts/formatMs';
import { TERM_COLOURS } from '@/lib/charts/termColours';
import { TERM_LABELS } from '@/lib/core/terms';
import type { Box, Selection } from '@/lib/queries/loadSelection';
import { Scroller } from '../Scroller';
import type { PageScope } from '../scopeUrl';
import { withParams } from '../urlParams';

type Props = { box: Box; study: Selection; page: PageScope; root: string };

/** What is different about the requests of an area, against the others of about the same time. */
export function SelectionCard({ box, study, page, root }: Props) {
  const at = (ms: number | string) =>
    new Date(ms).toLocaleString('en-GB', { timeZone: page.zone, dateStyle: 'medium', timeStyle: 'short' });
  const narrow = {
    ...{ range: null, box: null, by: null, sort: null, step: null },
    ...{ from: new Date(box.fromUs / 1000).toISOString(), to: new Date(box.toUs / 1000).toISOString() },
  };
  return (
    <div className="mt-4 border-t border-line pt-4" data-testid="selection">
      <h3 className="font-semibold">
        {formatMs(box.lowMs)} to {formatMs(box.highMs)}, {at(box.fromUs / 1000)} to {at(box.toUs / 1000)}
      </h3>
      <p className="text-quiet">
        {study.complete ? '' : 'About '}
        <span data-testid="selected">{formatCount(study.selected.weight)}</span> requests, against{' '}
        <span data-testid="rest">{formatCount(study.rest.weight)}</span> others from {at(study.restFrom)} to{' '}
        {at(study.restTo)}.{' '}
        <Link href={`${root}/latency${withParams(page.params, narrow)}`}>Narrow the range to it</Link>.
      </p>
      <Features study={study} />
      <Terms study={study} />
      <Slowest study={study} at={at} root={root} />
    </div>
  );
}

function Features({ study }: { study: Selection }) {
  if (study.features.length === 0)
    return (
      <p className="mt-3" data-testid="no-features">
        {study.selected.rows < 10 ? 'Too few requests to compare.' : 'Nothing else differs beyond chance.'}
      </p>
    );
  return (
    <div className="mt-3">
      <Scroller label="What differs">
        <table>
          <caption className="text-left text-quiet">
            Values more or less frequent here than among the others, beyond chance (false discoveries below 1 %).
          </caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col" className="number">
                Here
              </th>
              <th scope="col" className="number">
                Others
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

function Terms({ study }: { study: Selection }) {
  if (study.terms.length === 0) return null;
  return (
    <div className="mt-3">
      <Scroller label="Terms that differ">
        <table>
          <caption className="text-left text-quiet">Where their time goes: means of terms that differ.</caption>
          <thead>
            <tr>
              {['Term', 'Here', 'Others', 'Difference (95 %)'].map((heading, i) => (
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

function Slowest({ study, at, root }: { study: Selection; at: (text: string) => string; root: string }) {
  if (study.slowest.length === 0) return null;
  return (
    <details className="mt-3">
      <summary>The slowest of them</summary>
      <ul className="mt-1">
        {study.slowest.map((request) => (
          <li key={request.id}>
            <Link href={`${root}/requests/${encodeURIComponent(request.id)}?at=${encodeURIComponent(request.at)}`}>
              {formatMs(request.waitMs)}
            </Link>{' '}
            {request.endpoint} from {request.clientRegion ?? 'an unknown region'}, {at(request.at)}
          </li>
        ))}
      </ul>
    </details>
  );
}
