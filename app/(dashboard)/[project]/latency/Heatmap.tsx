'use client';

import { type Chart as ChartJs, LinearScale, type Plugin, Tooltip } from 'chart.js';
import { MatrixController, MatrixElement } from 'chartjs-chart-matrix';
import { type PointerEvent, useRef, useState } from 'react';
import { Chart } from 'react-chartjs-2';
import { formatCount, formatMs } from '@/lib/charts/formatMs';
import { type HeatmapCell, rowMarks, rowRange, rowsToMs, strength } from '@/lib/charts/heatmapCells';
import type { TimeAxis } from '@/lib/charts/timeAxis';
import { heatmapMs, heatmapRow } from '@/lib/core/heatmap';
import type { LatencyPoint } from '@/lib/queries/loadLatency';
import type { MarkerLine } from '@/lib/queries/loadMarkers';
import type { Box } from '@/lib/queries/loadSelection';
import { useScopeUrl } from '../../scopeBar/useScopeUrl';
import { setUpCharts } from '../chartSetup';
import { markerLines } from '../markerLines';
import { type Ink, useInk } from '../useInk';
import { BoxFields } from './BoxFields';

setUpCharts(LinearScale, MatrixController, MatrixElement, Tooltip);

type Props = { axis: TimeAxis; points: LatencyPoint[]; cells: HeatmapCell[]; box: Box | null; markers: MarkerLine[] };
type Cell = { x: number; y: number; v: number };
type Corner = { x: number; y: number };

