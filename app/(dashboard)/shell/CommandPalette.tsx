'use client';

import { Command } from 'cmdk';
import { useRouter } from 'next/navigation';
import { VisuallyHidden } from 'radix-ui';
import { usePageLinks } from './pageLinks';
import { PAGES, type PageEntry } from './pages';

/** Type a page's name or question, Enter opens it. */
export function CommandPalette({ root, onClose }: { root: string; onClose: () => void }) {
  const router = useRouter();
  const { hrefOf } = usePageLinks(root);
  function open(page: PageEntry) {
    onClose();
    router.push(hrefOf(page));
  }
  return (
    <Command.Dialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      label="Go to a page"
      overlayClassName="fixed inset-0 z-30 bg-shade"
      contentClassName="fixed top-24 left-1/2 z-40 w-[min(34rem,92vw)] -translate-x-1/2 rounded-lg border border-line bg-card p-2 shadow-lg"
    >
      <VisuallyHidden.Root>Type to find a page; arrows and Enter choose.</VisuallyHidden.Root>
      <Command.Input placeholder="Which page, or which question?" className="mb-2 w-full" />
      <Command.List className="max-h-80 overflow-y-auto">
        <Command.Empty className="p-2 text-quiet">No such page.</Command.Empty>
        {PAGES.map((page) => (
          <Command.Item
            key={page.path}
            value={`${page.name} ${page.question}`}
            onSelect={() => open(page)}
            className="flex cursor-pointer items-center gap-3 rounded p-2 data-[selected=true]:bg-hover"
          >
            <page.icon aria-hidden="true" className="size-4 text-quiet" />
            {page.name}
            <span className="flex-1 text-quiet">{page.question}</span>
            <kbd>g {page.key}</kbd>
          </Command.Item>
        ))}
      </Command.List>
    </Command.Dialog>
  );
}
