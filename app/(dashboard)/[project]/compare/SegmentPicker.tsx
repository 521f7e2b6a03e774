'use client';

import { type FormEvent, useState } from 'react';
import type { ScopeOptions } from '@/lib/queries/loadScopeOptions';
import { useScopeUrl } from '../../scopeBar/useScopeUrl';
import type { Segments } from './compareUrl';

const DIMENSIONS = [
  ['version', 'Version', 'versions'],
  ['model', 'Model', 'models'],
  ['provider', 'Provider', 'providers'],
  ['clientRegion', 'Client region', 'clientRegions'],
  ['serviceRegion', 'Service region', 'serviceRegions'],
  ['environment', 'Environment', 'environments'],
] as const;

/** Two values of one dimension instead of two windows of time. */
export function SegmentPicker({ options, segments }: { options: ScopeOptions; segments: Segments | null }) {
  const { change } = useScopeUrl();
  const usable = DIMENSIONS.filter(([, , key]) => options[key].length > 1);
  const [by, setBy] = useState<string>(segments?.by ?? usable[0]?.[0] ?? '');
  const values = usable.find(([name]) => name === by)?.[2];
  if (usable.length === 0) return null;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    change({ by, a: String(form.get('a')), b: String(form.get('b')), compare: null });
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2" aria-label="Compare two values">
      <label className="flex items-center gap-2">
        {segments ? 'Two values of' : 'Or two values of'}
        <select value={by} onChange={(event) => setBy(event.target.value)}>
          {usable.map(([name, label]) => (
            <option key={name} value={name}>
              {label.toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      {(['a', 'b'] as const).map((side, i) => (
        <label key={`${by} ${side}`} className="flex items-center gap-2">
          {i === 1 && 'against'}
          <span className="sr-only">{i === 0 ? 'before' : 'after'}</span>
          <select name={side} defaultValue={segments?.by === by ? segments[side] : options[values ?? 'models'][i]}>
            {options[values ?? 'models'].map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </label>
      ))}
      <button type="submit">Compare</button>
      {segments && (
        <button type="button" onClick={() => change({ by: null, a: null, b: null })}>
          Back to two windows
        </button>
      )}
    </form>
  );
}
