const WIDTH = 120;
const HEIGHT = 24;

/** A small line from 0 to its largest value; null is a gap. The numbers are in the table and the CSV. */
export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const most = Math.max(0, ...values.filter((value) => value !== null));
  if (most === 0) return <span className="text-quiet">–</span>;
  const x = (i: number) => (values.length === 1 ? WIDTH / 2 : (i / (values.length - 1)) * (WIDTH - 4) + 2);
  const y = (value: number) => HEIGHT - 2 - (value / most) * (HEIGHT - 4);
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" className="text-accent">
      {runsOf(values).map((run) =>
        run.length === 1 ? (
          <circle key={run[0]?.i} cx={x(run[0]?.i ?? 0)} cy={y(run[0]?.value ?? 0)} r={1.5} fill="currentColor" />
        ) : (
          <polyline
            key={run[0]?.i}
            points={run.map(({ i, value }) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}
            fill="none"
            stroke="currentColor"
            strokeWidth={1.5}
          />
        ),
      )}
    </svg>
  );
}

type At = { i: number; value: number };

/** Stretches without a gap. */
function runsOf(values: readonly (number | null)[]): At[][] {
  const runs: At[][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = runs.at(-1);
    if (last?.at(-1)?.i === i - 1) last.push({ i, value });
    else runs.push([{ i, value }]);
  });
  return runs;
}
