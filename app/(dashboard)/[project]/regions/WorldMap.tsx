import { formatCount, formatValue } from '@/lib/charts/formatMs';
import { greatCirclePath, LAND_PATH, MAP_SIZE, mapPoints } from '@/lib/charts/worldMap';
import type { Regions } from '@/lib/queries/loadRegions';

/** Client regions and the service regions that serve them, with arcs as thick as their share of requests. */
export function WorldMap({ regions }: { regions: Regions }) {
  const { pairs, places } = regions;
  if (places.length === 0) return null;
  const placeOf = (name: string | null) => places.find((place) => place.name === name);
  const services = new Set(pairs.map((pair) => pair.serviceRegion));
  const most = Math.max(...pairs.map((pair) => pair.n), 1);
  const unknown = new Set(
    pairs.flatMap(({ clientRegion, serviceRegion }) => [clientRegion, serviceRegion]).filter((name) => !placeOf(name)),
  );
  return (
    <section className="card">
      <h2 className="mb-2">Where users are, and where they are served</h2>
      <svg
        viewBox={`0 0 ${MAP_SIZE.width} ${MAP_SIZE.height}`}
        className="h-auto w-full"
        role="img"
        aria-label="World map: arcs from client regions to service regions; the table below has the numbers"
      >
        <path d={LAND_PATH} fill="var(--color-line)" />
        {pairs.map((pair) => {
          const [from, to] = [placeOf(pair.clientRegion), placeOf(pair.serviceRegion)];
          const arc = from && to ? greatCirclePath(from, to) : null;
          if (arc === null) return null;
          return (
            <path
              key={`${pair.clientRegion} ${pair.serviceRegion}`}
              d={arc}
              fill="none"
              stroke="var(--color-accent)"
              strokeOpacity={0.75}
              strokeWidth={1 + (4 * pair.n) / most}
              data-testid="arc"
            >
              <title>
                {`${pair.clientRegion} → ${pair.serviceRegion}: wait p99 ${formatValue(pair.wait.p99)}, n ${formatCount(pair.n)}`}
              </title>
            </path>
          );
        })}
        {mapPoints(places).map((point) => (
          <g key={point.name}>
            {services.has(point.name) ? (
              <rect x={point.x - 5} y={point.y - 5} width={10} height={10} fill="var(--color-bad)" />
            ) : (
              <circle cx={point.x} cy={point.y} r={4} fill="var(--color-accent)" />
            )}
            <title>{point.name}</title>
            <text
              className="hidden sm:block"
              x={point.x + 8}
              y={point.labelY}
              fontSize={12}
              fill="var(--color-ink)"
              stroke="var(--color-card)"
              strokeWidth={3}
              paintOrder="stroke"
            >
              {point.name}
            </text>
          </g>
        ))}
      </svg>
      <p className="mt-2 text-quiet">
        Circles: client regions. Squares: service regions. The thicker an arc, the more requests.
        {unknown.size > 0 && ` Not on the map: ${[...unknown].map((name) => name ?? 'unknown').join(', ')}.`}
      </p>
    </section>
  );
}