/** How many requests took how long when; dragging over an area asks what is different about those in it. */
export function Heatmap({ axis, points, cells, box, markers }: Props) {
  const ink = useInk();
  const chart = useRef<ChartJs<'matrix', Cell[], string>>(null);
  const { change, isPending } = useScopeUrl();
  const [drag, setDrag] = useState<{ from: Corner; to: Corner } | null>(null);
  const range = rowRange(cells);
  if (range === null) return <p className="text-quiet">No requests in this range.</p>;
  const most = cells.reduce((max, cell) => Math.max(max, cell.weight), 0);

  const at = (event: PointerEvent<HTMLElement>): Corner => {
    const frame = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  function finish() {
    if (drag === null) return;
    setDrag(null);
    const chosen = chart.current && boxOf(chart.current, drag, points);
    if (chosen) change({ box: chosen });
  }
  return (
    <div aria-busy={isPending} className="aria-busy:opacity-60">
      <div
        data-testid="heatmap"
        className="relative h-72 cursor-crosshair touch-pan-y select-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: at(event), to: at(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ from: drag.from, to: at(event) })}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(null)}
      >
        <Chart<'matrix', Cell[], string>
          key={JSON.stringify([box, ink.accent, markers.length])} // plugins are read once
          ref={chart}
          type="matrix"
          role="img"
          aria-label="Requests by time and duration, on a logarithmic axis"
          data={{
            datasets: [
              {
                data: cells.map(({ bucket, row, weight }) => ({ x: bucket, y: row + 0.5, v: weight })),
                backgroundColor: cells.map(({ weight }) => shade(ink.accent, strength(weight, most))),
                width: ({ chart: { chartArea } }) => (chartArea?.width ?? 0) / points.length + 0.5,
                height: ({ chart: { chartArea } }) => (chartArea?.height ?? 0) / (range.high - range.low) + 0.5,
              },
            ],
          }}
          options={{
            maintainAspectRatio: false,
            scales: scalesOf({ axis, points, range, ink }),
            plugins: {
              legend: { display: false },
              tooltip: {
                callbacks: {
                  title: ([item]) => axis.long[cells[item?.dataIndex ?? 0]?.bucket ?? 0] ?? '',
                  label: ({ dataIndex }) => cellWords(cells[dataIndex]),
                },
              },
            },
          }}
          plugins={[frameOf(box, points, ink), markerLines(markers, points, ink)]}
        />
        {drag && <div className="absolute border border-accent bg-accent/20" style={frameStyle(drag)} />}
      </div>
      <BoxFields points={points} box={box} onChoose={(text) => change({ box: text })} />
    </div>
  );
}

function cellWords(cell: HeatmapCell | undefined): string {
  if (cell === undefined) return '';
  return `${formatMs(heatmapMs(cell.row))} to ${formatMs(heatmapMs(cell.row + 1))}: ${formatCount(cell.weight)} requests`;
}

const shade = (hex: string, alpha: number) =>
  `${hex}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0')}`;

const frameStyle = ({ from, to }: { from: Corner; to: Corner }) => ({
  left: Math.min(from.x, to.x),
  top: Math.min(from.y, to.y),
  width: Math.abs(from.x - to.x),
  height: Math.abs(from.y - to.y),
});

const FEWEST_PX = 4;

/** The dragged area as the URL says it, in whole buckets and rows; null for a mere click. */
function boxOf(
  chart: Pick<ChartJs, 'scales'>,
  drag: { from: Corner; to: Corner },
  points: LatencyPoint[],
): string | null {
  if (Math.abs(drag.from.x - drag.to.x) < FEWEST_PX || Math.abs(drag.from.y - drag.to.y) < FEWEST_PX) return null;
  const { x, y } = chart.scales;
  const bucketAt = (px: number) =>
    Math.min(points.length - 1, Math.max(0, Math.round(Number(x?.getValueForPixel(px) ?? 0))));
  const rowAt = (px: number) => Number(y?.getValueForPixel(px) ?? 0);
  const buckets = [bucketAt(drag.from.x), bucketAt(drag.to.x)].sort((a, b) => a - b);
  const { lowMs, highMs } = rowsToMs(rowAt(drag.from.y), rowAt(drag.to.y));
  const from = points[buckets[0] ?? 0]?.at ?? '';
  const until = points[buckets[1] ?? 0]?.until ?? '';
  return [Date.parse(from), Date.parse(until), lowMs, highMs].join(',');
}

/** Draws the area that is being looked at. */
function frameOf(box: Box | null, points: LatencyPoint[], ink: Ink): Plugin<'matrix'> {
  return {
    id: 'box',
    afterDatasetsDraw: ({ ctx, scales: { x, y } }) => {
      if (box === null || x === undefined || y === undefined) return;
      const first = points.findIndex((point) => Date.parse(point.until) * 1000 > box.fromUs);
      const last = points.findLastIndex((point) => Date.parse(point.at) * 1000 < box.toUs);
      if (first < 0 || last < first) return;
      const left = x.getPixelForValue(first - 0.5);
      const top = y.getPixelForValue(Math.min(y.max, heatmapRow(box.highMs)));
      ctx.save();
      ctx.strokeStyle = ink.ink;
      ctx.lineWidth = 2;
      ctx.strokeRect(
        ...([left, top, x.getPixelForValue(last + 0.5) - left] as const),
        y.getPixelForValue(Math.max(y.min, heatmapRow(Math.max(box.lowMs, 0.01)))) - top,
      );
      ctx.restore();
    },
  };
}

function scalesOf(of: { axis: TimeAxis; points: LatencyPoint[]; range: { low: number; high: number }; ink: Ink }) {
  const { axis, points, range, ink } = of;
  const marks = rowMarks(range);
  const setWidth = (scale: { width: number }) => {
    scale.width = 64; // as the chart above, so that times stand above each other
  };
  return {
    x: {
      ...{ type: 'linear' as const, min: -0.5, max: points.length - 0.5, offset: false, grid: { display: false } },
      ticks: {
        ...{ color: ink.quiet, maxRotation: 0, autoSkipPadding: 12 },
        callback: (index: string | number) => axis.marks.find((mark) => mark.index === index)?.text ?? '',
      },
      afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
        scale.ticks = axis.marks.map(({ index }) => ({ value: index }));
      },
    },
    y: {
      ...{ type: 'linear' as const, min: range.low, max: range.high, reverse: false, grid: { color: ink.line } },
      afterFit: setWidth,
      afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
        scale.ticks = marks.map(({ row }) => ({ value: row }));
      },
      ticks: {
        color: ink.quiet,
        callback: (row: string | number) => formatMs(marks.find((mark) => mark.row === row)?.ms ?? null),
      },
    },
  };
}
