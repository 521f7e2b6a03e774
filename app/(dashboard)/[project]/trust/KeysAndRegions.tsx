import { formatCount, formatMs } from '@/lib/charts/formatMs';
import type { KeyFreshness, Trust } from '@/lib/queries/loadTrust';
import { Scroller } from '../Scroller';

/** When each key last sent something, and the region names that are no known region. */
export function KeysAndRegions(props: { keys: KeyFreshness[]; regions: Trust['unknownRegions']; timeZone: string }) {
  const { keys, regions, timeZone } = props;
  const at = (text: string | null) =>
    text === null
      ? 'never'
      : new Date(text).toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <section className="card">
        <h2 className="mb-2">Newest by key</h2>
        <Scroller label="Newest by key">
          <table>
            <caption className="sr-only">
              Keys that may write, what each sent last, and how far its clock was off
            </caption>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Scope</th>
                <th scope="col">Newest event</th>
                <th scope="col">Last post</th>
                <th scope="col">Clock off by</th>
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={key.id} data-testid="key-freshness">
                  <th scope="row">
                    {key.name} <code className="text-quiet">{key.prefix}…</code>
                  </th>
                  <td>
                    {key.scope}
                    {key.revoked && ' (revoked)'}
                  </td>
                  <td data-testid="newest-event">{at(key.newestEventAt)}</td>
                  <td>{at(key.receivedAt)}</td>
                  <td>{skewOf(key)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
        {keys.length === 0 && <p className="text-quiet">No key may write.</p>}
      </section>
      <section className="card">
        <h2 className="mb-2">Region names nobody knows</h2>
        {regions.length === 0 ? (
          <p className="text-quiet">Every region name that was sent is a known one.</p>
        ) : (
          <>
            <p className="mb-2 text-quiet">
              Kept as sent. Without a known place there is no round trip, so geography cannot be judged for them.
            </p>
            <ul className="flex flex-col gap-1">
              {regions.map(({ field, name }) => (
                <li key={`${field} ${name}`} data-testid="unknown-region">
                  <code>{name}</code> <span className="text-quiet">({field})</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
    </div>
  );
}

/** "2.3 s to 14.0 s (12 posts)"; positive: the sender's clock is behind. */
function skewOf({ skewedPosts, skewMsMin, skewMsMax }: KeyFreshness): string {
  if (skewedPosts === 0) return '–';
  const span = skewMsMin === skewMsMax ? formatMs(skewMsMin) : `${formatMs(skewMsMin)} to ${formatMs(skewMsMax)}`;
  return `${span} (${formatCount(skewedPosts)} ${skewedPosts === 1 ? 'post' : 'posts'})`;
}
