// Small readers of spans: attributes by name, who made a span, whose clock stamped it.

import type { Attributes, AttributeValue, Span } from './span';

type Names = readonly string[];

const first = (value: AttributeValue | undefined) => (Array.isArray(value) ? value[0] : value);

/** The first of these attributes that holds text that is not empty (or the first of a list); null when none does. */
export function textOf(attributes: Attributes, ...names: Names): string | null {
  for (const name of names) {
    const value = first(attributes[name]);
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  }
  return null;
}

/** The first of these attributes that holds a finite number, also when it is written as text; null when none does. */
export function numberOf(attributes: Attributes, ...names: Names): number | null {
  for (const name of names) {
    const value = first(attributes[name]);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
}

/** True or false where the attribute says so, else null. */
export function flagOf(attributes: Attributes, ...names: Names): boolean | null {
  for (const name of names) {
    const value = first(attributes[name]);
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
  }
  return null;
}

/** A whole number ≥ 0 of the first of these attributes, else null: sentinels such as −1 are no counts. */
export function countOf(attributes: Attributes, ...names: Names): number | null {
  for (const name of names) {
    const value = numberOf(attributes, name);
    if (value !== null && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000) return value;
  }
  return null;
}

/** `service.name`, or null when it is absent or the SDK's filler. */
export function serviceOf(span: Span): string | null {
  const name = textOf(span.resource, 'service.name');
  return name === null || name.startsWith('unknown_service') ? null : name;
}

const PROCESS_KEYS = ['service.name', 'service.instance.id', 'faas.instance', 'host.id', 'host.name', 'k8s.pod.name'];
const HOST_KEYS = ['host.id', 'host.name', 'k8s.pod.name'];

/**
 * Who made a span, as far as its resource tells: spans of one process are stamped by one clock, and nothing else is sure
 * to be. Names of hosts repeat (every container of an image may be called the same), so a host is not enough.
 */
export function clockOf(span: Pick<Span, 'resource'>): string {
  return PROCESS_KEYS.map((key) => textOf(span.resource, key) ?? '').join('|');
}

/** The host that a resource names, or null: two processes of one host probably share a clock. */
export function hostOf(span: Span): string | null {
  return textOf(span.resource, ...HOST_KEYS);
}

/** Region of the process that made the span: `isochrone.region` set by a rule, else cloud.region of the resource. */
export function regionOf(span: Span): string | null {
  const region = textOf(span.resource, 'isochrone.region', 'cloud.region', 'faas.invoked_region');
  return region === null ? null : withProvider(region, textOf(span.resource, 'cloud.provider'));
}

/** A region's name with its cloud in front where only the cloud tells which one is meant. */
function withProvider(region: string, provider: string | null): string {
  const said = provider?.toLowerCase() ?? null;
  return said === null || !/^us-(west|east|central)\d$/.test(region) ? region : `${said}:${region}`;
}

/** HTTP status of a span, old or new name; 0 is how browsers say "no answer". */
export function statusOf(span: Span): number | null {
  return numberOf(span.attributes, 'http.response.status_code', 'http.status_code');
}

/** Path of the address a span called or served, without its query; null when no address is told. */
export function pathOf(span: Span): string | null {
  const told = textOf(span.attributes, 'url.path', 'http.target');
  if (told !== null) return told.replace(/[?#].*$/, '');
  const url = textOf(span.attributes, 'url.full', 'http.url');
  const match = url === null ? null : /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)/i.exec(url);
  return match ? match[1] || '/' : null;
}

/** A value of `http.response.header.<name>` as a number times `toUs` (µs); null when absent or not a number ≥ 0. */
export function headerUs(span: Span, name: string, toUs: number): number | null {
  const value = numberOf(span.attributes, `http.response.header.${name}`);
  return value === null || value < 0 ? null : Math.round(value * toUs);
}
