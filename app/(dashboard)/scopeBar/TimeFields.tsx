'use client';

import type { FormEvent } from 'react';

type Props = { from: string; to: string; zone: string; onApply: (from: string, to: string) => void };

/** Exact times, as the clocks of the zone shown say them. */
export function TimeFields({ from, to, zone, onApply }: Props) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onApply(String(form.get('from')), String(form.get('to')));
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      {(
        [
          ['from', 'From', from],
          ['to', 'To', to],
        ] as const
      ).map(([name, label, value]) => (
        <label key={name} className="flex items-center justify-between gap-2">
          {label}
          <input type="datetime-local" name={name} defaultValue={value} required title={zone} />
        </label>
      ))}
      <button type="submit">Show this range</button>
    </form>
  );
}
