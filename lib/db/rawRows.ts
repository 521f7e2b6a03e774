// Single requests by their place in a chunk, without unpacking the others.

import type { PoolClient } from 'pg';
import type { TimedRequest } from '../core/request';
import { attributeSetIdsOf, CHUNK_ARRAYS, type ChunkRow, decodeChunk, seriesIdsOf } from './chunk';
import { loadCodes } from './codes';
import { codesOf, decodeSealed, PACKED_NUMBERS, PACKED_TEXTS, type SealedRow } from './sealedChunk';
import { loadAttributeSets, loadSeries } from './series';

/** `position` counts from 1. */
export type RawPlace = { sealed: boolean; day: string; chunkId: string; position: number };

type Client = Pick<PoolClient, 'query'>;

const HOT_COLUMNS = [
  ...CHUNK_ARRAYS.request.map(({ name, idText }) => {
    const value = idText ? `c.${name}[w.position]::text` : `c.${name}[w.position]`;
    return `CASE WHEN c.${name} IS NOT NULL THEN json_build_array(${value}) END AS ${name}`;
  }),
  ...CHUNK_ARRAYS.call.map(
    ({ name }) => `array_to_json(c.${name}[p.before + 1:p.before + c.call_count[w.position]]) AS ${name}`,
  ),
].join(', ');

const SEALED_ROW = [
  ...PACKED_NUMBERS.map((name) => `packed_slice(d.${name}, w.position - 1) AS ${name}`),
  ...PACKED_TEXTS.flatMap(({ packed, plain }) => [
    `packed_text_slice(d.${packed}, w.position - 1) AS ${packed}`,
    `d.${plain}[w.position:w.position] AS ${plain}`,
  ]),
  'd.quality[w.position:w.position] AS quality',
  'd.evidence_values, d.decode_told, d.call_texts',
  `substring(d.calls FROM 1 + p.before FOR packed_number(d.call_ends, w.position - 1)::integer - p.before) AS calls`,
].join(', ');

// The whole columns come out of TOAST once a row; OFFSET 0 keeps that from happening once a use.
const UNTOASTED = [
  ...[...PACKED_NUMBERS, ...PACKED_TEXTS.map((t) => t.packed), 'calls'].map(
    (name) => `c.${name} || ''::bytea AS ${name}`,
  ),
  ...PACKED_TEXTS.map(({ plain }) => `c.${plain}`),
  'c.quality, c.evidence_values, c.decode_told, c.call_texts',
].join(', ');

const PLACES = `unnest($2::date[], $3::uuid[], $4::integer[]) WITH ORDINALITY AS w(day, chunk_id, position, at)`;

const paramsOf = (projectId: string, places: readonly RawPlace[]) => [
  projectId,
  places.map((p) => p.day),
  places.map((p) => p.chunkId),
  places.map((p) => p.position),
];

/** The requests at these places, in their order; undefined where there is none any more. Attributes included. */
export async function readPlaces(
  client: Client,
  projectId: string,
  places: readonly RawPlace[],
): Promise<(TimedRequest | undefined)[]> {
  const found: (TimedRequest | undefined)[] = places.map(() => undefined);
  const indexes = (sealed: boolean) => places.flatMap((place, i) => (place.sealed === sealed ? [i] : []));
  for (const sealed of [false, true]) {
    const some = indexes(sealed);
    if (some.length === 0) continue;
    const read = sealed ? readSealedRows : readHotRows;
    for (const { at, request } of await read(
      client,
      projectId,
      some.map((i) => places[i]!),
    ))
      found[some[at]!] = request;
  }
  return found;
}

type Found = { at: number; request: TimedRequest };

async function readHotRows(client: Client, projectId: string, places: readonly RawPlace[]): Promise<Found[]> {
  const { rows } = await client.query<ChunkRow & { at: string }>(
    `SELECT w.at, 1 AS n, ${HOT_COLUMNS} FROM ${PLACES}
     JOIN hot_chunk c ON c.project_id = $1 AND c.shard_key = 0 AND c.day = w.day AND c.chunk_id = w.chunk_id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(x), 0)::integer AS before FROM unnest(c.call_count[1:w.position - 1]) AS x
     ) AS p`,
    paramsOf(projectId, places),
  );
  const series = await loadSeries(projectId, new Set(rows.flatMap(seriesIdsOf)));
  const sets = await loadAttributeSets(projectId, new Set(rows.flatMap(attributeSetIdsOf)));
  return rows.map((row) => ({ at: Number(row.at) - 1, request: decodeChunk(row, series, sets)[0]! }));
}

async function readSealedRows(client: Client, projectId: string, places: readonly RawPlace[]): Promise<Found[]> {
  const { rows } = await client.query<SealedRow & { at: string }>(
    `SELECT w.at, 1 AS n, ${SEALED_ROW} FROM ${PLACES}
     JOIN sealed_chunk c ON c.project_id = $1 AND c.shard_key = 0 AND c.day = w.day AND c.chunk_id = w.chunk_id
     CROSS JOIN LATERAL (SELECT ${UNTOASTED} OFFSET 0) AS d
     CROSS JOIN LATERAL (
       SELECT CASE WHEN w.position > 1 THEN packed_number(d.call_ends, w.position - 2) ELSE 0 END::integer AS before
     ) AS p`,
    paramsOf(projectId, places),
  );
  const codes = rows.map(codesOf);
  const meaning = await loadCodes(projectId, {
    series: codes.flatMap((c) => c.series),
    attributeSets: codes.flatMap((c) => c.attributeSets),
  });
  return rows.map((row) => ({ at: Number(row.at) - 1, request: decodeSealed(row, meaning)(0) }));
}
