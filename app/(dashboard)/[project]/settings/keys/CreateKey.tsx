'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { sendJson } from '@/app/sendJson';

const SCOPES = {
  ingest: 'ingest: servers send events',
  browser: 'browser: pages send events from given origins',
  probe: 'probe: probes send events',
  read: 'read: ask for numbers',
  manage: 'manage: read, and change settings',
};

export function CreateKey({ slug }: { slug: string }) {
  const router = useRouter();
  const [scope, setScope] = useState('ingest');
  const [key, setKey] = useState<string | null>(null);
  const [message, setMessage] = useState<string | null>(null);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const origins = String(form.get('origins') ?? '').split(/[\s,]+/);
    const input = { name: form.get('name'), scope, origins: origins.filter((origin) => origin !== '') };
    const url = `/api/internal/keys?project=${encodeURIComponent(slug)}`;
    const sent = await sendJson<{ key: string }>('POST', url, input);
    setKey(sent.ok ? sent.body.key : null);
    setMessage(sent.ok ? null : sent.message);
    if (sent.ok) router.refresh();
  }
  return (
    <form onSubmit={submit} className="card flex flex-wrap items-end gap-3">
      <label className="flex flex-col gap-1">
        Name
        <input name="name" maxLength={64} placeholder="chat servers" required />
      </label>
      <label className="flex flex-col gap-1">
        Scope
        <select value={scope} onChange={(event) => setScope(event.target.value)}>
          {Object.entries(SCOPES).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {scope === 'browser' && (
        <label className="flex flex-col gap-1">
          Origins
          <input name="origins" placeholder="https://app.example.com" required />
        </label>
      )}
      <button type="submit" className="primary">
        Make a key
      </button>
      {message && (
        <p role="alert" className="w-full text-bad">
          {message}
        </p>
      )}
      {key && (
        <p role="status" className="w-full">
          The new key, shown only now:{' '}
          <code data-testid="new-key" className="break-all select-all">
            {key}
          </code>
        </p>
      )}
    </form>
  );
}
