// The rules of docs/architecture.md that a machine can check. Each message names the right way.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** What each layer may import besides itself. Anything else is refused. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  app: ['queries', 'commands', 'charts', 'auth', 'core', 'platform'],
  jobs: ['rollup', 'ingest', 'queries', 'commands', 'alerts', 'reports', 'core', 'platform'],
  alerts: ['queries', 'commands', 'db', 'mail', 'core', 'platform'],
  reports: ['queries', 'commands', 'db', 'mail', 'charts', 'core', 'platform'],
  mail: ['core', 'platform'],
  ingest: ['db', 'core', 'platform'],
  rollup: ['db', 'core', 'platform'],
  queries: ['db', 'core', 'platform'],
  commands: ['rollup', 'db', 'core', 'platform'],
  auth: ['db', 'core', 'platform'],
  db: ['core', 'platform'],
  charts: ['core'],
  demo: ['core'],
  core: [],
  platform: [],
};

interface Source {
  /** Path from the root, with slashes. */
  name: string;
  text: string;
  lines: string[];
}

function sourcesUnder(folder: string): Source[] {
  const at = path.join(root, folder);
  if (!statSync(at, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(at, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx)$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith('db/generated'))
    .map((file) => {
      const text = readFileSync(path.join(at, file), 'utf8');
      return { name: path.posix.join(folder, file), text, lines: text.split('\n') };
    });
}

const lib = sourcesUnder('lib');
const app = sourcesUnder('app');
const bin = sourcesUnder('bin');
const product = [...lib, ...app, ...bin];

/** The layer of a path from the root: 'app', or the folder under lib; null for everything else. */
function layerOf(file: string): string | null {
  const [top, second] = file.split('/');
  if (top === 'app') return 'app';
  return top === 'lib' && second !== undefined ? second : null;
}

function importsOf(source: Source): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+)['"]([^'"]+)['"]/gm;
  return [...source.text.matchAll(pattern)].map((match) => match[1] ?? '');
}

/** An import as a path from the root, or null for a package. */
function resolved(source: Source, specifier: string): string | null {
  if (specifier.startsWith('@/')) return specifier.slice(2);
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(source.name), specifier) : null;
}

/** "file:line" of each line that matches. */
function hits(sources: Source[], pattern: RegExp): string[] {
  return sources.flatMap((source) =>
    source.lines.flatMap((line, at) => (pattern.test(line) ? [`${source.name}:${at + 1}: ${line.trim()}`] : [])),
  );
}

const importers = (sources: Source[], isForbidden: (specifier: string) => boolean) =>
  sources.flatMap((source) =>
    importsOf(source)
      .filter(isForbidden)
      .map((specifier) => `${source.name} imports ${specifier}`),
  );

