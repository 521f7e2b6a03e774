// Random requests whose every term is known, as the spans that their services would send.
//
// A request is a plan of steps, one after the other; a step may have parallel branches, the longest of which counts. Each
// thing that takes time is written down once in the truth and once as spans, each on the clock of its own host.
import fc from 'fast-check';
import type { MeasuredTerm } from '../../lib/core/terms';
import type { Attributes, Span, SpanKind } from '../../lib/core/trace/span';
import { CHAT, POST } from './drawing';

export type Truth = Partial<Record<MeasuredTerm, number>>;
type Step =
  | { is: 'work'; us: number }
  | { is: 'call'; outUs: number; edgeUs: number; modelUs: number; failedUs: number; backOffUs: number }
  | { is: 'branches'; workUs: number; callUs: number };
export type Plan = {
  wayUs: number;
  connectUs: number;
  passOnUs: number;
  queueUs: number | null;
  replyUs: number;
  steps: Step[];
  /** Of the last call, when it streams: until the first output, within its model time. */
  firstUs: number | null;
  aheadUs: Record<'gate' | 'work' | 'model', number>;
};

const us = (minMs: number, maxMs: number) => fc.integer({ min: minMs * 1_000, max: maxMs * 1_000 });
const call = fc.record({
  is: fc.constant('call' as const),
  outUs: us(1, 60),
  edgeUs: us(1, 60),
  modelUs: us(20, 900),
  failedUs: fc.oneof(fc.constant(0), us(2, 50)),
  backOffUs: us(5, 300),
});
const work = fc.record({ is: fc.constant('work' as const), us: us(1, 200) });
const branches = fc.record({ is: fc.constant('branches' as const), workUs: us(5, 800), callUs: us(5, 800) });

/** Plans with all clocks as `ahead` says (µs). */
export function plans(ahead: fc.Arbitrary<number>): fc.Arbitrary<Plan> {
  const some = fc.array(fc.oneof(work, call, branches), { minLength: 0, maxLength: 6 });
  const agent = fc.array(call, { minLength: 12, maxLength: 12 });
  return fc.record({
    wayUs: us(1, 120),
    connectUs: fc.oneof(fc.constant(0), us(1, 150)),
    passOnUs: us(1, 15),
    queueUs: fc.option(us(1, 2_000)),
    replyUs: us(0, 3),
    steps: fc
      .tuple(fc.oneof({ weight: 4, arbitrary: some }, { weight: 1, arbitrary: agent }), call)
      .map(([before, last]) => [...before, last]),
    firstUs: fc.option(us(5, 15)),
    aheadUs: fc.record({ gate: ahead, work: ahead, model: ahead }),
  });
}

const REGIONS = { app: 'eu-west-2', gate: 'us-east-1', work: 'us-east-1', model: 'us-east-1' } as const;
type Host = keyof typeof REGIONS;

class Recorder {
  readonly spans: Span[] = [];
  readonly truth: Truth = {};
  constructor(private readonly plan: Plan) {}

  add(term: MeasuredTerm, durationUs: number): void {
    this.truth[term] = (this.truth[term] ?? 0) + durationUs;
  }

  span(
    host: Host,
    at: {
      parent: Span | null;
      kind: SpanKind;
      name: string;
      fromUs: number;
      toUs: number;
      attributes?: Attributes;
      isFailed?: boolean;
    },
  ): Span {
    const aheadUs = host === 'app' ? 0 : this.plan.aheadUs[host];
    const span: Span = {
      traceId: 'ac'.repeat(16),
      spanId: (this.spans.length + 1).toString(16).padStart(16, '0'),
      parentSpanId: at.parent?.spanId ?? null,
      name: at.name,
      kind: at.kind,
      startUs: 1_796_000_000_000_000 + at.fromUs + aheadUs,
      endUs: 1_796_000_000_000_000 + at.toUs + aheadUs,
      status: at.isFailed ? 'error' : 'unset',
      attributes: at.attributes ?? {},
      resource: { 'service.name': host, 'host.name': host, 'cloud.region': REGIONS[host] },
      scope: '',
      traceState: null,
      events: [],
      links: [],
    };
    this.spans.push(span);
    return span;
  }
}

/** The spans of a plan, and its terms until the first output (µs). */
export function perform(plan: Plan): { spans: Span[]; truth: Truth; e2eUs: number; ttftUs: number | null } {
  const recorder = new Recorder(plan);
  const ask = recorder.span('app', {
    parent: null,
    kind: 'client',
    name: 'POST',
    fromUs: 0,
    toUs: 0,
    attributes: POST,
  });
  const at = plan.connectUs + plan.wayUs;
  if (plan.connectUs > 0)
    recorder.span('app', { parent: ask, kind: 'internal', name: 'tcp.connect', fromUs: 0, toUs: plan.connectUs });
  recorder.add('network', 2 * plan.wayUs);
  if (plan.connectUs > 0) recorder.add('connection', plan.connectUs);
  const infer = recorder.span('gate', {
    parent: ask,
    kind: 'server',
    name: 'POST /infer',
    fromUs: at,
    toUs: at,
    attributes: POST,
  });
  recorder.span('gate', { parent: infer, kind: 'internal', name: 'route', fromUs: at, toUs: at + plan.passOnUs });
  recorder.add('routing', plan.passOnUs);
  const done =
    plan.queueUs === null
      ? passOn(recorder, plan, { infer, fromUs: at + plan.passOnUs })
      : enqueue(recorder, plan, { infer, fromUs: at + plan.passOnUs });
  infer.endUs += done.toUs - at;
  ask.endUs += done.toUs + plan.wayUs;
  const e2eUs = done.toUs + plan.wayUs;
  // The way back of the first output is as long as that of the whole answer
  const decodeUs = done.decodeUs;
  return { spans: recorder.spans, truth: recorder.truth, e2eUs, ttftUs: decodeUs === null ? null : e2eUs - decodeUs };
}

