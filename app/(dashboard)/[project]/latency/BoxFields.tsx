'use client';

import type { FormEvent } from 'react';
import type { LatencyPoint } from '@/lib/queries/loadLatency';
import type { Box } from '@/lib/queries/loadSelection';

type Props = { points: LatencyPoint[]; box: Box | null; onChoose: (box: string | null) => void };

/** The same question without dragging: durations from and to, in the time in view or that of the area chosen. */
export function BoxFields({ points, box, onChoose }: Props) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const fromMs = box === null ? Date.parse(points[0]?.at ?? '') : box.fromUs / 1000;
    const toMs = box === null ? Date.parse(points.at(-1)?.until ?? '') : box.toUs / 1000;
    onChoose([fromMs, toMs, Number(form.get('low')), Number(form.get('high'))].join(','));
  }
  return (
    <form onSubmit={submit} key={JSON.stringify(box)} className="mt-2 flex flex-wrap items-center gap-2">
      <label className="flex items-center gap-2">
        Requests from
        <input name="low" type="number" min="0" step="any" required className="w-24" defaultValue={box?.lowMs ?? ''} />
      </label>
      <label className="flex items-center gap-2">
        to
        <input
          name="high"
          type="number"
          min="0"
          step="any"
          required
          className="w-24"
          defaultValue={box?.highMs ?? ''}
        />
        ms
      </label>
      <button type="submit">What is different?</button>
      {box && (
        <button type="button" onClick={() => onChoose(null)}>
          Clear the area
        </button>
      )}
    </form>
  );
}
