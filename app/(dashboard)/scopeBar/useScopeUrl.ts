'use client';

import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useTransition } from 'react';
import { withParams } from '../[project]/urlParams';

export type Changes = Record<string, string | readonly string[] | null>;

/** Changes the query string of the page in view: a new entry in the history, so that Back undoes it. */
export function useScopeUrl(): { change: (changes: Changes) => void; isPending: boolean; params: URLSearchParams } {
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams();
  const [isPending, startTransition] = useTransition();
  const params = new URLSearchParams([...search]);
  const change = (changes: Changes) =>
    startTransition(() => {
      // a page of a list belongs to the scope it was asked in
      router.push(`${pathname}${withParams(params, { ...changes, after: null, cursor: null })}`, { scroll: false });
    });
  return { change, isPending, params };
}