type Done = { toUs: number; decodeUs: number | null };

function enqueue(recorder: Recorder, plan: Plan, { infer, fromUs }: { infer: Span; fromUs: number }): Done {
  const takenUs = fromUs + plan.queueUs!;
  const send = recorder.span('gate', {
    parent: infer,
    kind: 'producer',
    name: 'send jobs',
    fromUs,
    toUs: fromUs + 800,
    attributes: { 'messaging.system': 'redis' },
  });
  const run = recorder.span('work', {
    parent: send,
    kind: 'consumer',
    name: 'process jobs',
    fromUs: takenUs,
    toUs: takenUs,
    attributes: { 'messaging.system': 'redis' },
  });
  const done = runSteps(recorder, plan, { parent: run, fromUs: takenUs });
  run.endUs += done.toUs - takenUs;
  recorder.add('queue', plan.queueUs!);
  recorder.add('application', plan.replyUs);
  return { ...done, toUs: done.toUs + plan.replyUs };
}

function passOn(recorder: Recorder, plan: Plan, { infer, fromUs }: { infer: Span; fromUs: number }): Done {
  const hopUs = plan.replyUs;
  const forward = recorder.span('gate', {
    parent: infer,
    kind: 'client',
    name: 'POST',
    fromUs,
    toUs: fromUs,
    attributes: { 'http.request.method': 'POST' },
  });
  const serve = recorder.span('work', {
    parent: forward,
    kind: 'server',
    name: 'POST /run',
    fromUs: fromUs + hopUs,
    toUs: fromUs + hopUs,
    attributes: POST,
  });
  const done = runSteps(recorder, plan, { parent: serve, fromUs: fromUs + hopUs });
  serve.endUs += done.toUs - fromUs - hopUs;
  forward.endUs += done.toUs + hopUs - fromUs;
  recorder.add('routing', 2 * hopUs);
  return { ...done, toUs: done.toUs + hopUs };
}

function runSteps(recorder: Recorder, plan: Plan, { parent, fromUs }: { parent: Span; fromUs: number }): Done {
  let at = fromUs;
  let decodeUs: number | null = null;
  plan.steps.forEach((step, i) => {
    if (step.is === 'work') {
      recorder.span('work', { parent, kind: 'internal', name: `tool ${i}`, fromUs: at, toUs: at + step.us });
      recorder.add('application', step.us);
      at += step.us;
    } else if (step.is === 'branches') {
      recorder.span('work', { parent, kind: 'internal', name: `search ${i}`, fromUs: at, toUs: at + step.workUs });
      recorder.span('work', {
        parent,
        kind: 'client',
        name: `chat ${i}`,
        fromUs: at,
        toUs: at + step.callUs,
        attributes: CHAT,
      });
      // Equal branches: whichever is named, it took that long
      if (step.workUs >= step.callUs) recorder.add('application', step.workUs);
      else recorder.add('model', step.callUs);
      at += Math.max(step.workUs, step.callUs);
    } else {
      const isLast = i === plan.steps.length - 1;
      const done = runCall(recorder, step, { parent, fromUs: at, firstUs: isLast ? plan.firstUs : null });
      at = done.toUs;
      decodeUs = done.decodeUs;
    }
  });
  return { toUs: at, decodeUs };
}

function runCall(
  recorder: Recorder,
  step: Extract<Step, { is: 'call' }>,
  { parent, fromUs, firstUs }: { parent: Span; fromUs: number; firstUs: number | null },
): Done {
  let at = fromUs;
  if (step.failedUs > 0) {
    recorder.span('work', {
      parent,
      kind: 'client',
      name: 'chat m',
      fromUs: at,
      toUs: at + step.failedUs,
      attributes: CHAT,
      isFailed: true,
    });
    recorder.add('retry', step.failedUs + step.backOffUs);
    at += step.failedUs + step.backOffUs;
  }
  const endUs = at + 2 * step.outUs + step.edgeUs + step.modelUs;
  const told =
    firstUs === null ? {} : { 'gen_ai.response.time_to_first_chunk': (2 * step.outUs + step.edgeUs + firstUs) / 1e6 };
  const chat = recorder.span('work', {
    parent,
    kind: 'client',
    name: 'chat m',
    fromUs: at,
    toUs: endUs,
    attributes: { ...CHAT, ...told },
  });
  const serve = recorder.span('model', {
    parent: chat,
    kind: 'server',
    name: 'POST',
    fromUs: at + step.outUs,
    toUs: endUs - step.outUs,
    attributes: POST,
  });
  const computeUs = at + step.outUs + step.edgeUs;
  recorder.span('model', {
    parent: serve,
    kind: 'internal',
    name: 'inference',
    fromUs: computeUs,
    toUs: computeUs + step.modelUs,
    attributes: { 'gen_ai.request.model': 'm' },
  });
  recorder.add('modelHop', 2 * step.outUs + step.edgeUs);
  recorder.add('model', firstUs ?? step.modelUs);
  return { toUs: endUs, decodeUs: firstUs === null ? null : step.modelUs - firstUs };
}
