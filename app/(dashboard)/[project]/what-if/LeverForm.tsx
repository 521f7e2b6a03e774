'use client';

import type { FormEvent } from 'react';
import { LEVER_LABELS, LEVERS, type Lever } from '@/lib/core/terms';
import { useScopeUrl } from '../../scopeBar/useScopeUrl';

type Props = {
  chosen: { levers: readonly Lever[]; floors: Partial<Record<Lever, number>>; region: string | null };
  regions: readonly string[];
};

/** Levers that do nothing without a target. */
const TARGETS: readonly Lever[] = ['model', 'application'];

/** Any set of levers, with floors of one's own; all of it becomes the address, which is the link to share. */
export function LeverForm({ chosen, regions }: Props) {
  const { change, isPending } = useScopeUrl();
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const floors = LEVERS.flatMap((lever) => {
      const ms = form.get(`floor ${lever}`);
      return ms ? [`${lever}:${ms}`] : [];
    });
    // a floor of one's own means that the lever is pulled
    const levers = LEVERS.filter((lever) => form.getAll('lever').includes(lever) || form.get(`floor ${lever}`));
    change({
      lever: levers,
      floor: floors,
      region: String(form.get('region') ?? '') || null,
    });
  }
  return (
    <form onSubmit={submit} className="card flex flex-col gap-3 aria-busy:opacity-60" aria-busy={isPending}>
      <fieldset>
        <legend className="mb-2 font-semibold">What if these were at their floors, all together?</legend>
        <ul className="grid grid-cols-1 gap-x-6 gap-y-2 sm:grid-cols-2 xl:grid-cols-3">
          {LEVERS.map((lever) => (
            <li key={lever} className="flex items-center gap-2">
              <label className="flex flex-1 items-center gap-2">
                <input type="checkbox" name="lever" value={lever} defaultChecked={chosen.levers.includes(lever)} />
                {LEVER_LABELS[lever]}
              </label>
              <label className="flex items-center gap-1 text-quiet">
                {TARGETS.includes(lever) ? 'target' : 'floor'}
                <input
                  name={`floor ${lever}`}
                  type="number"
                  min="0"
                  step="any"
                  placeholder={TARGETS.includes(lever) ? 'none' : 'usual'}
                  defaultValue={chosen.floors[lever] ?? ''}
                  className="w-24"
                  aria-label={`${TARGETS.includes(lever) ? 'Target' : 'Floor'} of ${LEVER_LABELS[lever]}, ms`}
                />
                ms
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
      <div className="flex flex-wrap items-center gap-3">
        <label className="flex items-center gap-2">
          Service in
          <select name="region" defaultValue={chosen.region ?? ''}>
            <option value="">the best region it may run in</option>
            {[...new Set([...regions, ...(chosen.region === null ? [] : [chosen.region])])].map((region) => (
              <option key={region}>{region}</option>
            ))}
          </select>
        </label>
        <button type="submit" className="primary">
          Show what it would gain
        </button>
      </div>
    </form>
  );
}
