import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecentIds } from '../../../lib/ingest/recent';

it('knows exactly what was added, of each project, in the last two generations', () => {
  const [recent, plain] = [new RecentIds(0, 40_000), new Set<string>()];
  const ids = Array.from({ length: 50_000 }, (_, i) => (i % 2 === 0 ? randomUUID() : `id-${i}`));
  const wrong: string[] = [];
  ids.forEach((id, i) => {
    const project = `p${i % 3}`;
    if (recent.has(project, id) !== plain.has(`${project} ${id}`)) wrong.push(id);
    recent.add(project, id, i);
    plain.add(`${project} ${id}`);
    if (!recent.has(project, id) || recent.has(`q${project}`, id)) wrong.push(id);
  });
  expect(wrong).toEqual([]);
  for (let i = 0; i < 90_000; i++) recent.add('p0', `later-${i}`, i);
  expect(recent.has('p0', ids[0]!)).toBe(false);
  expect(recent.has('p0', 'later-89999')).toBe(true);
});

it('a generation ends by time too', () => {
  const recent = new RecentIds(0);
  recent.add('p', 'a', 0);
  recent.add('p', 'b', 11 * 60_000);
  expect([recent.has('p', 'a'), recent.has('p', 'b')]).toEqual([true, true]);
  recent.add('p', 'c', 22 * 60_000);
  expect([recent.has('p', 'a'), recent.has('p', 'b')]).toEqual([false, true]);
});

it('within a flush an id is new once; the next flush asks again what was not added', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.uuid(), fc.string())), (ids) => {
      const recent = new RecentIds(0);
      for (let flush = 0; flush < 2; flush++) {
        recent.beginFlush();
        const seen = new Set<string>();
        for (const id of ids) {
          expect(recent.isNew('p', id)).toBe(!seen.has(id));
          seen.add(id);
        }
      }
    }),
  );
});
