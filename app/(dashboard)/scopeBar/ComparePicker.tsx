'use client';

import { ChevronDown, GitCompareArrows } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState } from 'react';
import { TimeFields } from './TimeFields';
import type { Changes } from './useScopeUrl';
import { COMPARE_WORDS } from './words';

export type Comparison = { kind: keyof typeof COMPARE_WORDS | null; from: string; to: string };
type Props = { compare: Comparison; zone: string; onChange: (changes: Changes) => void };

/** What the range is held against. */
export function ComparePicker({ compare, zone, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  function apply(kind: string | null, bounds: { compareFrom?: string; compareTo?: string } = {}) {
    setOpen(false);
    onChange({ compare: kind, compareFrom: bounds.compareFrom ?? null, compareTo: bounds.compareTo ?? null });
  }
  const choices = [
    [null, 'Nothing'],
    ['previous', COMPARE_WORDS.previous],
    ['weekday', COMPARE_WORDS.weekday],
  ] as const;
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={compare.kind === null ? 'chip' : 'chip chip-on'} data-testid="compare-picker">
        <GitCompareArrows aria-hidden="true" className="size-4 text-quiet" />
        <span className="text-quiet">Against</span>
        {compare.kind === null ? 'nothing' : COMPARE_WORDS[compare.kind].toLowerCase()}
        <ChevronDown aria-hidden="true" className="size-3.5 text-quiet" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} className="menu w-72 p-3" aria-label="Compare with">
          <ul className="mb-3 flex flex-col gap-0.5">
            {choices.map(([kind, words]) => (
              <li key={words}>
                <button
                  type="button"
                  aria-pressed={compare.kind === kind}
                  className="menu-item w-full border-0 font-normal aria-pressed:bg-hover aria-pressed:text-accent"
                  onClick={() => apply(kind)}
                >
                  {words}
                </button>
              </li>
            ))}
          </ul>
          <p className="mb-2 text-quiet">{COMPARE_WORDS.custom}</p>
          <TimeFields
            from={compare.from}
            to={compare.to}
            zone={zone}
            onApply={(compareFrom, compareTo) => apply('custom', { compareFrom, compareTo })}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
