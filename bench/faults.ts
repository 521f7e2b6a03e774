// What must hold whatever breaks. Ends with 1 when it does not.
//   npm run bench faults [-- seconds clients]     npm run test:faults: 300 s, 20 clients
import { buildIfStale } from '../bin/build.mjs';
import { runDiskFull, runKills } from './support/faultRun';

const [seconds = 60, clients = 20] = process.argv.slice(2).map(Number);
await buildIfStale(() => {}, { dashboard: false });
const seed = Date.now() % 100_000;
const kills = await runKills({ seconds, clients, seed });
console.log(kills);
const disk = await runDiskFull({ clients, seed });
console.log(disk ?? 'disk full: not run, this user may not mount a tmpfs');
const wrong = [...kills.wrong, ...(disk?.wrong ?? [])];
console.log(
  JSON.stringify({
    ...{ seed, seconds, clients, acknowledged: kills.acknowledged + (disk?.acknowledged ?? 0) },
    ...{ killed: Object.values(kills.starts).reduce((sum, n) => sum + n, 0) - 4, diskFull: disk !== null },
    ...{ longestOutageMs: Math.max(kills.longestOutageMs, disk?.longestOutageMs ?? 0), wrong },
  }),
);
process.exit(wrong.length === 0 ? 0 : 1);
