'use client';

import { ChevronDown } from 'lucide-react';
import dynamic from 'next/dynamic';
import { Popover } from 'radix-ui';
import { useState } from 'react';

type Props = {
  label: string;
  values: readonly string[];
  chosen: readonly string[];
  /** One value only: choosing closes the list. */
  isSingle?: boolean;
  /** Marks the control that `/` goes to. */
  isFirst?: boolean;
  /** Always set to something, so nothing special when it is. */
  isPlain?: boolean;
  wordsOf?: (value: string) => string;
  /** Shorter words for the button. */
  briefOf?: (value: string) => string;
  onChoose: (values: string[]) => void;
};

const ChooserList = dynamic(() => import('./ChooserList').then((module) => module.ChooserList), {
  ssr: false,
  loading: () => <div className="h-24" />,
});

/** A filter: a button that says what is chosen, and behind it a list to search and pick from. Applies when it closes. */
export function Chooser({ label, values, chosen, isSingle, isFirst, isPlain, onChoose, ...words }: Props) {
  const { wordsOf = (value: string) => value } = words;
  const { briefOf = wordsOf } = words;
  const [draft, setDraft] = useState<string[] | null>(null);
  const picked = draft ?? [...chosen];
  const all = [...new Set([...values, ...chosen])];
  function close() {
    if (draft !== null && [...draft].sort().join('\n') !== [...chosen].sort().join('\n')) onChoose(draft);
    setDraft(null);
  }
  function toggle(value: string) {
    if (isSingle) {
      setDraft(null);
      onChoose(chosen.includes(value) ? [] : [value]);
    } else setDraft(picked.includes(value) ? picked.filter((one) => one !== value) : [...picked, value]);
  }
  return (
    <Popover.Root open={draft !== null} onOpenChange={(isOpen) => (isOpen ? setDraft([...chosen]) : close())}>
      <Popover.Trigger
        className={chosen.length > 0 && !isPlain ? 'chip chip-on' : 'chip'}
        {...(isFirst && { 'data-filter': '' })}
      >
        <span className="text-quiet">{label}</span>
        <span className="max-w-48 truncate">{summary(chosen, briefOf)}</span>
        <ChevronDown aria-hidden="true" className="size-3.5 text-quiet" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} className="menu w-72" aria-label={label}>
          {draft !== null && (
            <ChooserList label={label} values={all} picked={picked} wordsOf={wordsOf} onToggle={toggle} />
          )}
          {chosen.length > 0 && !isPlain && (
            <button type="button" className="mt-1 w-full" onClick={() => [setDraft(null), onChoose([])]}>
              Clear
            </button>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function summary(chosen: readonly string[], wordsOf: (value: string) => string): string {
  const [first] = chosen;
  if (first === undefined) return 'all';
  return chosen.length === 1 ? wordsOf(first) : `${wordsOf(first)} +${chosen.length - 1}`;
}
