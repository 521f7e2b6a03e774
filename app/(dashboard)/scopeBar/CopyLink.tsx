'use client';

import { Check, Link2 } from 'lucide-react';
import { useState } from 'react';
import { withParams } from '../[project]/urlParams';

type Props = { params: URLSearchParams; instants: { from: string; to: string }; zone: string };

const SHOWN_MS = 2_500;

/** Copies a link in which "the last 7 days" are the days in view now: whoever opens it later sees the same. */
export function CopyLink({ params, instants, zone }: Props) {
  const [copied, setCopied] = useState<string | null>(null);
  async function copy() {
    const { origin, pathname } = window.location;
    const link = `${origin}${pathname}${withParams(params, { range: null, ...instants, timeZone: zone })}`;
    const isCopied = await navigator.clipboard?.writeText(link).then(
      () => true,
      () => false,
    );
    if (!isCopied) window.prompt('Copy this link', link); // no clipboard without https
    setCopied(link);
    setTimeout(() => setCopied(null), SHOWN_MS);
  }
  const Icon = copied === null ? Link2 : Check;
  return (
    <button type="button" className="chip" onClick={copy} data-link={copied ?? undefined} data-testid="copy-link">
      <Icon aria-hidden="true" className="size-4 text-quiet" />
      <span role="status">{copied === null ? 'Copy link' : 'Copied'}</span>
    </button>
  );
}
