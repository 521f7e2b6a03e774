import { formatCount, formatRatio } from '@/lib/charts/formatMs';
import type { RegionSetup } from '@/lib/queries/loadSetup';
import { Scroller } from '../Scroller';

/** How each client region is measured; nothing before there are requests. */
export function RegionTable({ regions }: { regions: RegionSetup[] }) {
  if (regions.length === 0) return null;
  return (
    <section className="card">
      <h2 className="mb-2">By client region</h2>
      <Scroller label="By client region">
        <table>
          <caption className="sr-only">Client regions with how their requests are measured</caption>
          <thead>
            <tr>
              <th scope="col">Client region</th>
              {['Requests', 'Measured at the client', 'With model time'].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
              <th scope="col">Note</th>
            </tr>
          </thead>
          <tbody>
            {regions.map((region) => (
              <tr key={region.clientRegion} data-testid="setup-region" data-region={region.clientRegion}>
                <th scope="row" className="whitespace-nowrap">
                  {region.clientRegion ?? 'not told'}
                </th>
                <td className="number" data-testid="n">
                  {formatCount(region.n)}
                </td>
                <td className="number" data-testid="client-share">
                  {formatRatio(region.clientShare)}
                </td>
                <td className="number" data-testid="model-share">
                  {formatRatio(region.modelShare)}
                </td>
                <td className="min-w-40">
                  {[
                    region.nextToService ? 'measured next to the service: not what users see' : null,
                    region.hasP99 ? null : 'too few requests for a p99',
                  ]
                    .filter((note) => note !== null)
                    .join('; ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
