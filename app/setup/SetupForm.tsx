'use client';

import { type FormEvent, useState } from 'react';
import { sendJson } from '../sendJson';

type Made = { slug: string; key: string };

export function SetupForm({ token }: { token: string }) {
  const [message, setMessage] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const input = { token, ...Object.fromEntries(new FormData(event.currentTarget)) };
    setBusy(true);
    const sent = await sendJson<Made>('POST', '/api/internal/setup', input);
    setBusy(false);
    if (sent.ok) setMade(sent.body);
    else setMessage(sent.message);
  }
  if (made) return <FirstKey made={made} />;
  return (
    <form onSubmit={submit} className="mt-4 flex flex-col gap-3">
      <label className="flex flex-col gap-1">
        Your e-mail
        <input name="email" type="email" autoComplete="username" required />
      </label>
      <label className="flex flex-col gap-1">
        Password (8 characters or more)
        <input name="password" type="password" autoComplete="new-password" minLength={8} required />
      </label>
      <label className="flex flex-col gap-1">
        Name of the first project
        <input name="project" maxLength={64} placeholder="Chat service" required />
      </label>
      {message && (
        <p role="alert" className="text-bad">
          {message}
        </p>
      )}
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Setting up…' : 'Create owner and project'}
      </button>
    </form>
  );
}

function FirstKey({ made }: { made: Made }) {
  return (
    <div className="mt-4 flex flex-col gap-3">
      <p>Your project is ready. This is its ingest key; it is shown only now, so keep it somewhere safe:</p>
      <code data-testid="new-key" className="rounded border border-line p-2 break-all select-all">
        {made.key}
      </code>
      <p>
        <a href={`/sign-in?next=/${made.slug}`}>I have kept it: sign in</a>
      </p>
    </div>
  );
}
