'use client';

import { CalendarDays, ChevronDown } from 'lucide-react';
import dynamic from 'next/dynamic';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import type { RangePreset } from '@/lib/core/ranges';
import { TimeFields } from './TimeFields';
import type { Changes } from './useScopeUrl';
import { RANGE_PRESETS, RANGE_WORDS } from './words';
import { ZoneChooser } from './ZoneChooser';

const DayCalendar = dynamic(() => import('./DayCalendar').then((module) => module.DayCalendar), {
  ssr: false,
  loading: () => <div className="h-72 w-64" />,
});

export type Zones = { shown: string; project: string };
type Props = {
  range: { chosen: RangePreset | 'custom'; from: string; to: string };
  zones: Zones;
  onChange: (changes: Changes) => void;
};

/** Presets, whole days from a calendar, or exact times; and the zone they are shown in. */
export function RangePicker({ range, zones, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  function apply(changes: Changes) {
    setOpen(false);
    onChange(changes);
  }
  const toDates = (from: string, to: string) => apply({ range: null, from, to });
  const words =
    range.chosen === 'custom'
      ? `${range.from.replace('T', ' ')} – ${range.to.replace('T', ' ')}`
      : RANGE_WORDS[range.chosen];
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="chip" data-testid="range-picker">
        <CalendarDays aria-hidden="true" className="size-4 text-quiet" />
        <span className="sr-only">Range</span>
        {words}
        <span className="text-quiet max-sm:hidden">{zones.shown}</span>
        <ChevronDown aria-hidden="true" className="size-3.5 text-quiet" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          aria-label="Range"
          className="menu flex max-h-[80vh] max-w-[calc(100vw-2rem)] flex-wrap gap-4 overflow-y-auto p-3"
        >
          <ul className="flex flex-col gap-0.5 max-sm:grid max-sm:w-full max-sm:grid-cols-2 sm:w-44">
            {RANGE_PRESETS.map((preset) => (
              <li key={preset}>
                <button
                  type="button"
                  aria-pressed={range.chosen === preset}
                  className="menu-item w-full border-0 font-normal aria-pressed:bg-hover aria-pressed:text-accent"
                  onClick={() => apply({ range: preset, from: null, to: null })}
                >
                  {RANGE_WORDS[preset]}
                </button>
              </li>
            ))}
          </ul>
          <div className="flex flex-col gap-3">
            {isOpen && <DayCalendar from={range.from} to={range.to} onChoose={toDates} />}
            <TimeFields from={range.from} to={range.to} zone={zones.shown} onApply={toDates} />
            <ZoneChooser zones={zones} onChoose={(zone) => apply({ timeZone: zone })} />
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
