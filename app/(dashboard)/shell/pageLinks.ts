'use client';

import { usePathname, useSearchParams } from 'next/navigation';
import { carriedParams } from '../[project]/urlParams';
import { PAGES, type PageEntry } from './pages';

/** The address of each page with the scope in view carried along, and which page is open. */
export function usePageLinks(root: string): { hrefOf: (page: PageEntry) => string; current: PageEntry | undefined } {
  const pathname = usePathname();
  const query = carriedParams(useSearchParams()).toString();
  const below = pathname.startsWith(root) ? pathname.slice(root.length) : '';
  const holding = PAGES.filter(
    (page) => below === page.path || (page.path !== '' && below.startsWith(`${page.path}/`)),
  );
  return {
    hrefOf: (page) => `${root}${page.path}${query === '' ? '' : `?${query}`}`,
    current: holding.sort((a, b) => b.path.length - a.path.length)[0],
  };
}
