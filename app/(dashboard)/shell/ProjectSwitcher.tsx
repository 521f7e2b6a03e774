'use client';

import { ChevronsUpDown } from 'lucide-react';
import Link from 'next/link';
import { DropdownMenu } from 'radix-ui';

type Project = { slug: string; name: string };

/** The project in view, and the way to the person's others. */
export function ProjectSwitcher({ current, others }: { current: Project; others: Project[] }) {
  if (others.length === 0) return <span className="truncate">{current.name}</span>;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex min-w-0 items-center gap-1 px-2 py-1">
        <span className="sr-only">Project</span>
        <span className="truncate">{current.name}</span>
        <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-quiet" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="start" sideOffset={4} className="menu">
          {others.map((project) => (
            <DropdownMenu.Item key={project.slug} asChild>
              <Link href={`/${project.slug}`} className="menu-item">
                {project.name}
              </Link>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
