#!/usr/bin/env node
// A stand-in for Prisma's native `schema-engine` executable that needs nothing but npm packages.
// `prisma` spawns $PRISMA_SCHEMA_ENGINE_BINARY and talks newline-delimited JSON-RPC over stdio;
// this answers it with the WebAssembly build of the same engine, reaching Postgres through @prisma/adapter-pg.
import { readFileSync } from 'node:fs';

import { createInterface } from 'node:readline';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bg from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { parse as parseConnectionString } from 'pg-connection-string';

const argv = process.argv.slice(2);
const opts = { datamodels: [] };
let cli = null;
for (let i = 0; i < argv.length; i++) {
  if (argv[i] === '--datamodels') opts.datamodels.push(argv[++i]);
  else if (argv[i] === '--datasource') opts.datasource = JSON.parse(argv[++i]);
  else if (argv[i] === '--enabled-preview-features' || argv[i] === '--extension-types') i++;
  else if (argv[i] === '--version' || argv[i] === 'version') {
    console.log(`schema-engine-wasm ${enginePkg().version}`);
    process.exit(0);
  } else if (argv[i] === 'cli') cli = argv[++i];
}
function enginePkg() {
  const url = new URL('package.json', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  return JSON.parse(readFileSync(url, 'utf8'));
}
const log = (level, message, extra = {}) =>
  process.stderr.write(
    `${JSON.stringify({
      timestamp: new Date().toISOString(),
      level,
      fields: { message, ...extra },
      target: 'schema_engine::logger',
    })}\n`,
  );

const url = opts.datasource?.url ?? process.env.DATABASE_URL ?? '';
const parsed = url ? new URL(url) : null;
const schema = parsed?.searchParams.get('schema') ?? undefined;
const cleanUrl = (u) => {
  if (!u) return u;
  const x = new URL(u);
  x.searchParams.delete('schema');
  return x.toString();
};

// Separate fields, never `connectionString`: the adapter makes its shadow-database connection by overriding
// `database`, and node-postgres lets a connectionString win over that - the shadow steps would then run on the real database.
function pgConfig(u) {
  if (!u) return {};
  const { host, port, user, password, database, ssl } = parseConnectionString(cleanUrl(u));
  return {
    host: host ?? undefined,
    port: port ? Number(port) : undefined,
    user,
    password,
    database: database ?? undefined,
    ssl,
  };
}

if (cli) {
  log('INFO', 'Starting schema engine CLI');
  try {
    if (cli === 'can-connect-to-database') await withClient(cleanUrl(url), (c) => c.query('select 1'));
    else if (cli === 'create-database') {
      const admin = new URL(cleanUrl(url));
      const name = decodeURIComponent(admin.pathname.slice(1));
      admin.pathname = '/postgres';
      await withClient(admin.toString(), (c) => c.query(`CREATE DATABASE ${c.escapeIdentifier(name)}`));
    } else throw new Error(`unsupported cli command ${cli}`);
    process.exit(0);
  } catch (e) {
    const code = e.code === '3D000' ? 'P1003' : e.code === '28P01' ? 'P1000' : e.code === '42P04' ? 'P1009' : 'P1001';
    log('ERROR', e.message, { error_code: code, is_panic: false });
    process.exit(1);
  }
}
async function withClient(connectionString, fn) {
  const c = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
  await c.connect();
  try {
    return await fn(c);
  } finally {
    await c.end();
  }
}

const wasmPath = new URL('schema_engine_bg.wasm', import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmPath)), {
  './schema_engine_bg.js': bg,
});
bg.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();

// The engine's catalogue queries return "char" columns (oid 18), which @prisma/adapter-pg refuses: hand them over as Character.
const CHAR_OID = 18,
  TEXT_OID = 25,
  CHARACTER = 6;