describe('direction', () => {
  it('each layer imports only what is below it', () => {
    const wrong = [...lib, ...app].flatMap((source) => {
      const from = layerOf(source.name) ?? '';
      return importsOf(source).flatMap((specifier) => {
        const to = layerOf(resolved(source, specifier) ?? '');
        if (to === null || to === from || MAY_IMPORT[from]?.includes(to)) return [];
        const allowed = MAY_IMPORT[from]?.join(', ') || 'nothing else';
        return [`${source.name} imports ${specifier}: ${from} may import ${allowed}; move the code or pass it in`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('every folder under lib is a known layer', () => {
    const unknown = lib.filter((source) => MAY_IMPORT[layerOf(source.name) ?? ''] === undefined).map((s) => s.name);
    expect(unknown, 'name the layer in MAY_IMPORT with what it may import').toEqual([]);
  });

  it('only lib/db imports pg and the ORM', () => {
    const outside = [...lib, ...app, ...bin].filter((source) => !source.name.startsWith('lib/db/'));
    const isDatabase = (specifier: string) =>
      /^(pg|pg-.*|@prisma\/.*|prisma)$/.test(specifier) || specifier.includes('db/generated');
    expect(importers(outside, isDatabase), 'put the statement in a function of lib/db').toEqual([]);
  });

  it('core is pure: no packages but temporal-polyfill, no clock, chance or I/O', () => {
    const core = lib.filter((source) => source.name.startsWith('lib/core/'));
    const isForeign = (specifier: string) => !specifier.startsWith('.') && specifier !== 'temporal-polyfill';
    expect(importers(core, isForeign), 'core takes values; read them outside and pass them in').toEqual([]);
    const impure =
      /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|Temporal\.Now|crypto\.|process\.\w|console\.|setTimeout|fetch\()/;
    expect(hits(core, impure), 'pass time, seed and data in as arguments').toEqual([]);
  });

  it('charts run in a browser', () => {
    const charts = lib.filter((source) => source.name.startsWith('lib/charts/'));
    expect(importers(charts, (specifier) => /^(node:|next|server-only)/.test(specifier))).toEqual([]);
  });
});

describe('state and settings', () => {
  it('nothing with state lives at module level', () => {
    const stateful =
      /^(export )?(let |const \w+[^=]*= new (Map|Set|WeakMap|WeakSet)(<[^(]*>)?\(\)|const \w+[^=]*= new (pg\.)?(Pool|Client|PrismaClient)\b)/;
    expect(hits([...lib, ...app], stateful), 'lib/ is bundled twice: keep it in singleton() of lib/platform').toEqual(
      [],
    );
  });

  it('lib/platform/env is the only reader of process.env', () => {
    const others = product.filter((source) => source.name !== 'lib/platform/env.ts');
    expect(hits(others, /\bprocess\.env\b/), 'add the variable to the schema in lib/platform/env.ts').toEqual([]);
  });
});

describe('habits', () => {
  it('types are not switched off', () => {
    expect(hits(product, /@ts-(ignore|nocheck)|: any\b|\bas any\b|<any>/), 'parse unknown into a type instead').toEqual(
      [],
    );
  });

  it('project rows are looked up by (id, projectId)', () => {
    const bare =
      /\b(apiKey|floorVersion|baselineVersion|endpointClass)\.(find|update|delete)\w*\(\{\s*where: \{ id\b[^,]*\}/;
    expect(hits(product, bare), 'add projectId of the viewer or key to the where').toEqual([]);
  });

  it('no server actions', () => {
    expect(hits(app, /^\s*['"]use server['"]/), 'post JSON to a route under /api').toEqual([]);
  });

  it('no test is skipped or focused', () => {
    const tests = sourcesUnder('test').filter((source) => source.name !== 'test/architecture.test.ts');
    expect(hits(tests, /\b(it|test|describe)\.(only|skip|todo)\b/)).toEqual([]);
  });
});

describe('package-lock.json', () => {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; resolved?: string }>;
  };
  const versionsOf = (name: string) =>
    Object.entries(lock.packages)
      .filter(([place]) => place === `node_modules/${name}` || place.endsWith(`/node_modules/${name}`))
      .map(([, entry]) => entry.version ?? '');
  const isAtLeast = (version: string, floor: string) => {
    const [a, b] = [version, floor].map((text) => text.split('-', 1)[0]?.split('.').map(Number) ?? []);
    const at = [0, 1, 2].find((index) => a?.[index] !== b?.[index]);
    return at === undefined ? !version.includes('-') : Number(a?.[at]) > Number(b?.[at]);
  };

  // below these are published, exploited weaknesses
  it.each([
    ['next', '16.4.6'],
    ['react', '19.3.1'],
    ['react-dom', '19.3.1'],
    ['next-auth', '4.24.15'],
    ['nodemailer', '10.0.13'],
  ])('%s is at least %s wherever it is installed', (name, floor) => {
    const below = versionsOf(name).filter((version) => !isAtLeast(version, floor));
    expect(below, `raise ${name} to ${floor} or newer, with an override for what pulls it in`).toEqual([]);
    if (name !== 'nodemailer') expect(versionsOf(name).length).toBeGreaterThan(0);
  });

  it('prisma, its client and its adapter are one version', () => {
    const versions = ['prisma', '@prisma/client', '@prisma/adapter-pg'].flatMap(versionsOf);
    expect(new Set(versions).size, versions.join(', ')).toBe(1);
  });

  it('holds no registry addresses', () => {
    const addressed = Object.entries(lock.packages).filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''));
    const hint = 'npm config set omit-lockfile-registry-resolved true --location project, then npm install';
    expect(
      addressed.map(([place]) => place),
      hint,
    ).toEqual([]);
  });
});
