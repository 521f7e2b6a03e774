// Writes descriptor.json from the .proto files beside it: node lib/ingest/otlp/proto/generate.mjs
// The .proto files are those of opentelemetry-proto v1.11.0 (Apache-2.0, LICENSE), unchanged.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const here = new URL('.', import.meta.url);

/** The messages of ExportTraceServiceRequest and its answer, as protobufjs reads them back. */
export function describe() {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => fileURLToPath(new URL(target, here));
  root.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto', { keepCase: false });
  return root.toJSON();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('descriptor.json', here), `${JSON.stringify(describe(), null, 1)}\n`);
}
