'use client';

import { formatCount } from '@/lib/charts/formatMs';
import { TERM_LABELS, TERMS } from '@/lib/core/terms';
import type { TermRule } from '@/lib/core/trace/attributed';

type Condition = TermRule['when'][number];
type Props = {
  number: number;
  rule: TermRule;
  /** Spans of the preview that it matches. */
  matched: number | null;
  disabled: boolean;
  /** Null takes it out. */
  onChange: (rule: TermRule | null) => void;
};

const COMPARISONS: Record<Condition['is'], string> = { equal: 'is', prefix: 'begins with', present: 'is there' };

/** One rule: when all of this holds of a span, it means that. */
export function RuleFields({ number, rule, matched, disabled, onChange }: Props) {
  const setCondition = (at: number, changed: Partial<Condition>) =>
    onChange({ ...rule, when: rule.when.map((one, i) => (i === at ? { ...one, ...changed } : one)) });
  const setMeaning = (changed: Partial<TermRule['set']>) => onChange({ ...rule, set: { ...rule.set, ...changed } });
  return (
    <fieldset className="card flex flex-col gap-3" disabled={disabled} data-testid="rule">
      <legend className="px-1 font-medium">Rule {number}</legend>
      {rule.when.map((condition, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions are only added at the end
        <div key={at} className="flex flex-wrap items-end gap-3">
          <label className="flex flex-col gap-1">
            {at === 0 ? 'When' : 'and'}
            <input
              value={condition.attribute}
              placeholder="span.name"
              onChange={(event) => setCondition(at, { attribute: event.target.value })}
            />
          </label>
          <label className="flex flex-col gap-1">
            <span className="sr-only">Comparison</span>
            <select
              value={condition.is}
              onChange={(event) => setCondition(at, { is: event.target.value as Condition['is'] })}
            >
              {Object.entries(COMPARISONS).map(([is, words]) => (
                <option key={is} value={is}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          {condition.is !== 'present' && (
            <label className="flex flex-col gap-1">
              <span className="sr-only">Value</span>
              <input
                value={condition.value ?? ''}
                placeholder="value"
                onChange={(event) => setCondition(at, { value: event.target.value })}
              />
            </label>
          )}
        </div>
      ))}
      <div className="flex flex-wrap items-end gap-3">
        <label className="flex flex-col gap-1">
          its own time is
          <select
            value={rule.set.term ?? ''}
            onChange={(event) => setMeaning({ term: event.target.value as NonNullable<TermRule['set']['term']> })}
          >
            <option value="">as the conventions say</option>
            {TERMS.map((term) => (
              <option key={term} value={term}>
                {TERM_LABELS[term]}
              </option>
            ))}
            <option value="ignore">its parent&rsquo;s</option>
          </select>
        </label>
        <label className="flex flex-col gap-1">
          its endpoint is
          <input value={rule.set.endpoint ?? ''} onChange={(event) => setMeaning({ endpoint: event.target.value })} />
        </label>
        <label className="flex flex-col gap-1">
          its region is
          <input value={rule.set.region ?? ''} onChange={(event) => setMeaning({ region: event.target.value })} />
        </label>
        <button
          type="button"
          onClick={() => onChange({ ...rule, when: [...rule.when, { attribute: '', is: 'equal', value: '' }] })}
        >
          Add a condition
        </button>
        <button type="button" onClick={() => onChange(null)}>
          Remove
        </button>
        {matched !== null && <p data-testid="matched">matches {formatCount(matched)} recent spans</p>}
      </div>
    </fieldset>
  );
}
