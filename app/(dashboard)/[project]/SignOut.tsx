'use client';

/** Ends the session on the server, then shows the sign-in page. */
export function SignOut() {
  async function signOut() {
    const { csrfToken } = (await (await fetch('/api/auth/csrf')).json()) as { csrfToken: string };
    await fetch('/api/auth/signout', { method: 'POST', body: new URLSearchParams({ csrfToken, json: 'true' }) });
    window.location.assign('/sign-in');
  }
  return (
    <button type="button" onClick={signOut}>
      Sign out
    </button>
  );
}
