import { expect, test } from 'vitest';
import { greatCirclePath, LAND_PATH, MAP_SIZE, mapPoints } from '@/lib/charts/worldMap';

const LONDON = { name: 'eu-west-2', latitude: 51.5, longitude: -0.13 };
const VIRGINIA = { name: 'us-east-1', latitude: 39.04, longitude: -77.49 };
const SYDNEY = { name: 'ap-southeast-2', latitude: -33.87, longitude: 151.2 };

test('places lie on the map where the world has them', () => {
  const points = mapPoints([SYDNEY, LONDON, VIRGINIA]);
  for (const { x, y } of points) {
    expect(x).toBeGreaterThan(0);
    expect(x).toBeLessThan(MAP_SIZE.width);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(MAP_SIZE.height);
  }
  const [london, virginia, sydney] = [LONDON, VIRGINIA, SYDNEY].map((p) => points.find((one) => one.name === p.name)!);
  expect(virginia!.x).toBeLessThan(london!.x);
  expect(london!.x).toBeLessThan(sydney!.x);
  expect(london!.y).toBeLessThan(virginia!.y);
  expect(virginia!.y).toBeLessThan(sydney!.y);
});

test('names of near places do not overlap', () => {
  const near = ['a', 'b', 'c'].map((name, i) => ({ name, latitude: 51 + i / 10, longitude: 0 }));
  const labels = mapPoints(near).map((point) => point.labelY);
  expect(labels[1]! - labels[0]!).toBeGreaterThanOrEqual(13);
  expect(labels[2]! - labels[1]!).toBeGreaterThanOrEqual(13);
});

test('an arc is the shortest way, which bends north between London and Virginia; none within one place', () => {
  const arc = greatCirclePath(VIRGINIA, LONDON)!;
  const ys = [...arc.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)].map((match) => Number(match[2]));
  const [london] = mapPoints([LONDON]);
  expect(Math.min(...ys)).toBeLessThan(london!.y);
  expect(greatCirclePath(LONDON, { ...LONDON, name: 'gcp:europe-west2' })).toBeNull();
  expect(LAND_PATH.length).toBeGreaterThan(10_000);
});
