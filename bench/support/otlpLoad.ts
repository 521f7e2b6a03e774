// Load generator for OTLP, a process of its own: protobuf bodies prepared beforehand, trace ids and times patched in.
// A trace has ten spans of three services, which come in three posts. Told by message what to do.
import http from 'node:http';
import protobuf from 'protobufjs';
import descriptor from '../../lib/ingest/otlp/proto/descriptor.json';

export type OtlpOrder = {
  port: number;
  key: string;
  connections: number;
  /** Traces to send in all; each has SPANS_A_TRACE spans. */
  traces: number;
  /** Spans a second to offer; null: as fast as answers come. */
  rate: number | null;
  /** False: the span without a parent is left out, so that traces stay open. */
  rooted: boolean;
};
export type OtlpReport = {
  spans: number;
  refused: Record<string, number>;
  seconds: number;
  ackMs: { p50: number; p99: number };
};

export const SPANS_A_TRACE = 10;
const TRACES_A_POST = 128;
const TRACE_MARK = Buffer.from('a5c3e1f7968778a5', 'hex');
const START_MARK = 0x7a5b3c1d2e4f6071n;
const START_LONG = { low: Number(BigInt.asIntN(32, START_MARK)), high: Number(START_MARK >> 32n), unsigned: true };

type Template = {
  service: string;
  name: string;
  kind: number;
  id: number;
  parent: number;
  fromMs: number;
  toMs: number;
  attributes: Record<string, string | number>;
};
const http1 = { 'network.protocol.version': '1.1', 'url.scheme': 'http', 'user_agent.original': 'node' };
const TEMPLATE: readonly Template[] = [
  {
    service: 'web',
    name: 'POST /infer',
    kind: 3,
    id: 1,
    parent: 0,
    fromMs: 0,
    toMs: 400,
    attributes: {
      'http.request.method': 'POST',
      'server.address': 'gateway.example.com',
      'url.full': 'https://gateway.example.com/infer',
      'http.response.status_code': 200,
      ...http1,
    },
  },
  {
    service: 'web',
    name: 'dns.lookup',
    kind: 1,
    id: 2,
    parent: 1,
    fromMs: 1,
    toMs: 4,
    attributes: { 'peer.ipv4': '10.0.0.1' },
  },
  {
    service: 'gateway',
    name: 'POST /infer',
    kind: 2,
    id: 3,
    parent: 1,
    fromMs: 40,
    toMs: 360,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/infer',
      'url.path': '/infer',
      'http.response.status_code': 200,
      'client.address': '10.0.0.9',
      ...http1,
    },
  },
  {
    service: 'gateway',
    name: 'middleware - query',
    kind: 1,
    id: 4,
    parent: 3,
    fromMs: 41,
    toMs: 42,
    attributes: { 'express.name': 'query', 'express.type': 'middleware' },
  },
  {
    service: 'gateway',
    name: 'add infer',
    kind: 4,
    id: 5,
    parent: 3,
    fromMs: 45,
    toMs: 48,
    attributes: { 'bullmq.queue.name': 'infer', 'bullmq.queue.operation': 'add', 'bullmq.job.id': '17' },
  },
  {
    service: 'gateway',
    name: 'SET',
    kind: 3,
    id: 6,
    parent: 5,
    fromMs: 46,
    toMs: 47,
    attributes: { 'db.system.name': 'redis', 'db.operation.name': 'set', 'server.address': '10.0.0.2' },
  },
  {
    service: 'worker',
    name: 'process infer',
    kind: 5,
    id: 7,
    parent: 5,
    fromMs: 90,
    toMs: 350,
    attributes: {
      'bullmq.queue.name': 'infer',
      'bullmq.job.id': '17',
      'bullmq.worker.id': 'bc046632-a901-477e-b60f-a937d27f0124',
    },
  },
  {
    service: 'worker',
    name: 'chat gpt-4o-mini',
    kind: 3,
    id: 8,
    parent: 7,
    fromMs: 95,
    toMs: 340,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.response.model': 'gpt-4o-mini-2024-07-18',
      'gen_ai.usage.input_tokens': 320,
      'gen_ai.usage.output_tokens': 48,
      'server.address': 'api.openai.com',
    },
  },
  {
    service: 'worker',
    name: 'POST',
    kind: 3,
    id: 9,
    parent: 8,
    fromMs: 96,
    toMs: 339,
    attributes: {
      'http.request.method': 'POST',
      'url.full': 'https://api.openai.com/v1/chat/completions',
      'http.response.status_code': 200,
      'http.response.header.openai-processing-ms': '190',
      ...http1,
    },
  },
  {
    service: 'worker',
    name: 'tcp.connect',
    kind: 1,
    id: 10,
    parent: 9,
    fromMs: 97,
    toMs: 99,
    attributes: { 'net.transport': 'ip_tcp' },
  },
];
const SERVICES = [...new Set(TEMPLATE.map((t) => t.service))];
const REGIONS: Record<string, string> = { web: 'eu-west-2', gateway: 'us-east-1', worker: 'us-east-1' };

