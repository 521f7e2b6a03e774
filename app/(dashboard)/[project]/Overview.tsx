import Link from 'next/link';
import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { percentileLabel, stackedBars } from '@/lib/charts/stackedBars';
import { LEVER_LABELS } from '@/lib/core/terms';
import type { OverviewCell, Overview as OverviewResult } from '@/lib/queries/loadOverview';
import { explainHref, Headline } from './Headline';
import { Percentile } from './Percentile';
import { RangeNote } from './RangeNote';
import { Scroller } from './Scroller';
import { SloTable } from './SloTable';
import { StackedChart } from './StackedChart';
import { withParams } from './scopeUrl';

type Props = { overview: OverviewResult; root: string; params: URLSearchParams };

export function Overview({ overview, root, params }: Props) {
  const { headline, cells } = overview;
  const at = params.get('bars') === 'p50' ? 'p50' : 'p99';
  const rows = cells.map((cell) => ({
    label: placeOf(cell),
    point: at === 'p50' ? cell.anatomyP50 : cell.anatomyP99,
  }));
  return (
    <>
      <RangeNote answer={overview} vantage={overview.vantage} zone={params.get('timeZone')} />
      {headline ? (
        <Headline
          told={headline.breakdown}
          place={placeOf(headline.cell)}
          explainHref={explainHref(
            headline.breakdown.largestAvoidable,
            (changes) => `${root}/breakdown${cellParams(params, headline.cell, changes)}`,
          )}
        />
      ) : (
        <p className="card text-lg" data-testid="sentence" data-reason="no_data">
          No requests in this range.
        </p>
      )}
      <SloTable slos={overview.slos} />
      {cells.length > 0 && (
        <section className="card">
          <div className="mb-2 flex flex-wrap items-baseline gap-4">
            <h2 className="flex-1">What requests around {at} are made of</h2>
            <Link href={withParams(params, { bars: at === 'p50' ? 'p99' : 'p50' }) || root}>
              Show {at === 'p50' ? 'p99' : 'p50'}
            </Link>
          </div>
          <StackedChart
            title={`Mean terms of the requests around ${at}, by endpoint and client region`}
            bars={stackedBars(rows)}
            direction="across"
            labelHeading="Endpoint and client region"
          />
          <CellTable cells={cells} root={root} params={params} />
          <NotShown more={overview.moreCells} />
        </section>
      )}
      {headline && headline.anatomy.length > 0 && (
        <section className="card">
          <h2 className="mb-2">Anatomy of the wait: {placeOf(headline.cell)}</h2>
          <StackedChart
            title={`Mean terms by percentile of wait, ${placeOf(headline.cell)}`}
            bars={stackedBars(headline.anatomy.map((p) => ({ label: percentileLabel(p.percentile), point: p })))}
            direction="up"
            labelHeading="Percentile of wait"
          />
        </section>
      )}
    </>
  );
}

function CellTable({ cells, root, params }: { cells: OverviewCell[]; root: string; params: URLSearchParams }) {
  return (
    <Scroller label="Endpoints and client regions">
      <table className="mt-3">
        <caption className="sr-only">Endpoints and client regions, the most worth fixing first</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint and client region</th>
            {['Requests', 'Wait p50', 'Wait p99', 'Model p50', 'Gap p50'].map((heading) => (
              <th key={heading} scope="col" className="number">
                {heading}
              </th>
            ))}
            <th scope="col">Largest avoidable</th>
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => (
            <tr key={placeOf(cell)} data-testid="cell" data-endpoint={cell.endpoint} data-region={cell.clientRegion}>
              <th scope="row">
                <Link href={`${root}/breakdown${cellParams(params, cell)}`}>{placeOf(cell)}</Link>
              </th>
              <td className="number">{formatCount(cell.wait.n)}</td>
              <Percentile value={cell.wait.p50} testId="p50" />
              <Percentile value={cell.wait.p99} testId="p99" />
              <Percentile value={cell.model.p50} />
              <Percentile value={cell.gap.p50} />
              <td>{avoidable(cell)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function NotShown({ more }: { more: OverviewResult['moreCells'] }) {
  if (more.cells === 0) return null;
  return (
    <p className="mt-2 text-quiet" data-testid="not-shown">
      Not shown: {formatCount(more.cells)} more, with {formatCount(more.n)} requests.
    </p>
  );
}

/** "chat from eu-west-2". */
function placeOf(cell: { endpoint: string; clientRegion: string | null }): string {
  return `${cell.endpoint} from ${cell.clientRegion ?? 'an unknown region'}`;
}

function cellParams(params: URLSearchParams, cell: OverviewCell, changes: Record<string, string> = {}): string {
  return withParams(params, { endpoint: cell.endpoint, clientRegion: cell.clientRegion, bars: null, ...changes });
}

const REASON_WORDS: Record<OverviewCell['reason'], string> = {
  named: '–',
  level: '–',
  masked: '–',
  instrument_first: 'instrument first',
  nothing_worth_fixing: 'nothing worth fixing first',
  too_few: 'too few requests',
  no_data: '–',
  several_endpoints: '–',
};

function avoidable(cell: OverviewCell): string {
  const largest = cell.largestAvoidable;
  if (largest === null) return REASON_WORDS[cell.reason];
  const levers = largest.levers.map((lever) => LEVER_LABELS[lever]).join(cell.reason === 'level' ? ' or ' : ' + ');
  const at = largest.quantile === 'p999' ? 'p99.9' : largest.quantile;
  const inside = cell.comesInside > 0 ? `; ${formatCount(cell.comesInside)} more inside the objective` : '';
  return `${levers}, ${formatMs(largest.gainMs)} at ${at}${inside}`;
}
