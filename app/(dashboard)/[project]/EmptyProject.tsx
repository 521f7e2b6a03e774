'use client';

import Link from 'next/link';
import { useEffect, useState } from 'react';
import { Scroller } from './Scroller';

const POLL_MS = 2_000;

/** How to send the first event; the page turns into the overview when it is there. */
export function EmptyProject({ slug }: { slug: string }) {
  const [origin, setOrigin] = useState('http://localhost:3000');
  useEffect(() => {
    setOrigin(window.location.origin);
    const timer = setInterval(async () => {
      const answer = await fetch(`/api/internal/received?project=${encodeURIComponent(slug)}`).catch(() => null);
      const body = answer?.ok ? ((await answer.json()) as { newestEventAt: string | null }) : null;
      if (body?.newestEventAt) window.location.reload();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [slug]);
  const event = `[{"id":"'$(date +%s)'","startedAt":'$(date +%s000)',
    "endpoint":"chat","clientRegion":"eu-west-2","e2eMs":420,"terms":{"modelMs":180}}]`;
  const lines = [
    `export ISOCHRONE_KEY='your ingest key'`,
    `curl -sS ${origin}/api/v1/events \\`,
    `  -H "Authorization: Bearer $ISOCHRONE_KEY" -H 'content-type: application/json' \\`,
    `  -d '${event}'`,
  ].join('\n');
  return (
    <main className="card" data-testid="empty">
      <h1>Waiting for the first event</h1>
      <p className="mt-2 text-quiet">
        Send one with an ingest key (<Link href={`/${slug}/settings/keys`}>make one under Keys</Link>). This page shows
        it as soon as it is there.
      </p>
      <div className="mt-3">
        <Scroller label="What to type">
          <pre className="rounded border border-line p-3 select-all">{lines}</pre>
        </Scroller>
      </div>
      <p className="mt-3 flex flex-wrap items-center gap-3 text-quiet">
        <button type="button" onClick={() => void navigator.clipboard?.writeText(lines)}>
          Copy
        </button>
        <span role="status">Looking for it every two seconds.</span>
      </p>
    </main>
  );
}
