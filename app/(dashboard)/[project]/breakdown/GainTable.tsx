import Link from 'next/link';
import type { ReactNode } from 'react';
import { QUANTILE_KEYS, QUANTILE_LABELS } from '@/lib/core/estimate';
import { LEVER_LABELS, LEVERS, type Lever } from '@/lib/core/terms';
import type { Breakdown, GainQuantiles } from '@/lib/queries/loadBreakdown';
import { Percentile } from '../Percentile';
import { ScrollCard } from '../ScrollCard';
import { withParams } from '../scopeUrl';
import { floorCell } from './floorCell';

/** What each lever alone would save at its floor, and all of them together. */
export function GainTable({ breakdown, params }: { breakdown: Breakdown; params: URLSearchParams }) {
  return (
    <ScrollCard label="What each lever would save">
      <h2 className="mb-2">What each lever would save</h2>
      <table>
        <caption className="text-left text-quiet">
          The percentile of the wait, minus that of the same requests with the lever at its floor. Gains do not add up.
        </caption>
        <thead>
          <tr>
            <th scope="col">Lever</th>
            {QUANTILE_KEYS.map((key) => (
              <th key={key} scope="col" className="number">
                {QUANTILE_LABELS[key]}
              </th>
            ))}
            <th scope="col">Floor</th>
          </tr>
        </thead>
        <tbody>
          {ranked(breakdown.gains).map((lever) => (
            <GainRow key={lever} name={lever} label={LEVER_LABELS[lever]} gains={breakdown.gains[lever]}>
              {floorCell(breakdown.floors[lever])}
              <Behind lever={lever} gains={breakdown.gains[lever]} params={params} />
            </GainRow>
          ))}
          <GainRow name="joint" label="All together" gains={breakdown.jointGain}>
            {''}
          </GainRow>
        </tbody>
      </table>
    </ScrollCard>
  );
}

/** The largest gain at p99 first (at p50 while p99 has too few requests); levers without one come last. */
function ranked(gains: Breakdown['gains']): Lever[] {
  const size = (lever: Lever) => gains[lever].p99.ms ?? gains[lever].p50.ms ?? Number.NEGATIVE_INFINITY;
  return [...LEVERS].sort((a, b) => (size(b) === size(a) ? 0 : size(b) - size(a)));
}

function GainRow(props: { name: string; label: string; gains: GainQuantiles; children: ReactNode }) {
  return (
    <tr data-testid="gain-row" data-lever={props.name}>
      <th scope="row">{props.label}</th>
      {QUANTILE_KEYS.map((key) => (
        <Percentile key={key} value={props.gains[key]} testId={`gain-${key}`} />
      ))}
      <td className="min-w-56">{props.children}</td>
    </tr>
  );
}

/** To the requests behind a lever's gain, at the highest percentile that it has one. */
function Behind({ lever, gains, params }: { lever: Lever; gains: GainQuantiles; params: URLSearchParams }) {
  const at = (['p99', 'p90', 'p50'] as const).find((key) => gains[key].ms !== null);
  if (at === undefined || Object.values(gains).every(({ ms }) => ms === null || ms === 0)) return null;
  return (
    <>
      {' '}
      <Link href={`${withParams(params, { explain: lever, explainAt: at })}#explain`} data-testid="behind">
        requests
      </Link>
    </>
  );
}
