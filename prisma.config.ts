import path from 'node:path';
import { defineConfig } from 'prisma/config';

// No engine download: the CLI spawns a stand-in that runs the WebAssembly engine from npm (air-gapped installs work).
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= path.join(import.meta.dirname, 'prisma/schema-engine.mjs');

/** Tables of the event migrations: raw SQL, so the CLI must neither model nor drop them. */
const EVENT_TABLES = [
  'series',
  'attribute_set',
  'ledger',
  'hot_chunk',
  'pending',
  'quarantine',
  'rollup',
  'cell_key',
  'fold_state',
  'ingest_count',
  'ingest_key_day',
  'span_chunk',
  'span_pending',
  'assembled_trace',
  'assembly_lease',
  'queue_floor',
  'probe_trip',
  'sealed_chunk',
  'superseded',
  'seal_state',
  'rollup_repair',
  'replica_start',
  'broker_use',
  'marker',
];

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
  experimental: { externalTables: true },
  tables: { external: EVENT_TABLES.map((table) => `public.${table}`) },
});
