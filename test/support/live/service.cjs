// One process of the live test: OpenTelemetry's Node SDK as its users set it up, then the work of a role.
//   client   asks the gateway and reports how long each answer took
//   gateway  puts a job into the queue and waits for its result
//   worker   takes jobs and asks a model
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { OTLPTraceExporter: ProtoExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { OTLPTraceExporter: JsonExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
const { OpenAIInstrumentation } = require('@opentelemetry/instrumentation-openai');
const { IORedisInstrumentation } = require('@opentelemetry/instrumentation-ioredis');

const { ROLE, EXPORTER, REDIS_PORT, MODEL_URL, GATEWAY_URL } = process.env;
const sdk = new NodeSDK({
  traceExporter: EXPORTER === 'json' ? new JsonExporter() : new ProtoExporter(),
  instrumentations: [
    new HttpInstrumentation(),
    new UndiciInstrumentation(),
    new OpenAIInstrumentation(),
    new IORedisInstrumentation(),
  ],
});
sdk.start();

const http = require('node:http');
const { once } = require('node:events');
const { Queue, QueueEvents, Worker } = require('bullmq');
const { BullMQOtel } = require('bullmq-otel');
const OpenAI = require('openai');

const connection = { host: '127.0.0.1', port: Number(REDIS_PORT), maxRetriesPerRequest: null };
const telemetry = new BullMQOtel('live');

const roles = {
  async client() {
    process.on('message', async ({ requests }) => {
      const e2eMs = [];
      for (let i = 0; i < requests; i++) {
        const startedAt = performance.now();
        const response = await fetch(`${GATEWAY_URL}/infer`, { method: 'POST', body: '{"question":"why?"}' });
        await response.text();
        e2eMs.push(performance.now() - startedAt);
      }
      process.send({ kind: 'asked', e2eMs });
    });
    process.send({ kind: 'ready' });
  },
  async gateway() {
    const queue = new Queue('infer', { connection, telemetry });
    const events = new QueueEvents('infer', { connection });
    await events.waitUntilReady();
    const server = http.createServer(async (request, response) => {
      request.resume();
      const job = await queue.add('infer', { question: 'why?' });
      response.end(JSON.stringify(await job.waitUntilFinished(events)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    process.send({ kind: 'ready', port: server.address().port });
  },
  async worker() {
    const openai = new OpenAI({ apiKey: 'none', baseURL: MODEL_URL });
    const answer = async () => {
      const messages = [{ role: 'user', content: 'why?' }];
      const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages });
      return choices[0].message.content;
    };
    const worker = new Worker('infer', answer, { connection, telemetry });
    await worker.waitUntilReady();
    process.send({ kind: 'ready' });
  },
};

process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => sdk.shutdown().finally(() => process.exit(0)));
roles[ROLE]().catch((error) => {
  console.error(error);
  process.exit(1);
});
