import { formatCount, formatMs } from '@/lib/charts/formatMs';
import type { RequestDetail } from '@/lib/queries/loadRequest';

type Fact = [label: string, value: string | null];
const count = (n: number | null) => (n === null ? null : formatCount(n));
const duration = (ms: number | null) => (ms === null ? null : formatMs(ms));

/** Everything else that was sent of the request; what was not is left out. */
export function RequestFacts({ detail }: { detail: RequestDetail }) {
  const { request } = detail;
  const facts: Fact[] = [
    ['Outcome', request.outcome],
    ['Measured at', request.vantage],
    ['Client region', request.clientRegion],
    ['Service region', request.serviceRegion],
    ['Provider', request.provider],
    ['Model', request.model],
    ['Model region', request.modelRegion],
    ['Environment', request.environment],
    ['Version', request.version],
    ['First output', duration(request.ttftMs)],
    ['Gap (wait − model)', duration(request.gapMs)],
    ['Seen by the service', duration(detail.serviceMs)],
    ['Kind of queue', detail.queueKind],
    ['Connection', request.connection],
    ['Round trips', count(request.roundTrips)],
    ['Round-trip time', duration(request.rttMs)],
    ['Input tokens', count(request.inputTokens)],
    ['Output tokens', count(request.outputTokens)],
    ['Cached input tokens', count(request.cachedInputTokens)],
    ['In flight', count(request.inFlight)],
    ['Cache', request.cache],
    ['Quality', request.quality === null ? null : String(request.quality)],
    ['Stands for', request.weight === 1 ? null : `${formatCount(request.weight)} requests (sampled)`],
    ['Trace', request.traceId],
    ['Session', request.sessionId],
    ...Object.entries(request.attributes ?? {}).map(([name, value]): Fact => [`${name} (attribute)`, value]),
  ];
  return (
    <section className="card">
      <h2 className="mb-2">What was sent</h2>
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-3">
        {facts
          .filter(([, value]) => value !== null)
          .map(([label, value]) => (
            <div key={label} className="flex justify-between gap-3 border-b border-line pb-1">
              <dt className="text-quiet">{label}</dt>
              <dd className="text-right break-all">{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}
