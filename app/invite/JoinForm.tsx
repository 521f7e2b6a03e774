'use client';

import { type FormEvent, useState } from 'react';
import { sendJson } from '../sendJson';

type Props = { token: string; email: string; isNew: boolean };

/** One button for who has an account, a password for who has none. */
export function JoinForm({ token, email, isNew }: Props) {
  const [message, setMessage] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('password');
    setBusy(true);
    const input = { token, ...(typeof given === 'string' ? { password: given } : {}) };
    const sent = await sendJson<{ slug: string }>('POST', '/api/internal/invite', input);
    if (sent.ok) return window.location.assign(isNew ? `/sign-in?next=/${sent.body.slug}` : `/${sent.body.slug}`);
    setMessage(sent.message);
    setBusy(false);
  }
  return (
    <form onSubmit={submit} className="mt-4 flex flex-col gap-3">
      {isNew && (
        <>
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
          <label className="flex flex-col gap-1">
            Choose a password (8 characters or more)
            <input name="password" type="password" autoComplete="new-password" minLength={8} required />
          </label>
        </>
      )}
      {message && (
        <p role="alert" className="text-bad">
          {message}
        </p>
      )}
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Joining…' : 'Join'}
      </button>
    </form>
  );
}
