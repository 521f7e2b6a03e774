// The query string of the Latency page: the shared scope, and what only this page has.
import type { LatencyInput } from '@/lib/queries/loadLatency';
import { chooseStep, STEPS, type Step } from '@/lib/queries/loadQuantiles';
import type { Box } from '@/lib/queries/loadSelection';
import { parseBox } from '@/lib/queries/parseLatency';
import { oneOf } from '@/lib/queries/parseQuantiles';
import { GROUP_BY, type GroupBy } from '@/lib/queries/waits';
import { type PageScope, parsePageScope, type SearchParams } from '../scopeUrl';

export const SORTS = ['n', 'p50', 'p95', 'p99', 'group'] as const;
export type Sort = (typeof SORTS)[number];

export type LatencyPageScope = {
  page: PageScope;
  input: LatencyInput;
  /** The same question over the range to compare with. */
  before: LatencyInput | null;
  /** Steps that exist for this scope and are not too fine. */
  steps: Step[];
  isLog: boolean;
  groupBy: GroupBy;
  sort: Sort;
  box: Box | null;
};

const OWN: readonly string[] = ['step', 'axis', 'by', 'sort', 'box'];

/** Throws AnswerError 400 that names the parameter. */
export function parseLatencyPage(search: SearchParams, nowMs: number, projectZone: string): LatencyPageScope {
  const entries = Object.entries(search);
  const page = parsePageScope(Object.fromEntries(entries.filter(([name]) => !OWN.includes(name))), nowMs, projectZone);
  const own = new URLSearchParams();
  for (const [name, value] of entries) {
    const [first] = [value ?? []].flat();
    if (OWN.includes(name) && first) own.set(name, first);
  }
  const step = oneOf(own, 'step', STEPS);
  const { compare, scope } = page;
  return {
    page: { ...page, params: new URLSearchParams([...page.params, ...own]) },
    input: { ...scope, step },
    before: compare && { ...scope, fromUs: compare.fromUs, toUs: compare.toUs, step },
    steps: STEPS.filter((one) => isPossible({ ...scope, step: one })),
    isLog: oneOf(own, 'axis', ['log', 'linear']) !== 'linear',
    groupBy: oneOf(own, 'by', GROUP_BY) ?? 'endpoint',
    sort: oneOf(own, 'sort', SORTS) ?? 'n',
    box: parseBox(own.get('box')),
  };
}

function isPossible(input: LatencyInput): boolean {
  try {
    chooseStep({ ...input, q: 0.5, groupBy: null });
    return true;
  } catch {
    return false;
  }
}
