'use client';

import { Command } from 'cmdk';
import { Check } from 'lucide-react';

type Props = {
  label: string;
  values: readonly string[];
  picked: readonly string[];
  wordsOf: (value: string) => string;
  onToggle: (value: string) => void;
};

const SEARCHED_FROM = 8;

/** Values to search and pick from; loaded when a filter is opened. */
export function ChooserList({ label, values, picked, wordsOf, onToggle }: Props) {
  return (
    <Command label={label}>
      <Command.Input
        autoFocus
        placeholder={`Search ${values.length} values`}
        className={values.length < SEARCHED_FROM ? 'sr-only' : 'mb-1 w-full'}
      />
      <Command.List className="max-h-72 overflow-y-auto">
        <Command.Empty className="p-2 text-quiet">Nothing like that.</Command.Empty>
        {values.map((value) => (
          <Command.Item
            key={value}
            value={value}
            onSelect={() => onToggle(value)}
            aria-checked={picked.includes(value)}
            className="menu-item data-[selected=true]:bg-hover"
          >
            <Check aria-hidden="true" className={picked.includes(value) ? 'size-4 text-accent' : 'invisible size-4'} />
            <span className="break-all">{wordsOf(value)}</span>
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}
