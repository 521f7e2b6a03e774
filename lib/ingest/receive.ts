import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { AnswerError } from '../platform/errors';
import { singleton } from '../platform/singleton';
import { MAX_EVENTS } from './contract';

const MAX_COMPRESSED = 2 * 1024 * 1024;
const MAX_INFLATED = 20 * 1024 * 1024;

const MEDIA_TYPES = [
  'application/json',
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'text/plain',
];

/** Bytes of bodies held at once, as received; beyond it posts are refused. And how many are inflated at once. */
const MOST_HELD = 96 * 1024 * 1024;
const INFLATED_AT_ONCE = 4;

function memory() {
  return singleton('bodies', () => ({ held: 0, inflating: 0, waiting: [] as (() => void)[] }));
}

/** Runs `work` when it is its turn: each may need 20 MiB. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const m = memory();
  if (m.inflating >= INFLATED_AT_ONCE) await new Promise<void>((resolve) => m.waiting.push(resolve));
  else m.inflating++;
  try {
    return await work();
  } finally {
    const next = m.waiting.shift();
    if (next) next();
    else m.inflating--;
  }
}

/** A line of NDJSON that is not JSON: refused alone, with its place in the batch. */
export class UnreadableLine {
  readonly message = 'is not JSON: send one JSON object a line';
}

/** The items of a body as sent: an array, `{events: []}` or NDJSON; gzip, deflate or br. Throws AnswerError. */
export async function receive(request: IncomingMessage): Promise<unknown[]> {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase();
  if (!MEDIA_TYPES.includes(type)) {
    throw new AnswerError({
      status: 415,
      code: 'media_type',
      message: `The content type ${type} is not read here.`,
      hint: 'Send application/json or application/x-ndjson.',
    });
  }
  const items = parse(decodeText(await receiveBody(request)), type);
  if (items.length > MAX_EVENTS)
    throw tooLarge(`The batch holds ${items.length} events; at most ${MAX_EVENTS} are taken.`);
  return items;
}

/** The whole body, inflated. Throws AnswerError 415 (encoding), 413 (too large) or 400 (cut short, not as encoded). */
export async function receiveBody(request: IncomingMessage): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (!['identity', 'gzip', 'x-gzip', 'deflate', 'br'].includes(encoding)) {
    throw new AnswerError({
      status: 415,
      code: 'encoding',
      message: `The content encoding ${encoding} is not read here.`,
      hint: 'Send gzip, deflate, br, or no encoding.',
    });
  }
  const limit = encoding === 'identity' ? MAX_INFLATED : MAX_COMPRESSED;
  const holding = { bytes: 0 };
  try {
    const body = await readBody(request, limit, holding);
    return encoding === 'identity' ? body : await inTurn(() => inflate(body, encoding));
  } finally {
    memory().held -= holding.bytes;
  }
}

/** `holding` counts what of the shared memory this body takes, also when reading fails. */
async function readBody(request: IncomingMessage, limit: number, holding: { bytes: number }): Promise<Buffer> {
  const m = memory();
  const tooMuch = () => tooLarge(`The body is larger than ${limit / 1024 / 1024} MiB.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooMuch();
  return await new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const refuse = (error: AnswerError) => {
      request.pause();
      request.removeAllListeners('data');
      reject(error);
    };
    request.on('data', (part: Buffer) => {
      holding.bytes += part.length;
      m.held += part.length;
      if (holding.bytes > limit) refuse(tooMuch());
      else if (m.held > MOST_HELD) refuse(memoryFull());
      else parts.push(part);
    });
    request.on('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    request.on('error', reject);
    request.on('close', () => reject(badRequest('aborted', 'The body ended early.', 'Send it again.')));
  });
}

/** Inflates with a limit that holds while inflating: a bomb ends at 20 MiB. */
async function inflate(body: Buffer, encoding: string): Promise<Buffer> {
  const options = { maxOutputLength: MAX_INFLATED };
  try {
    if (encoding === 'br') return await promisify(zlib.brotliDecompress)(body, options);
    if (encoding === 'deflate' && ((body[0] ?? 0) & 0x0f) !== 8) {
      return await promisify(zlib.inflateRaw)(body, options); // without the zlib header, as some clients send it
    }
    if (encoding === 'deflate') return await promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate)(body, options);
    return await promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)(body, options);
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(`The body inflates to more than ${MAX_INFLATED / 1024 / 1024} MiB.`);
    }
    throw badRequest('encoding', `The body is not valid ${encoding}.`, 'Check Content-Encoding and the body.');
  }
}

/** Throws AnswerError 400 when the bytes are not UTF-8. */
export function decodeText(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badRequest('not_utf8', 'The body is not UTF-8.', 'Encode the JSON as UTF-8.');
  }
}

function parse(text: string, type: string): unknown[] {
  if (type.endsWith('ndjson') || type.endsWith('jsonl')) return parseLines(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (/^\s*\{[^\n]*\}\s*\n\s*\{/.test(text)) return parseLines(text);
    throw badRequest('not_json', `The body is not JSON: ${(error as Error).message}`, 'Send an array of events.');
  }
  if (Array.isArray(value)) return value;
  const events = (value as { events?: unknown } | null)?.events;
  if (Array.isArray(events)) return events;
  throw badRequest(
    'not_a_batch',
    'The body is neither an array of events nor {"events": […]}.',
    'Wrap a single event in an array.',
  );
}

function parseLines(text: string): unknown[] {
  const items: unknown[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    if (items.length > MAX_EVENTS) break; // one too many is enough to refuse the batch
    try {
      items.push(JSON.parse(line));
    } catch {
      items.push(new UnreadableLine());
    }
  }
  return items;
}

function tooLarge(message: string): AnswerError {
  return new AnswerError({ status: 413, code: 'too_large', message, hint: 'Send smaller batches.' });
}

function memoryFull(): AnswerError {
  return new AnswerError({
    ...{ status: 429, code: 'too_many_bytes', message: 'Too many large bodies at once.', retryAfterS: 2 },
    hint: 'Send the same batch again after the time in Retry-After.',
  });
}

function badRequest(code: string, message: string, hint: string): AnswerError {
  return new AnswerError({ status: 400, code, message, hint });
}
