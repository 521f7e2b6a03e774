import { formatMs } from '@/lib/charts/formatMs';
import type { Breakdown } from '@/lib/queries/loadBreakdown';
import { ScrollCard } from '../ScrollCard';

type Scenario = Breakdown['placements'][number];

/** Where the service could run instead, for each client region; scenarios that lose are there too. */
export function PlacementTable({ placements }: { placements: Breakdown['placements'] }) {
  if (placements.length === 0) return null;
  const ordered = [...placements].sort((a, b) =>
    a.clientRegion < b.clientRegion ? -1 : a.clientRegion > b.clientRegion ? 1 : b.meanSavedMs - a.meanSavedMs,
  );
  return (
    <ScrollCard label="Placement">
      <h2 className="mb-2">Where the service could run</h2>
      <table>
        <caption className="text-left text-quiet">
          What moving would save each request on average: shorter ways to the clients, less what longer ways to the
          model would cost.
        </caption>
        <thead>
          <tr>
            <th scope="col">Clients in</th>
            <th scope="col">Service in</th>
            <th scope="col">Move</th>
            <th scope="col" className="number">
              Saves a request
            </th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {ordered.map((one) => (
            <tr
              key={JSON.stringify([one.clientRegion, one.serviceRegion, one.words])}
              data-testid="placement"
              data-losing={one.losing}
            >
              <th scope="row">{one.clientRegion}</th>
              <td>{one.serviceRegion}</td>
              <td>{one.words}</td>
              <td className="number">{formatMs(one.meanSavedMs)}</td>
              <td>{verdict(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollCard>
  );
}

function verdict(one: Scenario): string {
  if (one.losing) return 'loses';
  return one.chosen ? 'best allowed' : 'gains less';
}
