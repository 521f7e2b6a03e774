import Link from 'next/link';
import { formatCount, formatMs } from '@/lib/charts/formatMs';
import type { Box, Selection } from '@/lib/queries/loadSelection';
import { StudyTables } from '../StudyTables';
import type { PageScope } from '../scopeUrl';
import { withParams } from '../urlParams';

type Props = { box: Box; study: Selection; page: PageScope; root: string };

/** What is different about the requests of an area, against the others of about the same time. */
export function SelectionCard({ box, study, page, root }: Props) {
  const at = (ms: number | string) =>
    new Date(ms).toLocaleString('en-GB', { timeZone: page.zone, dateStyle: 'medium', timeStyle: 'short' });
  const narrow = {
    ...{ range: null, box: null, by: null, sort: null, step: null },
    ...{ from: new Date(box.fromUs / 1000).toISOString(), to: new Date(box.toUs / 1000).toISOString() },
  };
  return (
    <div className="mt-4 border-t border-line pt-4" data-testid="selection">
      <h3 className="font-semibold">
        {formatMs(box.lowMs)} to {formatMs(box.highMs)}, {at(box.fromUs / 1000)} to {at(box.toUs / 1000)}
      </h3>
      <p className="text-quiet">
        {study.complete ? '' : 'About '}
        <span data-testid="selected">{formatCount(study.selected.weight)}</span> requests, against{' '}
        <span data-testid="rest">{formatCount(study.rest.weight)}</span> others from {at(study.restFrom)} to{' '}
        {at(study.restTo)}.{' '}
        <Link href={`${root}/latency${withParams(page.params, narrow)}`}>Narrow the range to it</Link>.
      </p>
      <StudyTables study={study} here="Here" others="Others" />
      <Slowest study={study} at={at} root={root} />
    </div>
  );
}

function Slowest({ study, at, root }: { study: Selection; at: (text: string) => string; root: string }) {
  if (study.slowest.length === 0) return null;
  return (
    <details className="mt-3">
      <summary>The slowest of them</summary>
      <ul className="mt-1">
        {study.slowest.map((request) => (
          <li key={request.id}>
            <Link
              href={`${root}/requests/${encodeURIComponent(request.id)}?startedAt=${encodeURIComponent(request.at)}`}
            >
              {formatMs(request.waitMs)}
            </Link>{' '}
            {request.endpoint} from {request.clientRegion ?? 'an unknown region'}, {at(request.at)}
          </li>
        ))}
      </ul>
    </details>
  );
}
