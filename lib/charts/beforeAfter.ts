/** A distribution on a logarithmic axis as steps: the share of requests in each bin, from edge to edge (ms). */
export type Distribution = { edgesMs: number[]; before: number[]; after: number[] };
export type StepPoint = { x: number; y: number };

/** Corners of the steps, so that a straight line through them draws the bins. */
export function steps(edgesMs: readonly number[], shares: readonly number[]): StepPoint[] {
  return shares.flatMap((y, i) => [
    { x: edgesMs[i]!, y },
    { x: edgesMs[i + 1]!, y },
  ]);
}

const ROUND = [1, 2, 5];

/** Round values (ms) within the edges for a logarithmic axis: 1, 2, 5, 10, … */
export function roundTicksMs(edgesMs: readonly number[]): number[] {
  const [from, to] = [edgesMs[0], edgesMs.at(-1)];
  if (from === undefined || to === undefined) return [];
  const ticks: number[] = [];
  for (let decade = 10 ** Math.floor(Math.log10(from)); decade <= to; decade *= 10)
    for (const step of ROUND) if (decade * step >= from && decade * step <= to) ticks.push(decade * step);
  return ticks.length > 9 ? ticks.filter((tick) => /^[^25]*$/.test(tick.toPrecision(1).replace(/e.*$/, ''))) : ticks;
}
