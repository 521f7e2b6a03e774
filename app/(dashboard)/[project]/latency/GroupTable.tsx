import Link from 'next/link';
import { formatCount } from '@/lib/charts/formatMs';
import type { LatencyGroup, LatencyGroups } from '@/lib/queries/loadLatencyGroups';
import { GROUP_BY, type GroupBy } from '@/lib/queries/waits';
import { Choices } from '../Choices';
import { Percentile } from '../Percentile';
import { Scroller } from '../Scroller';
import { withParams } from '../urlParams';
import type { Sort } from './latencyUrl';
import { Sparkline } from './Sparkline';

const DIMENSION_WORDS: Record<GroupBy, string> = {
  endpoint: 'Endpoint',
  clientRegion: 'Client region',
  serviceRegion: 'Service region',
  provider: 'Provider',
  model: 'Model',
  version: 'Version',
  environment: 'Environment',
};
const COLUMNS = [
  ['n', 'Requests'],
  ['p50', 'p50'],
  ['p95', 'p95'],
  ['p99', 'p99'],
] as const;
const SHOWN = 100;

type Props = { groups: LatencyGroups; sort: Sort; params: URLSearchParams; csv: string };

/** How slow for whom: one row a value of a dimension, sorted by what its heading says. */
export function GroupTable({ groups: { groupBy, groups }, sort, params, csv }: Props) {
  const rows = [...groups].sort(ORDERS[sort]).slice(0, SHOWN);
  const word = DIMENSION_WORDS[groupBy];
  return (
    <section className="card" aria-labelledby="by-group">
      <div className="mb-2 flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <h2 id="by-group">By</h2>
        <Choices
          label="Dimension"
          choices={GROUP_BY.map((by) => ({ words: DIMENSION_WORDS[by], href: withParams(params, { by }) }))}
          chosen={word}
        />
        <span className="flex-1" />
        <a href={csv}>CSV</a>
      </div>
      <Scroller label={`Latency by ${word.toLowerCase()}`}>
        <table>
          <caption className="sr-only">Latency by {word.toLowerCase()}</caption>
          <thead>
            <tr>
              <SortHeading sort={sort} by="group" params={params}>
                {word}
              </SortHeading>
              {COLUMNS.map(([by, label]) => (
                <SortHeading key={by} sort={sort} by={by} params={params}>
                  {label}
                </SortHeading>
              ))}
              <th scope="col">p95 over time</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <GroupRow key={row.group ?? ''} row={row} groupBy={groupBy} params={params} />
            ))}
          </tbody>
        </table>
      </Scroller>
      {groups.length > SHOWN && (
        <p className="mt-2 text-quiet">Not shown: {formatCount(groups.length - SHOWN)} more; the CSV has them all.</p>
      )}
    </section>
  );
}

function GroupRow({ row, groupBy, params }: { row: LatencyGroup; groupBy: GroupBy; params: URLSearchParams }) {
  const { group, quantiles, trend } = row;
  return (
    <tr data-testid="group" data-group={group ?? ''}>
      <th scope="row">
        {group === null ? 'not told' : <Link href={withParams(params, { [groupBy]: group, box: null })}>{group}</Link>}
      </th>
      <td className="number">{formatCount(quantiles.n)}</td>
      <Percentile value={quantiles.p50} testId="p50" />
      <Percentile value={quantiles.p95} testId="p95" />
      <Percentile value={quantiles.p99} testId="p99" />
      <td>
        <Sparkline values={trend.map(({ value }) => value.ms)} />
      </td>
    </tr>
  );
}

type HeadingProps = { sort: Sort; by: Sort; params: URLSearchParams; children: string };

function SortHeading({ sort, by, params, children }: HeadingProps) {
  const isOn = sort === by;
  return (
    <th scope="col" className={by === 'group' ? '' : 'number'} aria-sort={isOn ? DIRECTION[by] : undefined}>
      <Link href={withParams(params, { sort: by })} scroll={false} className={isOn ? 'text-ink' : 'text-quiet'}>
        {children}
        {isOn && <span aria-hidden="true">{by === 'group' ? ' ↑' : ' ↓'}</span>}
      </Link>
    </th>
  );
}

const DIRECTION = {
  n: 'descending',
  p50: 'descending',
  p95: 'descending',
  p99: 'descending',
  group: 'ascending',
} as const;

type Order = (a: LatencyGroup, b: LatencyGroup) => number;
/** By the value shown, else by its lower bound ("≥ 300 ms"); none comes last. */
const byQuantile =
  (key: 'p50' | 'p95' | 'p99'): Order =>
  (a, b) =>
    size(b.quantiles[key]) - size(a.quantiles[key]);
const size = (value: LatencyGroup['quantiles']['p50']) => value.ms ?? value.lowMs ?? -1;
const ORDERS: Record<Sort, Order> = {
  n: (a, b) => b.quantiles.n - a.quantiles.n,
  p50: byQuantile('p50'),
  p95: byQuantile('p95'),
  p99: byQuantile('p99'),
  group: (a, b) => (a.group ?? '').localeCompare(b.group ?? ''),
};
