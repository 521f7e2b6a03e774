import Link from 'next/link';
import { formatCount } from '@/lib/charts/formatMs';
import type { Breakdown, BreakdownCell } from '@/lib/queries/loadBreakdown';
import { Percentile } from '../Percentile';
import { ScrollCard } from '../ScrollCard';
import { withParams } from '../scopeUrl';

const COLUMNS = ['e2e', 'model', 'gap'] as const;
const HEADINGS = { e2e: 'End to end', model: 'Model', gap: 'Gap' };

/** End to end against model for each endpoint and client region of the scope, the most requests first as they come. */
export function PairTable({ breakdown, params }: { breakdown: Breakdown; params: URLSearchParams }) {
  const { cells, moreCells } = breakdown;
  if (cells.length === 0) return null;
  return (
    <ScrollCard label="By endpoint and client region">
      <h2 className="mb-2">By endpoint and client region</h2>
      <table>
        <caption className="sr-only">End to end, model and gap of each endpoint and client region</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint and client region</th>
            <th scope="col" className="number">
              Requests
            </th>
            {COLUMNS.flatMap((column) =>
              ['p50', 'p99'].map((q) => (
                <th key={`${column} ${q}`} scope="col" className="number">
                  {HEADINGS[column]} {q}
                </th>
              )),
            )}
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => (
            <PairRow key={JSON.stringify([cell.endpoint, cell.clientRegion])} cell={cell} params={params} />
          ))}
        </tbody>
      </table>
      {moreCells.cells > 0 && (
        <p className="mt-2 text-quiet">
          Not shown: {formatCount(moreCells.cells)} more, with {formatCount(moreCells.n)} requests. Choose an endpoint
          or a client region to see them.
        </p>
      )}
    </ScrollCard>
  );
}

function PairRow({ cell, params }: { cell: BreakdownCell; params: URLSearchParams }) {
  const place = `${cell.endpoint} from ${cell.clientRegion ?? 'an unknown region'}`;
  const only = { endpoint: cell.endpoint, clientRegion: cell.clientRegion };
  return (
    <tr data-testid="pair" data-endpoint={cell.endpoint} data-region={cell.clientRegion}>
      <th scope="row">
        <Link href={withParams(params, only)}>{place}</Link>
      </th>
      <td className="number">{formatCount(cell.n)}</td>
      {COLUMNS.flatMap((column) => [
        <Percentile key={`${column} p50`} value={cell[column].p50} />,
        <Percentile key={`${column} p99`} value={cell[column].p99} />,
      ])}
    </tr>
  );
}
