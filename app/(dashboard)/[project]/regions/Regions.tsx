import Link from 'next/link';
import { formatCount } from '@/lib/charts/formatMs';
import type { Regions as RegionsResult } from '@/lib/queries/loadRegions';
import { RangeNote } from '../RangeNote';
import { type PageScope, withParams } from '../scopeUrl';
import { PairMatrix } from './PairMatrix';
import { PlacementTable } from './PlacementTable';
import { WorldMap } from './WorldMap';

/** One endpoint: who waits where, and what another place would gain or cost. */
export function Regions({ regions, page }: { regions: RegionsResult; page: PageScope }) {
  if (regions.endpoint === null) return <p className="card">No requests in this range.</p>;
  return (
    <>
      <RangeNote answer={regions} vantage={regions.vantage} zone={page.zone} />
      <EndpointNote regions={regions} params={page.params} />
      <WorldMap regions={regions} />
      <PairMatrix regions={regions} />
      <PlacementTable placements={regions.placements} />
    </>
  );
}

const LINKS_SHOWN = 8;

/** Which endpoint this is about: places are never judged for several at once. */
function EndpointNote({ regions, params }: { regions: RegionsResult; params: URLSearchParams }) {
  const { endpoint, otherEndpoints } = regions;
  return (
    <p data-testid="endpoint" data-endpoint={endpoint}>
      About <strong>{endpoint}</strong>
      {regions.endpointClass !== null && ` (${regions.endpointClass})`}
      {otherEndpoints.length > 0 && (
        <>
          , of those that tell their regions the one with the most requests; endpoints are never pooled. Others:{' '}
          {otherEndpoints.slice(0, LINKS_SHOWN).map((other, index) => (
            <span key={other.endpoint}>
              {index > 0 && ', '}
              <Link href={withParams(params, { endpoint: other.endpoint })}>{other.endpoint}</Link> (
              {formatCount(other.n)})
            </span>
          ))}
          {otherEndpoints.length > LINKS_SHOWN && ` and ${formatCount(otherEndpoints.length - LINKS_SHOWN)} more`}
        </>
      )}
      .
    </p>
  );
}
