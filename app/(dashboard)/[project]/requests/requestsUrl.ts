// The query string of the Requests page: the shared scope, and what only a list of requests has.
import { parseRequests, REQUEST_PARAMETERS, type RequestsInput } from '@/lib/queries/parseRequests';
import { type PageScope, parsePageScope, type SearchParams } from '../scopeUrl';

/** `page.params` holds all of the query string but the cursor: what filters links and forms carry along. */
export type RequestsPageScope = { page: PageScope; input: RequestsInput };

/** Throws AnswerError 400 that names the parameter. */
export function parseRequestsPage(search: SearchParams, nowMs: number, projectZone: string): RequestsPageScope {
  const isOwn = (name: string) => REQUEST_PARAMETERS.includes(name);
  const entries = Object.entries(search);
  const page = parsePageScope(Object.fromEntries(entries.filter(([name]) => !isOwn(name))), nowMs, projectZone);
  const own = new URLSearchParams();
  for (const [name, value] of entries)
    if (isOwn(name)) for (const one of [value ?? []].flat()) if (one !== '') own.append(name, one);
  const input = { ...parseRequests(own, { nowMs }), ...page.scope };
  own.delete('cursor');
  return { page: { ...page, params: new URLSearchParams([...page.params, ...own]) }, input };
}
