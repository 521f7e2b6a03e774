// The testbed's traces as its services would export them now: bodies of /v1/traces, JSON.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const MAX_BYTES = 64 * 1024 * 1024;

export const TESTBED_SERVICES = ['london-app', 'inference-gateway', 'inference-worker', 'model-server'] as const;
export type TestbedService = (typeof TESTBED_SERVICES)[number];

type WireSpan = { startTimeUnixNano: string; endTimeUnixNano: string };
type WireBody = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: WireSpan[] }[];
  }[];
};

/** The lines of a variant as recorded. */
export function testbedLines(variant: 'geography76' | 'queue'): string[] {
  const file = path.join(import.meta.dirname, `../data/groundtruth/otlp/${variant}.ndjson.gz`);
  const text = zlib.gunzipSync(readFileSync(file), { maxOutputLength: MAX_BYTES }).toString();
  return text.trim().split('\n');
}

/** The same, moved in time so that the last span ends at `endMs`; `aheadMs`: how far a service's clock runs ahead. */
export function testbedPosts(
  variant: 'geography76' | 'queue',
  { endMs, aheadMs = {} }: { endMs: number; aheadMs?: Partial<Record<TestbedService, number>> },
): string[] {
  const bodies = testbedLines(variant).map((line) => JSON.parse(line) as WireBody);
  const all = bodies.flatMap((body) => body.resourceSpans);
  const lastNs = all
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .reduce((last, { endTimeUnixNano }) => (BigInt(endTimeUnixNano) > last ? BigInt(endTimeUnixNano) : last), 0n);
  for (const { resource, scopeSpans } of all) {
    const name = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue as TestbedService;
    const byNs = BigInt(endMs + (aheadMs[name] ?? 0)) * 1_000_000n - lastNs;
    for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
      span.startTimeUnixNano = String(BigInt(span.startTimeUnixNano) + byNs);
      span.endTimeUnixNano = String(BigInt(span.endTimeUnixNano) + byNs);
    }
  }
  return bodies.map((body) => JSON.stringify(body));
}
