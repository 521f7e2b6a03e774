// A world map as SVG paths, so that it needs no script in the browser and follows the colours of the page.
// Land: Natural Earth 1:110m (public domain), as packed by world-atlas.

import { type GeoPermissibleObjects, geoNaturalEarth1, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Topology } from 'topojson-specification';
import land110m from 'world-atlas/land-110m.json';

export type MapPlace = { name: string; latitude: number; longitude: number };
/** `labelY` keeps names of near places apart. */
export type MapPoint = { name: string; x: number; y: number; labelY: number };

export const MAP_SIZE = { width: 960, height: 420 } as const;

/** What must fit; Antarctica is cut off. */
const INHABITED: GeoPermissibleObjects = {
  type: 'MultiPoint',
  coordinates: [
    [-180, 0],
    [180, 0],
    [0, 80],
    [0, -56],
  ],
};

const world = land110m as unknown as Topology;
const land = feature(world, world.objects.land!);
const projection = geoNaturalEarth1().fitExtent(
  [
    [4, 4],
    [MAP_SIZE.width - 4, MAP_SIZE.height - 4],
  ],
  INHABITED,
);
const path = geoPath(projection).digits(1);

/** All land, as the `d` of one path. */
export const LAND_PATH = path(land) ?? '';

const LABEL = { height: 13, width: 90 };

/** Where places are on the map, from north to south. */
export function mapPoints(places: readonly MapPlace[]): MapPoint[] {
  const points: MapPoint[] = [];
  for (const { name, latitude, longitude } of [...places].sort((a, b) => b.latitude - a.latitude)) {
    const point = projection([longitude, latitude]);
    if (point === null) continue;
    const [x, y] = [round(point[0]), round(point[1])];
    let labelY = y + 4;
    for (const other of points)
      if (Math.abs(other.x - x) < LABEL.width && Math.abs(other.labelY - labelY) < LABEL.height)
        labelY = round(other.labelY + LABEL.height);
    points.push({ name, x, y, labelY });
  }
  return points;
}

/** The shortest way between two places, as the `d` of a path; null where they are one place. */
export function greatCirclePath(from: MapPlace, to: MapPlace): string | null {
  if (from.latitude === to.latitude && from.longitude === to.longitude) return null;
  const coordinates = [from, to].map(({ longitude, latitude }): [number, number] => [longitude, latitude]);
  return path({ type: 'LineString', coordinates });
}

const round = (value: number) => Math.round(value * 10) / 10;
