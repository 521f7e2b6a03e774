'use client';

import { clsx } from 'clsx';
import Link from 'next/link';
import { usePageLinks } from './pageLinks';
import { PAGE_GROUPS } from './pages';

/** The pages of a project, by question; the open one is marked. */
export function PageNav({ root, onChoose }: { root: string; onChoose?: () => void }) {
  const { hrefOf, current } = usePageLinks(root);
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4">
      {PAGE_GROUPS.map((group) => (
        <div key={group.title}>
          <h2 className="mb-1 px-2 text-xs font-medium text-quiet">{group.title}</h2>
          <ul className="flex flex-col gap-0.5">
            {group.pages.map((page) => (
              <li key={page.path}>
                <Link
                  href={hrefOf(page)}
                  {...(onChoose && { onClick: onChoose })}
                  title={page.question}
                  aria-current={page === current ? 'page' : undefined}
                  className={clsx(
                    'flex items-center gap-2 rounded px-2 py-1.5 hover:bg-hover hover:no-underline',
                    page === current ? 'bg-hover font-medium text-accent' : 'text-ink',
                  )}
                >
                  <page.icon aria-hidden="true" className="size-4 shrink-0" />
                  {page.name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
