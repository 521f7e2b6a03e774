// Query strings of pages, for server and browser alike.
import { SCOPE_PARAMETERS } from '@/lib/queries/scopeParameters';

const CARRIED: readonly string[] = ['range', ...SCOPE_PARAMETERS];

/** The query string with some parameters changed; null takes one out, a list repeats it. "" when nothing is left. */
export function withParams(
  params: Iterable<[string, string]>,
  changes: Record<string, string | readonly string[] | null>,
): string {
  const next = new URLSearchParams([...params]);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of [value ?? []].flat()) next.append(name, one);
  }
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}

/** What stays when a person goes to another page: the scope, not what belongs to one page alone. */
export function carriedParams(params: Iterable<[string, string]>): URLSearchParams {
  return new URLSearchParams([...params].filter(([name]) => CARRIED.includes(name)));
}
