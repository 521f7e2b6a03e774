'use client';

import { CategoryScale, Filler, LinearScale, LineController, LineElement, PointElement, Tooltip } from 'chart.js';
import { Line } from 'react-chartjs-2';
import { formatMs } from '@/lib/charts/formatMs';
import type { Shift } from '@/lib/core/shift';
import { setUpCharts } from '../chartSetup';
import { useInk } from '../useInk';

setUpCharts(CategoryScale, Filler, LinearScale, LineController, LineElement, PointElement, Tooltip);

/** The difference at each percentile with its interval; zero is where nothing moved. */
export function ShiftChart({ title, shifts }: { title: string; shifts: Shift[] }) {
  const ink = useInk();
  const band = { borderWidth: 0, pointRadius: 0, pointHitRadius: 0 };
  const colour = ink.accent;
  return (
    <div className="h-72">
      <Line
        role="img"
        aria-label={title}
        data={{
          labels: shifts.map(({ q }) => `p${Number((q * 100).toFixed(2))}`),
          datasets: [
            { ...band, data: shifts.map(({ lowMs }) => lowMs), fill: false },
            { ...band, data: shifts.map(({ highMs }) => highMs), fill: '-1', backgroundColor: `${colour}2b` },
            {
              ...{ label: 'Change', data: shifts.map(({ differenceMs }) => differenceMs) },
              ...{ borderColor: colour, borderWidth: 2, pointRadius: 5, pointBorderColor: colour, pointBorderWidth: 2 },
              pointBackgroundColor: shifts.map(({ isClaimed }) => (isClaimed ? colour : ink.card)),
            },
          ],
        }}
        options={{
          maintainAspectRatio: false,
          interaction: { mode: 'index', intersect: false },
          scales: {
            x: { ticks: { color: ink.quiet }, grid: { display: false }, offset: true },
            y: {
              ticks: { color: ink.quiet, callback: (ms) => formatMs(Number(ms)) },
              grid: { color: ({ tick }) => (tick?.value === 0 ? ink.quiet : ink.line) },
              suggestedMin: 0,
              suggestedMax: 0,
            },
          },
          plugins: {
            legend: { display: false },
            tooltip: {
              filter: ({ datasetIndex }) => datasetIndex === 2,
              callbacks: { label: ({ dataIndex }) => words(shifts[dataIndex]) },
            },
          },
        }}
      />
    </div>
  );
}

function words(shift: Shift | undefined): string[] {
  if (shift === undefined) return [];
  const interval =
    shift.lowMs === null || shift.highMs === null ? '' : `, ${formatMs(shift.lowMs)} to ${formatMs(shift.highMs)}`;
  return [`${formatMs(shift.differenceMs)}${interval}`, shift.isClaimed ? 'beyond chance' : 'no sure change'];
}
