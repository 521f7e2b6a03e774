import { formatCount } from '@/lib/charts/formatMs';
import type { Trust } from '@/lib/queries/loadTrust';
import { Scroller } from '../Scroller';

/** Chunks that could not be folded, with the reason; nothing when there are none. */
export function Quarantined(props: { chunks: Trust['quarantined']; total: number; timeZone: string }) {
  const { chunks, total, timeZone } = props;
  if (chunks.length === 0) return null;
  return (
    <section className="card">
      <h2 className="mb-2">In quarantine</h2>
      <Scroller label="In quarantine">
        <table>
          <caption className="text-left text-quiet">
            {total > chunks.length
              ? `The newest ${formatCount(chunks.length)} of ${formatCount(total)} chunks.`
              : 'Chunks that could not be folded. A rebuild tries them again.'}
          </caption>
          <thead>
            <tr>
              <th scope="col">Chunk</th>
              <th scope="col">Of (UTC day)</th>
              <th scope="col">Since</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {chunks.map((chunk) => (
              <tr key={chunk.chunkId} data-testid="quarantined">
                <th scope="row">
                  <code>{chunk.chunkId}</code>
                </th>
                <td>{chunk.day}</td>
                <td>
                  {new Date(chunk.at).toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' })}
                </td>
                <td className="break-words">{chunk.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
