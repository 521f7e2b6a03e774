import { explainValue, formatCount, formatMs } from '@/lib/charts/formatMs';
import type { Value } from '@/lib/core/estimate';
import type { ClientPlacement, RoundTrip } from '@/lib/core/placementGains';
import { Scroller } from '../Scroller';

/** For each client region, where the service could run instead, the largest gain first; a loss is shown as one. */
export function PlacementTable({ placements }: { placements: ClientPlacement[] }) {
  if (placements.length === 0)
    return (
      <p className="card" data-testid="no-placements">
        No other place is nearer to any client region, or the places are not known.
      </p>
    );
  return (
    <section className="card">
      <h2 className="mb-2">Where it could run instead</h2>
      <Scroller label="Placements">
        <table>
          <caption className="text-left text-quiet">
            What each placement would gain or cost the same requests, computed request by request. Longer calls from
            there to the model are counted.
          </caption>
          <thead>
            <tr>
              <th scope="col">From, served in</th>
              <th scope="col">Placement</th>
              {['At p99', 'At p50', 'Mean'].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
              <th scope="col">Round trip now → then</th>
            </tr>
          </thead>
          <tbody>
            {placements.map((placement) =>
              placement.scenarios.map((scenario, index) => (
                <tr
                  key={`${placement.clientRegion} ${placement.serviceRegion} ${scenario.words}`}
                  data-testid="placement"
                  data-client={placement.clientRegion}
                  data-words={scenario.words}
                >
                  {index === 0 && (
                    <th scope="rowgroup" rowSpan={placement.scenarios.length} className="align-top whitespace-nowrap">
                      {placement.clientRegion}, {placement.serviceRegion}
                      <span className="block font-normal text-quiet">{formatCount(placement.n)} sampled requests</span>
                    </th>
                  )}
                  <td>{scenario.words}</td>
                  <Gain value={scenario.gain.p99} testId="gain-p99" />
                  <Gain value={scenario.gain.p50} />
                  <td className="number">{signed(scenario.meanSavedMs)}</td>
                  <td className="whitespace-nowrap">
                    {tripWords(placement.roundTrip)} → {tripWords(scenario.roundTrip)}
                    <span className="block text-quiet">{sourceWords(placement.roundTrip, scenario.roundTrip)}</span>
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}

function Gain({ value, testId }: { value: Value; testId?: string }) {
  const colour = value.ms === null || value.ms === 0 ? '' : value.ms > 0 ? 'text-good' : 'text-bad';
  return (
    <td className={`number ${colour}`} title={explainValue(value)} data-testid={testId}>
      {value.ms === null ? (value.reason === 'too_few' ? 'too few' : '–') : signed(value.ms)}
    </td>
  );
}

/** "gains 218 ms", "costs 142 ms", "0 ms". */
function signed(ms: number): string {
  if (Math.abs(ms) < 0.05) return '0 ms';
  return ms > 0 ? `gains ${formatMs(ms)}` : `costs ${formatMs(-ms)}`;
}

const tripWords = (trip: RoundTrip | null) => (trip === null ? '–' : formatMs(trip.ms));

function sourceWords(now: RoundTrip | null, then: RoundTrip | null): string {
  return [...new Set([now?.source, then?.source].filter((source) => source !== undefined))].join('; ');
}
