'use client';

import { useState } from 'react';
import { sendJson } from '@/app/sendJson';

/** Says that the data is a demo, and removes it with one click. */
export function DemoBanner({ slug, canRemove }: { slug: string; canRemove: boolean }) {
  const [message, setMessage] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function remove() {
    setBusy(true);
    const sent = await sendJson('DELETE', `/api/internal/demo?project=${encodeURIComponent(slug)}`);
    if (sent.ok) return window.location.assign('/');
    setMessage(sent.message);
    setBusy(false);
  }
  return (
    <div
      role="note"
      data-testid="demo"
      className="mb-4 flex items-center gap-4 rounded-lg border border-line bg-note p-3"
    >
      <p className="flex-1">This is demo data: a described pipeline driven by public measurements, not your traffic.</p>
      {message && (
        <p role="alert" className="text-bad">
          {message}
        </p>
      )}
      {canRemove && (
        <button type="button" onClick={remove} disabled={isBusy}>
          {isBusy ? 'Removing…' : 'Remove the demo'}
        </button>
      )}
    </div>
  );
}
