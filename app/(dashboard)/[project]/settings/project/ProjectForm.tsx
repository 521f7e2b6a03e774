'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { sendJson } from '@/app/sendJson';
import type { ProjectSettings } from '@/lib/queries/loadProjectSettings';

type Props = { slug: string; settings: ProjectSettings; canChange: boolean };

const DAYS = [
  ['rawDays', 'Single requests', 2, 400],
  ['fiveMinuteDays', 'Five-minute roll-ups', 2, 400],
  ['hourDays', 'Hourly roll-ups', 2, 1200],
  ['dayDays', 'Daily roll-ups', 30, 4000],
] as const;

export function ProjectForm({ slug, settings, canChange }: Props) {
  const router = useRouter();
  const [told, setTold] = useState<{ ok: boolean; words: string } | null>(null);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const retention = Object.fromEntries(DAYS.map(([name]) => [name, Number(given.get(name))]));
    const successDropMax = Number(given.get('successDropPoints')) / 100;
    const input = { name: given.get('name'), timeZone: given.get('timeZone'), retention, successDropMax };
    const sent = await sendJson('PATCH', `/api/internal/project?project=${encodeURIComponent(slug)}`, input);
    setTold(sent.ok ? { ok: true, words: 'Saved.' } : { ok: false, words: sent.message });
    router.refresh();
  }
  return (
    <form onSubmit={submit} className="card" aria-label="Project">
      <fieldset disabled={!canChange} className="flex max-w-md flex-col gap-3">
        <label className="flex flex-col gap-1">
          Name
          <input name="name" defaultValue={settings.name} maxLength={64} required />
        </label>
        <label className="flex flex-col gap-1">
          Time zone (IANA name); days and hours of all numbers are this zone’s
          <input name="timeZone" defaultValue={settings.wantedTimeZone ?? settings.timeZone} required />
        </label>
        <p className="text-quiet">
          Another zone makes the roll-ups anew from the single requests that are kept; what is older keeps its hours and
          days.
        </p>
        {DAYS.map(([name, label, least, most]) => (
          <label key={name} className="flex items-center justify-between gap-3">
            {label}: days kept
            <input
              name={name}
              type="number"
              min={least}
              max={most}
              required
              defaultValue={settings.retention[name]}
              className="w-28"
            />
          </label>
        ))}
        <p className="text-quiet">What is kept for fewer days is deleted within the hour, for good.</p>
        <label className="flex items-center justify-between gap-3">
          Another model may fail more often by, in points
          <input
            name="successDropPoints"
            type="number"
            min="0"
            max="20"
            step="any"
            required
            defaultValue={Number((settings.successDropMax * 100).toFixed(6))}
            className="w-28"
          />
        </label>
        <p className="text-quiet">
          The Models page recommends no swap while the 95 % interval of the success rate reaches a larger drop than
          this.
        </p>
        {told !== null && (
          <p role={told.ok ? 'status' : 'alert'} className={told.ok ? 'text-good' : 'text-bad'}>
            {told.words}
          </p>
        )}
        {canChange ? (
          <button type="submit" className="primary self-start">
            Save
          </button>
        ) : (
          <p className="text-quiet">Owners change these.</p>
        )}
      </fieldset>
    </form>
  );
}
