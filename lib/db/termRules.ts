import type { TermRule } from '../core/trace/attributed';
import { singleton } from '../platform/singleton';
import { versionAt } from './leverVersions';

export type TermRules = {
  rules: readonly TermRule[];
  /** Null: none were ever set. */
  version: number | null;
  /** The attributes that the rules look at, kept of this project's spans beyond those that everyone keeps. */
  attributes: ReadonlySet<string>;
};

const CACHE_MS = 4_000;
const CACHE_LIMIT = 5_000;

/** A project's rules as they are now. */
export async function loadTermRules(projectId: string): Promise<TermRules> {
  const stored = await versionAt('termRules', projectId, new Date());
  const rules = ((stored?.document ?? {}) as { rules?: TermRule[] }).rules ?? [];
  const attributes = new Set(rules.flatMap((rule) => rule.when.map((condition) => condition.attribute)));
  return { rules, version: stored?.version ?? null, attributes };
}

/** The same, at most 4 s old: for the ingest path and the assembly. */
export async function recentTermRules(projectId: string): Promise<TermRules> {
  const cache = singleton('term rules', () => new Map<string, { rules: TermRules; untilMs: number }>());
  const cached = cache.get(projectId);
  if (cached && cached.untilMs > Date.now()) return cached.rules;
  const rules = await loadTermRules(projectId);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(projectId, { rules, untilMs: Date.now() + CACHE_MS });
  return rules;
}
