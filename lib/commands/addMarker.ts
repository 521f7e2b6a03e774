import { z } from 'zod';
import type { Viewer } from '../core/viewer';
import { insertMarker, type Marker } from '../db/markers';
import { AnswerError } from '../platform/errors';
import { requireOwner } from './requireOwner';

export const MARKER_KINDS = ['deploy', 'config', 'provider', 'incident', 'other'] as const;

/** Body of `POST /api/v1/markers`. `at`: RFC 3339 or milliseconds since the epoch. */
export const markerSchema = z.strictObject({
  at: z.union([z.iso.datetime({ offset: true }), z.number().int().min(0).max(8.64e15)]),
  label: z.string().trim().min(1).max(200),
  version: z.string().min(1).max(200).nullish(),
  kind: z.enum(MARKER_KINDS).default('deploy'),
});

/** Adds a marker to a project. Throws 400 naming the field, 403. */
export async function addMarker({
  viewer,
  input,
}: {
  viewer: Viewer;
  input: unknown;
}): Promise<Omit<Marker, 'at'> & { at: string }> {
  requireOwner(viewer);
  const parsed = markerSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
    const hint = 'Send {"at": "2026-11-30T09:00:00Z", "label": "Release 4.2", "version": "4.2", "kind": "deploy"}.';
    throw new AnswerError({ status: 400, code: 'invalid', message, hint });
  }
  const { at, label, version = null, kind } = parsed.data;
  const createdBy = viewer.userId ?? `key ${viewer.keyId}`;
  const marker = await insertMarker(viewer.projectId, {
    marker: { at: new Date(at), label, version, kind },
    createdBy,
  });
  return { ...marker, at: marker.at.toISOString() };
}
