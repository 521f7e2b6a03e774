import Link from 'next/link';
import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { TERM_LABELS, TERMS, type Term } from '@/lib/core/terms';
import type { RequestPage } from '@/lib/queries/loadRequests';
import type { RequestLine } from '@/lib/queries/requestLine';
import { Scroller } from '../Scroller';
import { type PageScope, withParams } from '../scopeUrl';
import { requestTime } from './requestTime';
import { TermBar } from './TermBar';

type Props = { list: RequestPage; slug: string; page: PageScope; isFirst: boolean };

/** A page of requests with the terms that any of them has, and the way on. */
export function RequestList({ list, slug, page, isFirst }: Props) {
  const { params, zone } = page;
  if (list.rows.length === 0)
    return <p className="card">{isFirst ? 'No request in this range fits.' : 'No more requests.'}</p>;
  const terms = TERMS.filter((term) => list.rows.some((row) => row.terms[term] !== null));
  const root = `/${slug}`;
  return (
    <section className="card">
      <div className="mb-2 flex flex-wrap items-baseline gap-4">
        <h2 className="flex-1">
          {formatCount(list.rows.length)} requests, {ORDER_WORDS[list.order]}
        </h2>
        <Exports list={list} slug={slug} params={params} />
      </div>
      <Scroller label="Requests">
        <table>
          <caption className="sr-only">Requests with their terms in milliseconds</caption>
          <Head terms={terms} />
          <tbody>
            {list.rows.map((row) => (
              <Row key={`${row.id} ${row.startedAt}`} row={row} terms={terms} root={root} timeZone={zone} />
            ))}
          </tbody>
        </table>
      </Scroller>
      <nav aria-label="Pages of the list" className="mt-3 flex gap-4">
        {!isFirst && <Link href={withParams(params, {}) || `${root}/requests`}>First page</Link>}
        {list.next !== null && (
          <Link rel="next" href={withParams(params, { cursor: list.next })} data-testid="next-page">
            Next page
          </Link>
        )}
      </nav>
    </section>
  );
}

const ORDER_WORDS = {
  slowest: 'the slowest first (by end to end)',
  newest: 'the newest first',
  oldest: 'the oldest first',
} as const;

function Head({ terms }: { terms: readonly Term[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">Started</th>
        <th scope="col">Endpoint</th>
        <th scope="col">From → to</th>
        <th scope="col">Model</th>
        {['End to end', 'Wait', 'First output'].map((heading) => (
          <th key={heading} scope="col" className="number">
            {heading}
          </th>
        ))}
        <th scope="col">Made of</th>
        {terms.map((term) => (
          <th key={term} scope="col" className="number">
            {TERM_LABELS[term]}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Row(props: { row: RequestLine; terms: readonly Term[]; root: string; timeZone: string }) {
  const { row, terms, root, timeZone } = props;
  const href = `${root}/requests/${encodeURIComponent(row.id)}?startedAt=${encodeURIComponent(row.startedAt)}`;
  return (
    <tr data-testid="request" data-id={row.id}>
      <th scope="row" className="whitespace-nowrap">
        <Link href={href}>{requestTime(row.startedAt, timeZone)}</Link>
      </th>
      <td>
        {row.endpoint}
        {row.outcome !== 'ok' && <span className="ml-2 text-bad">{row.outcome}</span>}
      </td>
      <td className="whitespace-nowrap">
        {row.clientRegion ?? '–'} → {row.serviceRegion ?? '–'}
      </td>
      <td className="whitespace-nowrap">{row.model ?? '–'}</td>
      <td className="number" data-testid="e2e">
        {formatMs(row.e2eMs)}
      </td>
      <td className="number" data-testid="wait">
        {row.censored && row.waitMs !== null ? '> ' : ''}
        {formatMs(row.waitMs)}
      </td>
      <td className="number">{formatMs(row.ttftMs)}</td>
      <td>
        <TermBar terms={row.terms} wholeMs={row.e2eMs} />
      </td>
      {terms.map((term) => (
        <td key={term} className="number" data-term={term}>
          {formatMs(row.terms[term])}
        </td>
      ))}
    </tr>
  );
}

function Exports(props: { list: RequestPage; slug: string; params: URLSearchParams }) {
  const { list, slug, params } = props;
  const page = { range: null, bars: null, compare: null, compareFrom: null, compareTo: null };
  const changes = { ...page, project: slug, from: list.from, to: list.to };
  return (
    <p className="flex gap-3">
      {(['csv', 'ndjson'] as const).map((format) => (
        <a key={format} href={`/api/v1/requests${withParams(params, { ...changes, format })}`} download>
          {format === 'csv' ? 'CSV' : 'NDJSON'}
        </a>
      ))}
    </p>
  );
}
