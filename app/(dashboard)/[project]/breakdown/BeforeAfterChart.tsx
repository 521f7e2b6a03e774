'use client';

import {
  Filler,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from 'chart.js';
import { Line } from 'react-chartjs-2';
import { type Distribution, roundTicksMs, steps } from '@/lib/charts/beforeAfter';
import { formatMs, formatRatio } from '@/lib/charts/formatMs';
import { setUpCharts } from '../chartSetup';
import { useInk } from '../useInk';

setUpCharts(Filler, Legend, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, Tooltip);

/** The wait as it was and as it would be, one above the other. */
export function BeforeAfterChart({ title, distribution }: { title: string; distribution: Distribution }) {
  const ink = useInk();
  const { edgesMs, before, after } = distribution;
  const ticks = roundTicksMs(edgesMs);
  const line = { borderWidth: 2, pointRadius: 0, pointHitRadius: 6, fill: true };
  return (
    <div className="h-72">
      <Line
        role="img"
        aria-label={title}
        data={{
          datasets: [
            {
              ...line,
              label: 'As it is',
              data: steps(edgesMs, before),
              borderColor: ink.quiet,
              backgroundColor: `${ink.quiet}33`,
            },
            {
              ...line,
              label: 'At its floor',
              data: steps(edgesMs, after),
              borderColor: ink.accent,
              backgroundColor: `${ink.accent}33`,
            },
          ],
        }}
        options={{
          maintainAspectRatio: false,
          parsing: false,
          interaction: { mode: 'nearest', axis: 'x', intersect: false },
          scales: {
            x: {
              type: 'logarithmic',
              min: edgesMs[0],
              max: edgesMs.at(-1),
              title: { display: true, text: 'Wait', color: ink.quiet },
              grid: { color: ink.line },
              ticks: { color: ink.quiet, callback: (ms) => formatMs(Number(ms)) },
              afterBuildTicks: (scale) => {
                scale.ticks = ticks.map((value) => ({ value }));
              },
            },
            y: {
              beginAtZero: true,
              title: { display: true, text: 'Share of requests', color: ink.quiet },
              grid: { color: ink.line },
              ticks: { color: ink.quiet, callback: (share) => formatRatio(Number(share)) },
            },
          },
          plugins: {
            legend: { position: 'bottom', labels: { color: ink.ink, boxWidth: 12 } },
            tooltip: {
              callbacks: {
                title: ([item]) => `around ${formatMs(item?.parsed.x ?? null)}`,
                label: (item) => `${item.dataset.label}: ${formatRatio(item.parsed.y)} of requests`,
              },
            },
          },
        }}
      />
    </div>
  );
}
