// The yardstick: COPY BINARY of plain rows with the same columns, prepared beforehand, 2,000 rows a transaction.
import { once } from 'node:events';
import pg from 'pg';
import type { BenchEvent } from './traffic';
import { drawEvent, seeded } from './traffic';

const ROWS_A_TRANSACTION = 2_000;
const TERMS = [
  'connection',
  'network',
  'backbone',
  'queue',
  'routing',
  'cold_start',
  'retry',
  'model_hop',
  'model',
].concat(['application']);
const COLUMNS = [
  'project_id uuid NOT NULL, received_at timestamptz NOT NULL, id text NOT NULL, started_at timestamptz NOT NULL',
  'endpoint text NOT NULL, vantage text NOT NULL, environment text, version text, client_region text',
  'service_region text, provider text, model text, model_region text, outcome text NOT NULL, e2e bigint NOT NULL',
  `ttft bigint, ${TERMS.map((t) => `${t}_us bigint`).join(', ')}, decode bigint, evidence integer NOT NULL`,
  'input_tokens bigint, output_tokens bigint, weight bigint NOT NULL, attributes jsonb',
].join(', ');

export const PLAIN_TABLE = `CREATE TABLE plain_request (${COLUMNS})`;

const PG_EPOCH_US = 946_684_800_000_000n;

class RowWriter {
  private readonly parts: Buffer[] = [];
  header(): void {
    this.parts.push(Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'));
  }
  row(fields: (Buffer | null)[]): void {
    const head = Buffer.alloc(2);
    head.writeInt16BE(fields.length);
    this.parts.push(head);
    for (const field of fields) {
      const length = Buffer.alloc(4);
      length.writeInt32BE(field === null ? -1 : field.length);
      this.parts.push(length);
      if (field !== null) this.parts.push(field);
    }
  }
  end(): Buffer {
    return Buffer.concat([...this.parts, Buffer.from([0xff, 0xff])]);
  }
}

const text = (value: string | undefined) => (value === undefined ? null : Buffer.from(value));
function int8(value: number | bigint | undefined): Buffer | null {
  if (value === undefined) return null;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
const us = (value: number | undefined) => (value === undefined ? undefined : Math.round(value * 1_000));

function fieldsOf(
  event: BenchEvent,
  { id, startedAtUs, projectId }: { id: string; startedAtUs: bigint; projectId: Buffer },
) {
  const evidence = Buffer.alloc(4);
  evidence.writeInt32BE(1);
  const { networkMs, queueMs, routingMs, modelHopMs, modelMs } = event.terms;
  const terms = [
    undefined,
    networkMs,
    undefined,
    queueMs,
    routingMs,
    undefined,
    undefined,
    modelHopMs,
    modelMs,
    undefined,
  ];
  const at = int8(startedAtUs - PG_EPOCH_US);
  return [
    ...[projectId, at, text(id), at, text(event.endpoint), text(event.vantage), text(event.environment)],
    ...[text(event.version), text(event.clientRegion), text(event.serviceRegion), text(event.provider)],
    ...[text(event.model), null, text(event.outcome), int8(us(event.e2eMs)), int8(us(event.ttftMs))],
    ...terms.map((t) => int8(us(t))),
    int8(event.ttftMs === undefined ? undefined : us(event.e2eMs - event.ttftMs)),
    evidence,
    ...[int8(event.inputTokens), int8(event.outputTokens), int8(1)],
    Buffer.concat([Buffer.from([1]), Buffer.from(JSON.stringify(event.attributes))]),
  ];
}

/** COPY data of some transactions, ready to send. */
export function prepareCopies(count: number): Buffer[] {
  const random = seeded(7);
  const projectId = Buffer.alloc(16, 7);
  return Array.from({ length: count }, (_, batch) => {
    const writer = new RowWriter();
    writer.header();
    for (let i = 0; i < ROWS_A_TRANSACTION; i++) {
      const id = `00000000-0000-4000-8000-${(batch * ROWS_A_TRANSACTION + i).toString(16).padStart(12, '0')}`;
      writer.row(fieldsOf(drawEvent(random), { id, startedAtUs: BigInt(Date.now()) * 1_000n, projectId }));
    }
    return writer.end();
  });
}

type Wire = pg.Connection & { query(text: string): void; sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void };

/** What pg calls while it runs a COPY: sends one prepared buffer. */
class CopyIn {
  done: Promise<void>;
  private resolve!: () => void;
  private reject!: (error: Error) => void;
  constructor(private readonly body: Buffer) {
    this.done = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
  submit(connection: Wire): void {
    connection.query('COPY plain_request FROM STDIN (FORMAT binary)');
  }
  handleCopyInResponse(connection: Wire): void {
    connection.sendCopyFromChunk(this.body);
    connection.endCopyFrom();
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.resolve();
  }
  handleError(error: Error): void {
    this.reject(error);
  }
}

/** Rows a second of one connection that does nothing but COPY for `seconds`. */
export async function measureCopy(url: string, options: { copies: Buffer[]; seconds: number }): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('TRUNCATE plain_request');
  const startedAt = performance.now();
  let transactions = 0;
  while (performance.now() - startedAt < options.seconds * 1_000) {
    const copy = new CopyIn(options.copies[transactions % options.copies.length]!);
    client.query(copy as unknown as pg.Submittable);
    await copy.done;
    transactions++;
  }
  const elapsedS = (performance.now() - startedAt) / 1_000;
  await client.query('TRUNCATE plain_request');
  const ended = once(client, 'end');
  await client.end();
  await ended;
  return (transactions * ROWS_A_TRANSACTION) / elapsedS;
}
