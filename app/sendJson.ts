/** The answer of one of our routes, or words for a person: what went wrong and what to do. */
export type Sent<T> = { ok: true; body: T } | { ok: false; message: string };

/** Calls a route with JSON. Network failures become words too. */
export async function sendJson<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  input?: unknown,
): Promise<Sent<T>> {
  try {
    const body = input === undefined ? null : JSON.stringify(input);
    const response = await fetch(url, { method, headers: { 'content-type': 'application/json' }, body });
    const answer: unknown = await response.json().catch(() => null);
    return response.ok ? { ok: true, body: answer as T } : { ok: false, message: errorWords(answer) };
  } catch {
    return { ok: false, message: 'The server did not answer. Is it running?' };
  }
}

/** "What went wrong. What to do." from an error answer. */
export function errorWords(answer: unknown): string {
  const error = (answer as { error?: { message?: string; hint?: string } } | null)?.error;
  return error?.message ? `${error.message} ${error.hint ?? ''}` : 'Something went wrong. Try again.';
}
