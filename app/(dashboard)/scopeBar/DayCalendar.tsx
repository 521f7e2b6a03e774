'use client';

import { useState } from 'react';
import { type DateRange, DayPicker } from 'react-day-picker';
import 'react-day-picker/style.css';

type Props = { from: string; to: string; onChoose: (from: string, to: string) => void };

/**
 * Whole days of the zone shown. The dates are wall-clock dates: the browser's own zone plays no part. The end is the
 * midnight after the last day, so that a day of 23 or 25 hours is whole.
 */
export function DayCalendar({ from, to, onChoose }: Props) {
  const [draft, setDraft] = useState<DateRange | undefined>({ from: dateOf(from), to: lastDay(to) });
  return (
    <div>
      <DayPicker
        mode="range"
        ISOWeek
        showWeekNumber
        selected={draft}
        onSelect={setDraft}
        defaultMonth={dateOf(to)}
        resetOnSelect
        labels={{ labelDayButton: (date) => DAY_NAME.format(date) }}
      />
      <button
        type="button"
        className="primary w-full"
        disabled={draft?.from === undefined}
        onClick={() => draft?.from && onChoose(textOf(draft.from), textOf(dayAfter(draft.to ?? draft.from)))}
      >
        Show these days
      </button>
    </div>
  );
}

const DAY_NAME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' });

const dateOf = (local: string) => {
  const [year = 0, month = 1, day = 1] = local.slice(0, 10).split('-').map(Number);
  return new Date(year, month - 1, day);
};

const shift = (date: Date, days: number) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
const dayAfter = (date: Date) => shift(date, 1);
/** The last day of a half-open range: that before, when it ends at midnight. */
const lastDay = (local: string) => (local.endsWith('T00:00') ? shift(dateOf(local), -1) : dateOf(local));

function textOf(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T00:00`;
}
