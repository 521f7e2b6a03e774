'use client';

import type { ChartType, Plugin } from 'chart.js';
import type { MarkerLine } from '@/lib/queries/loadMarkers';
import type { Ink } from './useInk';

type Bucket = { at: string; until: string };

/** Dashed lines where deployments and other markers happened, on a chart whose x axis counts buckets of time. */
export function markerLines<T extends ChartType>(
  markers: readonly MarkerLine[],
  buckets: readonly Bucket[],
  ink: Ink,
): Plugin<T> {
  return {
    id: 'markers',
    afterDatasetsDraw: ({ ctx, chartArea, scales: { x } }) => {
      if (x === undefined) return;
      const width = x.getPixelForValue(1) - x.getPixelForValue(0);
      ctx.save();
      ctx.strokeStyle = ink.ink;
      ctx.fillStyle = ink.ink;
      ctx.setLineDash([2, 3]);
      ctx.font = `11px 'Inter Variable', sans-serif`;
      for (const marker of markers) {
        const position = positionOf(marker, buckets);
        if (position === null) continue;
        const left = x.getPixelForValue(position.index) + (position.share - 0.5) * width;
        ctx.beginPath();
        ctx.moveTo(left, chartArea.top);
        ctx.lineTo(left, chartArea.bottom);
        ctx.stroke();
        ctx.fillText(marker.version ?? marker.label, left + 4, chartArea.top + 10, 90);
      }
      ctx.restore();
    },
  };
}

/** The bucket that holds the marker, and how far into it (0 to 1, exclusive). */
function positionOf(marker: MarkerLine, buckets: readonly Bucket[]): { index: number; share: number } | null {
  const atMs = Date.parse(marker.at);
  const index = buckets.findIndex(({ at, until }) => atMs >= Date.parse(at) && atMs < Date.parse(until));
  const bucket = buckets[index];
  if (bucket === undefined) return null;
  const [fromMs, toMs] = [Date.parse(bucket.at), Date.parse(bucket.until)];
  return { index, share: (atMs - fromMs) / (toMs - fromMs) };
}