class CharAware extends PrismaPg {
  async connect() {
    const a = charAware(await super.connect());
    opened.push(a);
    return a;
  }
  // The adapter's own version drops the shadow database while its pool is still connected to it, which Postgres refuses.
  async connectToShadowDb() {
    const admin = await super.connect();
    const database = `prisma_migrate_shadow_db_${crypto.randomUUID()}`;
    await admin.executeScript(`CREATE DATABASE "${database}"`);
    const shadow = await new PrismaPg({ ...pgConfig(url), database }, { schema }).connect();
    const dispose = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await dispose();
      await admin.executeScript(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
      await admin.dispose();
    };
    return charAware(shadow);
  }
}
function charAware(adapter) {
  const performIO = adapter.performIO.bind(adapter),
    queryRaw = adapter.queryRaw.bind(adapter);
  const seen = new WeakMap();
  adapter.performIO = async (query) => {
    const r = await performIO(query);
    seen.set(
      query,
      r.fields.map((f) => f.dataTypeID === CHAR_OID),
    );
    for (const f of r.fields) if (f.dataTypeID === CHAR_OID) f.dataTypeID = TEXT_OID;
    return r;
  };
  // The adapter's own version cuts scripts at every ';' (inside function bodies too) and sends the pieces one by one.
  // Sent whole they run as the native engine runs them: one simple query, so one implicit transaction.
  adapter.executeScript = async (script) => {
    try {
      await adapter.underlyingDriver().query(script);
    } catch (e) {
      adapter.onError(e);
    }
  };
  adapter.queryRaw = async (query) => {
    const r = await queryRaw(query);
    seen.get(query)?.forEach((isChar, i) => {
      if (isChar) r.columnTypes[i] = CHARACTER;
    });
    return r;
  };
  return adapter;
}

// A fresh engine for every call: the calls carry all their state.
const opened = [];
async function withEngine(fn) {
  const engine = await bg.SchemaEngine.new(
    { datamodels: opts.datamodels.length ? opts.datamodels.map((p) => [p, readFileSync(p, 'utf8')]) : undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new CharAware(pgConfig(url), { schema })),
  );
  try {
    return await fn(engine);
  } finally {
    engine.free();
    // also lets go of the migration advisory lock, which lives as long as its connection
    await Promise.allSettled(opened.splice(0).map((a) => a.underlyingDriver().end()));
  }
}
const send = (o) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...o })}\n`);

let chain = Promise.resolve();
const rl = createInterface({ input: process.stdin, crlfDelay: Infinity });
rl.on('line', (line) => {
  if (!line.trim()) return;
  const req = JSON.parse(line);
  if (!req.method) return; // an answer to one of our own calls
  chain = chain.then(async () => {
    try {
      if (process.env.SHIM_DEBUG) process.stderr.write(`> ${line}\n`);
      const method = req.method === 'getDatabaseVersion' ? 'version' : req.method;
      const result = await withEngine(async (e) => {
        // These two can't open a shadow database in the WebAssembly build; they read the schema that devDiagnostic leaves cached.
        if (method === 'evaluateDataLoss' || method === 'createMigration')
          await e.devDiagnostic({ migrationsList: req.params.migrationsList, filters: req.params.filters });
        return e[method](req.params);
      });
      if (process.env.SHIM_DEBUG) process.stderr.write(`< ${JSON.stringify(result)}\n`);
      if (req.method === 'diff' && result.stdout) {
        // the native engine prints this itself, through the CLI
        send({ id: `print-${req.id}`, method: 'print', params: { content: result.stdout } });
        result.stdout = null;
      }
      send({ id: req.id, result: result ?? {} });
    } catch (err) {
      if (process.env.SHIM_DEBUG) process.stderr.write(`! ${String(err?.stack ?? err)} ${JSON.stringify(err)}\n`);
      let data = {};
      try {
        data = JSON.parse(err.message);
      } catch {
        data = { message: String(err?.message ?? err), error_code: err?.code ?? null };
      }
      send({
        id: req.id,
        error: {
          code: 4466,
          message: 'An error happened. Check the data field for details.',
          data: { is_panic: false, meta: err?.meta ?? null, ...data },
        },
      });
    }
  });
});
rl.on('close', () => chain.then(() => process.exit(0)));
