'use client';

import { BarController, BarElement, CategoryScale, Legend, LinearScale, Tooltip } from 'chart.js';
import { Bar } from 'react-chartjs-2';
import { formatMs } from '@/lib/charts/formatMs';
import type { StackedBars } from '@/lib/charts/stackedBars';
import { setUpCharts } from './chartSetup';
import { Scroller } from './Scroller';
import { useInk } from './useInk';

setUpCharts(BarController, BarElement, CategoryScale, LinearScale, Legend, Tooltip);

type Props = { title: string; bars: StackedBars; direction: 'across' | 'up'; labelHeading: string };

/** Stacked term bars, with the same numbers as a table behind them. */
export function StackedChart({ title, bars, direction, labelHeading }: Props) {
  const ink = useInk();
  const isAcross = direction === 'across';
  const value = {
    stacked: true,
    title: { display: true, text: 'ms', color: ink.quiet },
    ticks: { color: ink.quiet },
    grid: { color: ink.line },
  };
  const category = { stacked: true, ticks: { color: ink.ink, autoSkip: false }, grid: { display: false } };
  const height = isAcross ? 90 + bars.labels.length * 34 : 340;
  return (
    <figure className="m-0">
      <div style={{ height }}>
        <Bar
          role="img"
          aria-label={title}
          data={{
            labels: bars.labels,
            datasets: bars.datasets.map((set) => ({ label: set.label, data: set.values, backgroundColor: set.colour })),
          }}
          options={{
            indexAxis: isAcross ? 'y' : 'x',
            maintainAspectRatio: false,
            scales: isAcross ? { x: value, y: category } : { x: category, y: value },
            plugins: {
              legend: { position: 'bottom', labels: { color: ink.ink, boxWidth: 12 } },
              tooltip: {
                callbacks: { label: (item) => `${item.dataset.label}: ${formatMs(numberOrNull(item.raw))}` },
              },
            },
          }}
        />
      </div>
      <ChartTable title={title} bars={bars} labelHeading={labelHeading} />
    </figure>
  );
}

function numberOrNull(raw: unknown): number | null {
  return typeof raw === 'number' ? raw : null;
}

function ChartTable({ title, bars, labelHeading }: Pick<Props, 'title' | 'bars' | 'labelHeading'>) {
  return (
    <details className="mt-2">
      <summary>As a table</summary>
      <Scroller label={title}>
        <table>
          <caption className="sr-only">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{labelHeading}</th>
              {bars.datasets.map((set) => (
                <th key={set.term} scope="col" className="number">
                  {set.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.labels.map((label, at) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {bars.datasets.map((set) => (
                  <td key={set.term} className="number">
                    {formatMs(set.values[at] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </details>
  );
}
