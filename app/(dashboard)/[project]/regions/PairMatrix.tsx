import { explainValue, formatCount, formatMs, formatValue } from '@/lib/charts/formatMs';
import type { RegionPair, Regions } from '@/lib/queries/loadRegions';
import { Scroller } from '../Scroller';
import { bestGain } from './bestGain';

const nameOf = (region: string | null) => region ?? 'unknown';
const distinct = (names: (string | null)[]) => [...new Set(names)];

/** Client regions down, service regions across: the wait at p99, the way's part of it, and what a better place would save. */
export function PairMatrix({ regions }: { regions: Regions }) {
  const { pairs, morePairs } = regions;
  const clients = distinct(pairs.map((pair) => pair.clientRegion));
  const services = distinct(pairs.map((pair) => pair.serviceRegion));
  return (
    <section className="card">
      <h2 className="mb-2">Client region × service region</h2>
      <Scroller label="Client region by service region">
        <table>
          <caption className="text-left text-quiet">
            Wait at p99, geography (transit) at p50 and p99, what the best other place would save at p99, requests.
          </caption>
          <thead>
            <tr>
              <th scope="col">From</th>
              {services.map((service) => (
                <th key={service} scope="col">
                  {nameOf(service)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {clients.map((client) => (
              <tr key={client}>
                <th scope="row" className="whitespace-nowrap">
                  {nameOf(client)}
                </th>
                {services.map((service) => {
                  const pair = pairs.find((one) => one.clientRegion === client && one.serviceRegion === service);
                  return <PairCell key={service} pair={pair} regions={regions} />;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      {morePairs > 0 && (
        <p className="mt-2 text-quiet">Not shown: {formatCount(morePairs)} more pairs with fewer requests.</p>
      )}
    </section>
  );
}

function PairCell({ pair, regions }: { pair: RegionPair | undefined; regions: Regions }) {
  if (pair === undefined) return <td className="text-quiet">–</td>;
  const gain = bestGain(regions.placements, pair);
  return (
    <td
      className="align-top whitespace-nowrap"
      data-testid="region-pair"
      data-client={pair.clientRegion}
      data-service={pair.serviceRegion}
    >
      <p className="font-semibold" title={explainValue(pair.wait.p99)} data-testid="wait-p99">
        {formatValue(pair.wait.p99)}
      </p>
      <p className="text-quiet" title={`geography: p50, p99 ${explainValue(pair.network.p99)}`}>
        way {formatValue(pair.network.p50)} · {formatValue(pair.network.p99)}
      </p>
      <p className={typeof gain === 'number' && gain > 0 ? 'text-bad' : 'text-quiet'} data-testid="avoidable">
        {typeof gain === 'string'
          ? `avoidable: ${gain}`
          : gain > 0
            ? `avoidable ${formatMs(gain)}`
            : 'nothing to avoid'}
      </p>
      <p className="text-quiet" data-testid="n">
        n {formatCount(pair.n)}
      </p>
    </td>
  );
}
