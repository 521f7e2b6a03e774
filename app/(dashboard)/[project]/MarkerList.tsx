import Link from 'next/link';
import type { MarkerLine } from '@/lib/queries/loadMarkers';
import type { PageScope } from './scopeUrl';
import { withParams } from './urlParams';

type Props = { markers: MarkerLine[]; page: PageScope; root: string };

const SHOWN = 20;
const AROUND_MS = 86_400_000;

/** What was marked in the range, each with the comparison of the day after with the day before. */
export function MarkerList({ markers, page, root }: Props) {
  if (markers.length === 0) return null;
  const at = (text: string) =>
    new Date(text).toLocaleString('en-GB', { timeZone: page.zone, dateStyle: 'medium', timeStyle: 'short' });
  return (
    <details className="mt-2">
      <summary>{markers.length === 1 ? '1 marker' : `${markers.length} markers`}</summary>
      <ul className="mt-1">
        {markers.slice(-SHOWN).map((marker) => (
          <li key={marker.id} data-testid="marker">
            {at(marker.at)}: {marker.label}
            {marker.version !== null && ` (${marker.version})`},{' '}
            <Link href={`${root}/compare${aroundParams(marker, page.params)}`} className="underline">
              the day after against the day before
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

function aroundParams(marker: MarkerLine, params: URLSearchParams): string {
  const atMs = Date.parse(marker.at);
  const iso = (ms: number) => new Date(ms).toISOString();
  return withParams(params, {
    ...{ range: null, step: null, axis: null, by: null, sort: null, box: null },
    ...{ from: iso(atMs), to: iso(atMs + AROUND_MS), compare: 'custom' },
    ...{ compareFrom: iso(atMs - AROUND_MS), compareTo: iso(atMs) },
  });
}
