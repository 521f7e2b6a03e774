import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../data/captures');

/** When the captures were made; what is older than 35 days is refused, so tests set their clock to it. */
export const CAPTURED_MS = 1_796_100_000_000;

/** One post as a real client sent it. `body` is byte for byte what was on the wire. */
export type CapturedPost = {
  id: string;
  path: string;
  contentType: string;
  contentEncoding: string | null;
  body: Buffer;
};

export const captureNames = (): string[] => readdirSync(root).sort();

/** The posts of a capture in the order they were sent. */
export function readCapture(name: string): CapturedPost[] {
  const folder = path.join(root, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.headers.json'))
    .sort()
    .flatMap((file) => {
      const about = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
        id: string;
        kind: string;
        path: string;
        headers: Record<string, string>;
      };
      if (about.kind !== 'post') return [];
      return {
        id: about.id,
        path: about.path,
        contentType: about.headers['content-type'] ?? '',
        contentEncoding: about.headers['content-encoding'] ?? null,
        body: readFileSync(path.join(folder, file.replace('.headers.json', '.bin'))),
      };
    });
}

/** What the recorder knew of a capture. */
export function expectedOf<T>(name: string): T {
  return JSON.parse(readFileSync(path.join(root, name, 'expected.json'), 'utf8')) as T;
}
