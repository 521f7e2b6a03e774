import { formatCount, formatMs } from '@/lib/charts/formatMs';
import type { CallLine } from '@/lib/queries/loadRequest';
import { Scroller } from '../../Scroller';

/** The model and tool calls inside the request, in the order they were sent; nothing without any. */
export function CallTable({ calls }: { calls: CallLine[] }) {
  if (calls.length === 0) return null;
  return (
    <section className="card">
      <h2 className="mb-2">Calls inside it</h2>
      <Scroller label="Calls">
        <table>
          <caption className="sr-only">Model and tool calls of the request</caption>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col">Model</th>
              <th scope="col">Region</th>
              {[
                'After',
                'Duration',
                'First output',
                'Hop',
                'Provider queue',
                'Model',
                'Attempts',
                'Tokens in',
                'out',
              ].map((heading) => (
                <th key={heading} scope="col" className="number">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {calls.map((call, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls have no id, and their order never changes
              <tr key={index} data-testid="call">
                <th scope="row">{call.stage}</th>
                <td>{[call.provider, call.model].filter((name) => name !== null).join(' / ') || '–'}</td>
                <td>{call.modelRegion ?? '–'}</td>
                {[call.startOffsetMs, call.durationMs, call.ttftMs, call.hopMs, call.providerQueueMs, call.modelMs].map(
                  (ms, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: one cell a column
                    <td key={at} className="number">
                      {formatMs(ms)}
                    </td>
                  ),
                )}
                {[call.attempts, call.inputTokens, call.outputTokens].map((n, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: one cell a column
                  <td key={at} className="number">
                    {n === null ? '–' : formatCount(n)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
