// Load generator, a process of its own: raw sockets, request bytes prepared beforehand, only ids and times patched in.
// Told by message what to do, answers with what it saw. One post in flight a connection.
import net from 'node:net';
import { drawEvent, seeded } from './traffic';

export type LoadOrder = {
  port: number;
  key: string;
  connections: number;
  eventsAPost: number;
  seconds: number;
  /** Events a second to offer; null: as fast as answers come. */
  rate: number | null;
  run: number;
  seed: number;
};
export type LoadReport = {
  posts: number;
  accepted: number;
  /** Answers that were not 200 with every event accepted, by status line. */
  refused: Record<string, number>;
  seconds: number;
  ackMs: { p50: number; p99: number; max: number };
};

const ID = '00000000-0000-4000-8000-000000000000';
const BODIES_A_CONNECTION = 24;
const HEX = Buffer.from('0123456789abcdef');

/** One post whose ids (last 12 hex digits) and times (13 digits) are written in place. */
class PreparedPost {
  readonly bytes: Buffer;
  private readonly ids: number[] = [];
  private readonly times: number[] = [];

  constructor(order: LoadOrder, random: () => number) {
    const prefix = `${order.run.toString(16).padStart(8, '0')}${ID.slice(8, 24)}`;
    const events = Array.from({ length: order.eventsAPost }, () =>
      JSON.stringify({ id: prefix + ID.slice(24), startedAt: 1_000_000_000_000, ...drawEvent(random) }),
    );
    const body = `[${events.join(',')}]`;
    const head = [
      'POST /api/v1/events HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${order.key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ].join('\r\n');
    this.bytes = Buffer.from(`${head}\r\n\r\n${body}`);
    const mark = Buffer.from(`{"id":"${prefix}`);
    for (let at = this.bytes.indexOf(mark); at !== -1; at = this.bytes.indexOf(mark, at + 1)) {
      this.ids.push(at + mark.length);
      this.times.push(at + mark.length + 12 + '","startedAt":'.length);
    }
  }

  /** Fresh ids from `first` on, and the time now. */
  stamp(first: number, nowMs: number): Buffer {
    const digits = String(nowMs);
    for (let i = 0; i < this.ids.length; i++) {
      let rest = first + i;
      for (let at = this.ids[i]! + 11; at >= this.ids[i]!; at--) {
        this.bytes[at] = HEX[rest % 16]!;
        rest = Math.floor(rest / 16);
      }
      for (let d = 0; d < 13; d++) this.bytes[this.times[i]! + d] = digits.charCodeAt(d);
    }
    return this.bytes;
  }
}

async function load(order: LoadOrder): Promise<LoadReport> {
  const random = seeded(order.seed);
  const lanes = Array.from({ length: order.connections }, () => ({
    posts: Array.from({ length: BODIES_A_CONNECTION }, () => new PreparedPost(order, random)),
    socket: net.connect({ port: order.port, host: '127.0.0.1', noDelay: true }),
    sent: 0,
    sentAt: 0,
    received: '',
  }));
  await Promise.all(lanes.map((lane) => new Promise((resolve) => lane.socket.once('connect', resolve))));
  const ackMs: number[] = [];
  const refused: Record<string, number> = {};
  const wanted = `"accepted":${order.eventsAPost},`;
  let [posts, accepted, nextId, scheduled] = [0, 0, 0, 0];
  const startedAt = performance.now();
  const endsAt = startedAt + order.seconds * 1_000;
  const idle: typeof lanes = [];
  const send = (lane: (typeof lanes)[number]) => {
    lane.sentAt = performance.now();
    lane.socket.write(lane.posts[lane.sent++ % lane.posts.length]!.stamp(nextId, Date.now()));
    nextId += order.eventsAPost;
  };
  const mayYet = () => {
    if (order.rate === null) return true;
    return scheduled < ((performance.now() - startedAt) / 1_000) * (order.rate / order.eventsAPost);
  };
  const next = (lane: (typeof lanes)[number]) => {
    if (performance.now() >= endsAt) lane.socket.end();
    else if (mayYet()) {
      scheduled++;
      send(lane);
    } else idle.push(lane);
  };
  const pacer = setInterval(() => {
    while (idle.length > 0 && (mayYet() || performance.now() >= endsAt)) next(idle.shift()!);
  }, 1);
  await Promise.all(
    lanes.map(
      (lane) =>
        new Promise<void>((resolve) => {
          lane.socket.on('close', () => resolve());
          lane.socket.on('error', (error: NodeJS.ErrnoException) => {
            refused[error.code ?? 'error'] = (refused[error.code ?? 'error'] ?? 0) + 1;
          });
          lane.socket.on('data', (part) => {
            lane.received += part.toString('latin1');
            const end = lane.received.indexOf('\r\n\r\n');
            if (end === -1) return;
            const length = Number(/content-length: (\d+)/i.exec(lane.received)?.[1]);
            if (lane.received.length < end + 4 + length) return;
            ackMs.push(performance.now() - lane.sentAt);
            posts++;
            if (lane.received.includes(wanted)) accepted += order.eventsAPost;
            else {
              const said = `${lane.received.slice(9, 12)} ${lane.received.slice(end + 4, end + 120)}`;
              refused[said] = (refused[said] ?? 0) + 1;
            }
            lane.received = '';
            next(lane);
          });
          next(lane);
        }),
    ),
  );
  clearInterval(pacer);
  const seconds = (performance.now() - startedAt) / 1_000;
  const sorted = Float64Array.from(ackMs).sort();
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
  return { posts, accepted, refused, seconds, ackMs: { p50: at(0.5), p99: at(0.99), max: at(1) } };
}

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
