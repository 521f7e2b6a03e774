import Link from 'next/link';
import { formatCount, formatMs, formatRatio, formatValue } from '@/lib/charts/formatMs';
import type { ProjectSummary } from '@/lib/queries/loadProject';
import type { RequestDetail as Detail } from '@/lib/queries/loadRequest';
import type { NoWaterfall, Waterfall as Trace } from '@/lib/queries/loadTrace';
import { requestTime } from '../requestTime';
import { CallTable } from './CallTable';
import { RequestFacts } from './RequestFacts';
import { RequestTerms } from './RequestTerms';
import { Waterfall } from './Waterfall';

/** One request: how long, how that ranks, what it was made of, and the calls inside it. */
export function RequestDetail({
  detail,
  trace,
  project,
}: {
  detail: Detail;
  trace: Trace | NoWaterfall;
  project: ProjectSummary;
}) {
  const { request } = detail;
  return (
    <main className="flex flex-col gap-4">
      <p>
        <Link href={`/${project.slug}/requests`}>All requests</Link>
      </p>
      <div>
        <h1 className="break-all">
          {request.endpoint}: {formatMs(request.e2eMs)}
        </h1>
        <p className="text-quiet">
          {requestTime(request.startedAt, project.timeZone)} ({project.timeZone}), id{' '}
          <code className="break-all select-all">{request.id}</code>
        </p>
      </div>
      <Rank detail={detail} />
      <RequestTerms detail={detail} />
      <Waterfall trace={trace} />
      <CallTable calls={detail.callLines} />
      <RequestFacts detail={detail} />
    </main>
  );
}

function Rank({ detail }: { detail: Detail }) {
  const { rank, request, basis } = detail;
  const what = basis === 'ttft' ? 'first output' : 'complete answer';
  if (request.waitMs === null)
    return (
      <p className="card" data-testid="rank">
        This request tells no wait for its {what} ({request.outcome}), so it has no rank among the others.
      </p>
    );
  const wait = `${request.censored ? 'at least ' : ''}${formatMs(request.waitMs)}`;
  const place = `${request.endpoint} from ${request.clientRegion ?? 'an unknown region'}`;
  if (rank === null)
    return (
      <p className="card" data-testid="rank">
        The user waited {wait} for the {what}. Nothing is kept any more to compare it with.
      </p>
    );
  return (
    <p className="card" data-testid="rank" data-share={rank.shareFaster}>
      The user waited <strong>{wait}</strong> for the {what}: slower than{' '}
      <strong>{formatRatio(rank.shareFaster, 2)}</strong> of {formatCount(rank.wait.n)} requests to {place} in the week
      around it (p50 {formatValue(rank.wait.p50)}, p99 {formatValue(rank.wait.p99)}).
    </p>
  );
}
