'use client';

import { LogOut } from 'lucide-react';

/** Ends the session on the server, then shows the sign-in page. */
export function SignOut() {
  async function signOut() {
    const { csrfToken } = (await (await fetch('/api/auth/csrf')).json()) as { csrfToken: string };
    await fetch('/api/auth/signout', { method: 'POST', body: new URLSearchParams({ csrfToken, json: 'true' }) });
    window.location.assign('/sign-in');
  }
  return (
    <button type="button" className="icon-button" onClick={signOut} title="Sign out">
      <LogOut aria-hidden="true" className="size-4" />
      <span className="sr-only">Sign out</span>
    </button>
  );
}
