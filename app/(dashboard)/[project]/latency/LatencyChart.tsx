'use client';

import {
  BarController,
  BarElement,
  CategoryScale,
  type ChartOptions,
  Filler,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
} from 'chart.js';
import { Chart } from 'react-chartjs-2';
import { explainValue, formatCount, formatMs, formatValue } from '@/lib/charts/formatMs';
import { ROUND_MS } from '@/lib/charts/heatmapCells';
import { LINES, type LineKey, latencyLines } from '@/lib/charts/latencyLines';
import type { TimeAxis } from '@/lib/charts/timeAxis';
import type { LatencyPoint } from '@/lib/queries/loadLatency';
import type { MarkerLine } from '@/lib/queries/loadMarkers';
import { setUpCharts } from '../chartSetup';
import { markerLines } from '../markerLines';
import { timeScale } from '../timeScale';
import { type Ink, useInk } from '../useInk';

setUpCharts(BarController, BarElement, CategoryScale, Filler, Legend, LinearScale, LineController, LineElement);
setUpCharts(LogarithmicScale, PointElement, Tooltip);

type Props = {
  title: string;
  axis: TimeAxis;
  points: LatencyPoint[];
  before: LatencyPoint[] | null;
  isLog: boolean;
  markers: MarkerLine[];
};

const FORMING_DASH = [5, 4];

/** Percentiles over time with their intervals; what it is compared with thin and grey; requests beneath. */
export function LatencyChart({ title, axis, points, before, isLog, markers }: Props) {
  const ink = useInk();
  const isForming = (index: number) => points[index]?.forming === true;
  const lines = latencyLines(points).flatMap((line) => [
    { ...BAND, label: `${line.key} low`, data: line.low },
    { ...BAND, label: `${line.key} high`, data: line.high, fill: '-1', backgroundColor: `${line.colour}2b` },
    {
      ...{ type: 'line' as const, label: line.key, data: line.values, yAxisID: 'y', borderColor: line.colour },
      ...{ backgroundColor: line.colour, borderWidth: 2, pointHitRadius: 8 },
      pointRadius: line.isAlone.map((isAlone) => (isAlone ? 2.5 : 0)),
      segment: { borderDash: (at: { p1DataIndex: number }) => (isForming(at.p1DataIndex) ? FORMING_DASH : undefined) },
    },
  ]);
  const earlier = (before ? latencyLines(before) : []).map((line) => ({
    ...{ type: 'line' as const, label: `${line.key} before`, data: line.values.slice(0, points.length), yAxisID: 'y' },
    ...{ borderColor: ink.quiet, borderWidth: 1, pointRadius: 0, pointHitRadius: 0 },
  }));
  const counts = {
    ...{ type: 'bar' as const, label: 'Requests', yAxisID: 'n', data: points.map((point) => point.n) },
    backgroundColor: points.map((_, i) => (isForming(i) ? ink.line : `${ink.quiet}99`)),
  };
  return (
    <div className="h-96">
      <Chart<'line' | 'bar', (number | null)[], string>
        type="line"
        role="img"
        aria-label={title}
        data={{ labels: axis.long, datasets: [...lines, ...earlier, counts] }}
        key={markers.map(({ id }) => id).join() + ink.accent} // plugins are read once
        plugins={[markerLines(markers, points, ink)]}
        options={optionsOf({ axis, points, ink, isLog })}
      />
    </div>
  );
}

const BAND = { type: 'line' as const, yAxisID: 'y', borderWidth: 0, pointRadius: 0, pointHitRadius: 0, fill: false };
const isNamed = (label: string | undefined) => [...LINES, 'Requests'].includes(label as LineKey);

type Look = { axis: TimeAxis; points: LatencyPoint[]; ink: Ink; isLog: boolean };

function optionsOf({ axis, points, ink, isLog }: Look): ChartOptions<'line' | 'bar'> {
  const y = { ticks: { color: ink.quiet }, grid: { color: ink.line }, beginAtZero: true, stack: 'v' };
  return {
    maintainAspectRatio: false,
    interaction: { mode: 'index', intersect: false },
    scales: {
      x: timeScale(axis, ink),
      // the first stands at the foot
      n: {
        ...y,
        stackWeight: 1,
        ticks: { color: ink.quiet, maxTicksLimit: 3, callback: (n) => formatCount(Number(n)) },
        offset: true,
        afterFit: keepWidth,
      },
      y: isLog
        ? {
            ...{ ...y, type: 'logarithmic', beginAtZero: false, stackWeight: 4, afterFit: keepWidth },
            ticks: { color: ink.quiet, callback: (ms) => formatMs(Number(ms)) },
            afterBuildTicks: (scale) => {
              const isWithin = (ms: number) => ms > scale.min * 1.2 && ms <= scale.max; // the foot is the counts'
              scale.ticks = ROUND_MS.filter(isWithin).map((value) => ({ value }));
            },
          }
        : {
            ...{ ...y, stackWeight: 4, afterFit: keepWidth },
            ticks: { color: ink.quiet, callback: (ms) => formatMs(Number(ms)) },
          },
    },
    plugins: {
      legend: {
        position: 'bottom',
        onClick: () => {},
        labels: {
          color: ink.ink,
          boxWidth: 12,
          filter: ({ text }) => LINES.includes(text as LineKey) || text === 'p50 before',
        },
      },
      tooltip: {
        filter: ({ dataset }) => isNamed(dataset.label),
        callbacks: {
          title: ([item]) => `${item?.label}${points[item?.dataIndex ?? 0]?.forming ? ' (still filling)' : ''}`,
          label: ({ dataset, dataIndex }) => tooltipLine(points[dataIndex], dataset.label),
        },
      },
    },
  };
}

/** Room for the widest labels that come up, so that this axis stands above that of the heatmap. */
function keepWidth(scale: { width: number }) {
  scale.width = 64;
}

function tooltipLine(point: LatencyPoint | undefined, label: string | undefined): string {
  const key = LINES.find((line) => line === label);
  if (point === undefined) return '';
  if (key === undefined) return `${formatCount(point.n)} requests`;
  const value = point[key];
  return `${key}: ${formatValue(value)}, ${explainValue(value)}`;
}
