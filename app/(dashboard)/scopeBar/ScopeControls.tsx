'use client';

import { ListFilter } from 'lucide-react';
import { useState } from 'react';
import type { RangePreset } from '@/lib/core/ranges';
import { OUTCOMES, VANTAGES } from '@/lib/core/terms';
import { Chooser } from './Chooser';
import { ComparePicker, type Comparison } from './ComparePicker';
import { CopyLink } from './CopyLink';
import { RangePicker, type Zones } from './RangePicker';
import { useScopeUrl } from './useScopeUrl';
import { FILTERS, type FilterName, METRIC_MEANING, METRIC_WORDS } from './words';

type Props = {
  /** Wall-clock times in the zone shown, to the minute. */
  range: { chosen: RangePreset | 'custom'; from: string; to: string };
  compare: Comparison | null;
  /** The range in view as RFC 3339. */
  instants: { from: string; to: string };
  zones: Zones;
  chosen: Record<FilterName, readonly string[]>;
  seen: Partial<Record<FilterName, readonly string[]>>;
  metric: keyof typeof METRIC_WORDS;
};

/** The controls of the scope bar; each change is a new address. */
export function ScopeControls({ range, compare, instants, zones, chosen, seen, metric }: Props) {
  const { change, isPending, params } = useScopeUrl();
  const valuesOf: Partial<Record<FilterName, readonly string[]>> = { ...seen, vantage: VANTAGES, outcome: OUTCOMES };
  const isUsed = (name: FilterName) => chosen[name].length > 0;
  const others = FILTERS.filter(({ name, isMain }) => !isMain && ((valuesOf[name]?.length ?? 0) > 1 || isUsed(name)));
  const [isWide, setWide] = useState(others.some(({ name }) => isUsed(name)));
  const shown = FILTERS.filter((filter) => filter.isMain || (isWide && others.includes(filter)));
  return (
    <section
      aria-label="What is shown"
      aria-busy={isPending}
      data-testid="scope-bar"
      className="flex flex-wrap items-center gap-2 aria-busy:opacity-60"
    >
      <RangePicker range={range} zones={zones} onChange={change} />
      {compare && <ComparePicker compare={compare} zone={zones.shown} onChange={change} />}
      {shown.map(({ name, label }) => (
        <Chooser
          key={name}
          label={label}
          isFirst={name === 'endpoint'}
          isSingle={name === 'vantage'}
          values={valuesOf[name] ?? []}
          chosen={chosen[name]}
          onChoose={(values) => change({ [name]: values })}
        />
      ))}
      <Chooser
        label="Metric"
        isSingle
        isPlain
        values={Object.keys(METRIC_WORDS)}
        chosen={[metric]}
        wordsOf={(value) => `${METRIC_WORDS[metricOf(value)]}: ${METRIC_MEANING[metricOf(value)]}`}
        briefOf={(value) => METRIC_WORDS[metricOf(value)]}
        onChoose={([value]) => change({ metric: value === undefined || value === 'wait' ? null : value })}
      />
      {others.length > 0 && (
        <button type="button" className="chip" aria-expanded={isWide} onClick={() => setWide(!isWide)}>
          <ListFilter aria-hidden="true" className="size-4 text-quiet" />
          {isWide ? 'Fewer filters' : `${others.length} more filters`}
        </button>
      )}
      <CopyLink params={params} instants={instants} zone={zones.shown} />
    </section>
  );
}

const metricOf = (value: string) => value as keyof typeof METRIC_WORDS;
