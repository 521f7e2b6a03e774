// Breaks a running system at random and checks what must hold all the same: what was acknowledged is stored, once, and
// the roll-ups and samples are those of a rebuild from the stored requests.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FaultBed, type ProcessName } from './faultBed';
import { type ClientLog, runClient } from './faultClients';
import { seeded } from './traffic';

export type FaultReport = {
  scenario: string;
  seconds: number;
  posts: number;
  acknowledged: number;
  stored: number;
  answers: Record<string, number>;
  starts: Record<ProcessName, number>;
  longestOutageMs: number;
  /** Every violation in words; empty when everything held. */
  wrong: string[];
};

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const newLog = (): ClientLog => ({
  ...{ acknowledged: new Set<string>(), sent: new Set<string>(), posts: 0, answers: {}, wrong: [], longestOutageMs: 0 },
});

/** The `fault` runs until it returns; then the clients finish, and everything is checked. */
async function withClients(
  bed: FaultBed,
  options: {
    scenario: string;
    clients: number;
    seed: number;
    fault: (random: () => number, log: ClientLog) => Promise<void>;
  },
): Promise<FaultReport> {
  const log = newLog();
  const startedAt = Date.now();
  let over = false;
  const clients = Array.from({ length: options.clients }, (_, i) =>
    runClient(log, { ports: bed.ports, key: bed.key, random: seeded(options.seed * 1_000 + i), until: () => over }),
  );
  await options.fault(seeded(options.seed), log);
  over = true;
  await Promise.all(clients);
  await bed.folded(180_000);
  await bed.stopWorker();
  const { stored, wrong } = await check(bed, log);
  return {
    ...{ scenario: options.scenario, seconds: Math.round((Date.now() - startedAt) / 1_000), posts: log.posts },
    ...{ acknowledged: log.acknowledged.size, stored, answers: log.answers, starts: { ...bed.starts } },
    ...{ longestOutageMs: log.longestOutageMs, wrong: [...log.wrong, ...wrong] },
  };
}

async function check(bed: FaultBed, log: ClientLog): Promise<{ stored: number; wrong: string[] }> {
  const wrong: string[] = [];
  const rows = await bed.query<{ id: string; n: string }>('SELECT id, count(*) AS n FROM timed_request GROUP BY id');
  const stored = new Map(rows.map((row) => [row.id, Number(row.n)]));
  const lost = [...log.acknowledged].filter((id) => !stored.has(id)).length;
  const twice = rows.filter((row) => row.n !== '1').length;
  const foreign = rows.filter((row) => !log.sent.has(row.id)).length;
  if (lost > 0) wrong.push(`${lost} acknowledged events are not stored`);
  if (twice > 0) wrong.push(`${twice} events are stored more than once`);
  if (foreign > 0) wrong.push(`${foreign} stored events were never sent`);
  const [quarantined] = await bed.query<{ n: string }>('SELECT count(*) AS n FROM quarantine');
  if (quarantined!.n !== '0') wrong.push(`${quarantined!.n} chunks in quarantine`);
  const rebuilt = spawnSync(process.execPath, ['--import', 'tsx', 'bench/support/rebuildCheck.ts', bed.projectId], {
    env: { ...process.env, DATABASE_URL: bed.databaseUrl, ISOCHRONE_SECRET: 'x'.repeat(32), LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (rebuilt.status !== 0) wrong.push('roll-ups and samples differ from a rebuild');
  return { stored: stored.size, wrong };
}

async function withBed<T>(
  options: { dataDir?: string; settings?: string[] },
  work: (bed: FaultBed) => Promise<T>,
): Promise<T> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'isochrone-faults-'));
  const bed = new FaultBed(dataDir, options.settings);
  try {
    await bed.start();
    return await work(bed);
  } finally {
    await bed.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** kill -9 of both ingest processes, the worker and Postgres, SIGTERM to the ingest, cut connections; at random. */
export function runKills(options: { seconds: number; clients: number; seed: number }): Promise<FaultReport> {
  return withBed({}, (bed) =>
    withClients(bed, {
      ...{ scenario: 'kills', clients: options.clients, seed: options.seed },
      fault: async (random) => {
        const endsAt = Date.now() + options.seconds * 1_000;
        await sleep(1_500);
        // each at least once, then as chance has it
        const planned: [ProcessName, 'SIGKILL' | 'SIGTERM'][] = [
          ['ingestA', 'SIGKILL'],
          ['postgres', 'SIGKILL'],
          ['ingestB', 'SIGTERM'],
          ['worker', 'SIGKILL'],
        ];
        for (let i = 0; i < planned.length || Date.now() < endsAt; i++) {
          const [name, signal] = planned[i] ?? planned[Math.floor(random() * planned.length)]!;
          await bed.signal(name, signal);
          await sleep(options.seconds < 60 ? 2_000 : 2_000 + random() * 4_000);
        }
        // the last one may still drain
        const all = () => Object.values(bed.starts).every((starts) => starts >= 2);
        for (const until = Date.now() + 20_000; !all() && Date.now() < until; ) await sleep(100);
      },
    }),
  );
}

const DISK = '512m';

/**
 * A disk that fills up under the database, and is freed again, without any of our processes being restarted by hand.
 * Needs the right to mount a tmpfs; null where that is missing.
 */
export async function runDiskFull(options: { clients: number; seed: number }): Promise<FaultReport | null> {
  const mount = mkdtempSync(path.join(os.tmpdir(), 'isochrone-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', mount]);
  if (mounted.status !== 0) {
    rmSync(mount, { recursive: true, force: true });
    return null;
  }
  const dataDir = path.join(mount, 'data');
  mkdirSync(dataDir);
  const ballast = path.join(mount, 'ballast');
  try {
    return await withBed(
      { dataDir, settings: ['max_wal_size=96MB', 'min_wal_size=32MB', 'shared_buffers=32MB'] },
      (bed) =>
        withClients(bed, {
          ...{ scenario: 'disk full', clients: options.clients, seed: options.seed },
          fault: async (_random, log) => {
            await sleep(3_000);
            spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M']); // ends when nothing is left
            if (!existsSync(ballast)) writeFileSync(ballast, '');
            const refused = () => (log.answers['503'] ?? 0) + (log.answers.failed ?? 0);
            for (const until = Date.now() + 60_000; refused() < 20 && Date.now() < until; ) await sleep(200);
            if ((log.answers['503'] ?? 0) === 0) log.wrong.push('a full disk was never answered with 503');
            rmSync(ballast);
            const before = log.answers['200'] ?? 0;
            for (const until = Date.now() + 60_000; (log.answers['200'] ?? 0) < before + 20 && Date.now() < until; )
              await sleep(200);
            if ((log.answers['200'] ?? 0) < before + 20)
              log.wrong.push('no recovery within a minute of the disk being freed');
          },
        }),
    );
  } finally {
    spawnSync('umount', ['-l', mount]);
    rmSync(mount, { recursive: true, force: true });
  }
}