const anyValue = (value: string | number) => (typeof value === 'number' ? { intValue: value } : { stringValue: value });
const attributesOf = (attributes: Record<string, string | number>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
const idOf = (id: number) => (id === 0 ? Buffer.alloc(0) : Buffer.from(id.toString(16).padStart(16, '0'), 'hex'));

/** One service's spans of some traces, with the places of trace ids (last 8 bytes) and times. */
class PreparedPost {
  readonly body: Buffer;
  readonly spans: number;
  private readonly ids: number[] = [];
  private readonly times: { at: number; offsetNs: bigint }[] = [];

  constructor(
    service: string,
    private readonly size: { traces: number; rooted: boolean },
  ) {
    const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace);
    const type = root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');
    const templates = TEMPLATE.filter((t) => t.service === service);
    const spans = Array.from({ length: size.traces }, () => templates)
      .flat()
      .map((t) => ({
        traceId: Buffer.concat([TRACE_MARK, Buffer.alloc(8)]),
        spanId: idOf(t.id),
        parentSpanId: idOf(t.parent === 0 && !size.rooted ? 255 : t.parent),
        name: t.name,
        kind: t.kind,
        startTimeUnixNano: START_LONG,
        endTimeUnixNano: START_LONG,
        attributes: attributesOf(t.attributes),
        status: {},
      }));
    this.spans = spans.length;
    const resource = {
      attributes: attributesOf({
        'service.name': service,
        'cloud.region': REGIONS[service]!,
        'host.name': `${service}-1`,
        'telemetry.sdk.language': 'nodejs',
        'process.pid': 4_711,
      }),
    };
    this.body = Buffer.from(
      type.encode({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'bench' }, spans }] }] }).finish(),
    );
    for (let at = this.body.indexOf(TRACE_MARK); at !== -1; at = this.body.indexOf(TRACE_MARK, at + 1))
      this.ids.push(at + 8);
    const mark = Buffer.alloc(8);
    mark.writeBigUInt64LE(START_MARK);
    let nth = 0;
    for (let at = this.body.indexOf(mark); at !== -1; at = this.body.indexOf(mark, at + 1)) {
      const template = templates[Math.floor(nth / 2) % templates.length]!;
      this.times.push({ at, offsetNs: BigInt(nth % 2 === 0 ? template.fromMs : template.toMs) * 1_000_000n });
      nth++;
    }
  }

  /** The body with trace ids from `first` on and the time now. */
  stamp(first: number): Buffer {
    const perTrace = this.spans / this.size.traces;
    for (const [i, at] of this.ids.entries())
      this.body.writeBigUInt64BE(BigInt(first + Math.floor(i / perTrace) + 1), at);
    const startNs = BigInt(Date.now() - 400) * 1_000_000n;
    for (const { at, offsetNs } of this.times) this.body.writeBigUInt64LE(startNs + offsetNs, at);
    return this.body;
  }
}

async function load(order: OtlpOrder): Promise<OtlpReport> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: order.connections });
  const headers = { authorization: `Bearer ${order.key}`, 'content-type': 'application/x-protobuf' };
  const refused: Record<string, number> = {};
  const ackMs: number[] = [];
  const first = Date.now() * 1_000;
  const startedAt = performance.now();
  let [sent, spans] = [0, 0];
  const post = (body: Buffer) =>
    new Promise<number>((resolve) => {
      const sending = http.request(
        {
          host: '127.0.0.1',
          port: order.port,
          path: '/v1/traces',
          method: 'POST',
          agent,
          headers: { ...headers, 'content-length': body.length },
        },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode!));
        },
      );
      sending.on('error', () => resolve(0));
      sending.end(body);
    });
  const lane = async () => {
    let posts: PreparedPost[] = [];
    let prepared = 0;
    while (sent < order.traces) {
      const from = sent;
      const traces = Math.min(TRACES_A_POST, order.traces - from);
      sent += traces;
      if (traces !== prepared) posts = SERVICES.map((name) => new PreparedPost(name, { traces, rooted: order.rooted }));
      prepared = traces;
      const dueMs = order.rate === null ? 0 : (from * SPANS_A_TRACE * 1_000) / order.rate;
      const earlyMs = startedAt + dueMs - performance.now();
      if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
      for (const body of posts) {
        for (;;) {
          const sentAt = performance.now();
          const status = await post(body.stamp(first + from));
          ackMs.push(performance.now() - sentAt);
          if (status === 200) break;
          refused[status] = (refused[status] ?? 0) + 1;
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
        spans += body.spans;
      }
    }
  };
  await Promise.all(Array.from({ length: order.connections }, lane));
  agent.destroy();
  ackMs.sort((a, b) => a - b);
  const at = (q: number) => ackMs[Math.ceil(q * ackMs.length) - 1] ?? Number.NaN;
  return { spans, refused, seconds: (performance.now() - startedAt) / 1_000, ackMs: { p50: at(0.5), p99: at(0.99) } };
}

process.on('message', (order: OtlpOrder) => {
  load(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
