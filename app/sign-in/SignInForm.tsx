'use client';

import { type FormEvent, useState } from 'react';
import { errorWords } from '../sendJson';

export function SignInForm({ next }: { next: string }) {
  const [message, setMessage] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    const failure = await signIn(String(form.get('email')), String(form.get('password')));
    if (failure === null) return window.location.assign(next);
    setMessage(failure);
    setBusy(false);
  }
  return (
    <form onSubmit={submit} className="mt-4 flex flex-col gap-3">
      <label className="flex flex-col gap-1">
        E-mail
        <input name="email" type="email" autoComplete="username" required />
      </label>
      <label className="flex flex-col gap-1">
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      {message && (
        <p role="alert" className="text-bad">
          {message}
        </p>
      )}
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}

/** Null when signed in, else words for a person. */
async function signIn(email: string, password: string): Promise<string | null> {
  try {
    const { csrfToken } = (await (await fetch('/api/auth/csrf')).json()) as { csrfToken: string };
    const body = new URLSearchParams({ email, password, csrfToken, json: 'true' });
    const response = await fetch('/api/auth/callback/credentials', { method: 'POST', body });
    if (response.ok) return null;
    if (response.status === 429) return errorWords(await response.json());
    return 'E-mail or password is wrong.';
  } catch {
    return 'The server did not answer. Is it running?';
  }
}
