'use client';

import { ChevronsUpDown } from 'lucide-react';
import Link from 'next/link';
import { Popover } from 'radix-ui';
import { useState } from 'react';

type Project = { slug: string; name: string };

/** The project in view, and the way to the person's others. */
export function ProjectSwitcher({ current, others }: { current: Project; others: Project[] }) {
  const [isOpen, setOpen] = useState(false);
  if (others.length === 0) return <span className="truncate">{current.name}</span>;
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="flex min-w-0 items-center gap-1 px-2 py-1">
        <span className="sr-only">Project</span>
        <span className="truncate">{current.name}</span>
        <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-quiet" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} className="menu" aria-label="Projects">
          <ul>
            {others.map((project) => (
              <li key={project.slug}>
                <Link href={`/${project.slug}`} className="menu-item hover:bg-hover" onClick={() => setOpen(false)}>
                  {project.name}
                </Link>
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
