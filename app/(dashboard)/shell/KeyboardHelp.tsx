'use client';

import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { PAGES } from './pages';

const OTHERS = [
  ['?', 'This help'],
  ['Ctrl K', 'Go to a page by name'],
  ['/', 'To the filters'],
  ['Esc', 'Close what is open'],
];

/** Every key that does something. */
export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const rows = [...OTHERS, ...PAGES.map((page) => [`g ${page.key}`, `${page.name}: ${page.question}`])];
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          className="card fixed top-16 left-1/2 z-40 max-h-[80vh] w-[min(32rem,92vw)] -translate-x-1/2 overflow-y-auto shadow-lg"
        >
          <div className="mb-3 flex items-center justify-between">
            <Dialog.Title className="text-base font-semibold">Keyboard</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X aria-hidden="true" className="size-4" />
            </Dialog.Close>
          </div>
          <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2">
            {rows.map(([keys, meaning]) => (
              <div key={keys} className="contents">
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
