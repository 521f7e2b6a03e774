'use client';

import { Chart, type ChartComponentLike } from 'chart.js';

/** Registers parts of the chart library and sets what all charts share: our font, no animation. */
export function setUpCharts(...parts: ChartComponentLike[]): void {
  Chart.register(...parts);
  Chart.defaults.font.family = "'Inter Variable', system-ui, sans-serif";
  Chart.defaults.animation = false;
}
