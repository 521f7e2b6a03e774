// The query string of the Compare page: two windows of time, or two values of one dimension in the same window.
import type { ComparisonInput } from '@/lib/queries/loadComparison';
import { oneOf } from '@/lib/queries/parseQuantiles';
import { badParameter } from '@/lib/queries/scope';
import { SCOPE_LISTS, type ScopeList } from '@/lib/queries/scopeParameters';
import { type PageScope, parsePageScope, type SearchParams } from '../scopeUrl';

export type Segments = { by: ScopeList; a: string; b: string };
export type ComparePageScope = { page: PageScope; input: ComparisonInput; segments: Segments | null };

const OWN: readonly string[] = ['by', 'a', 'b'];

/** The previous period unless something else is asked for. Throws AnswerError 400 that names the parameter. */
export function parseComparePage(search: SearchParams, nowMs: number, projectZone: string): ComparePageScope {
  const own = new URLSearchParams();
  const shared: SearchParams = {};
  for (const [name, value] of Object.entries(search)) {
    const [first] = [value ?? []].flat();
    if (!OWN.includes(name)) shared[name] = value;
    else if (first) own.set(name, first);
  }
  const by = oneOf(own, 'by', SCOPE_LISTS);
  const parsed = parsePageScope(by === null ? { compare: 'previous', ...shared } : shared, nowMs, projectZone);
  const page = { ...parsed, params: new URLSearchParams([...parsed.params, ...own]) };
  const { scope, compare } = page;
  if (by !== null) {
    const [a, b] = [own.get('a'), own.get('b')];
    if (!a || !b) throw badParameter(a ? 'b' : 'a', 'is missing', `Give two values of ${by}: a and b.`);
    const input = { before: { ...scope, [by]: [a] }, after: { ...scope, [by]: [b] } };
    return { page: { ...page, compare: null }, input, segments: { by, a, b } };
  }
  if (compare === null)
    throw badParameter('compare', 'names nothing to compare with', 'Choose a period or two values.');
  const before = { ...scope, fromUs: compare.fromUs, toUs: compare.toUs };
  return { page, input: { before, after: scope }, segments: null };
}
