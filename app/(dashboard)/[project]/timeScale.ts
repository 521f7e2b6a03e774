'use client';

import type { TimeAxis } from '@/lib/charts/timeAxis';
import type { Ink } from './useInk';

/** The axis of buckets of time: marks where `timeAxis` puts them, thinned when there is no room. */
export function timeScale(axis: TimeAxis, ink: Ink) {
  return {
    type: 'category' as const,
    offset: true,
    grid: { color: ink.line },
    ticks: {
      ...{ color: ink.quiet, maxRotation: 0, autoSkipPadding: 12 },
      callback: (index: string | number) => axis.marks.find((mark) => mark.index === index)?.text ?? '',
    },
    afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
      scale.ticks = axis.marks.map(({ index }) => ({ value: index }));
    },
  };
}
