'use client';

import { Keyboard, Search } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useHotkeys } from 'react-hotkeys-hook';
import { usePageLinks } from './pageLinks';
import { PAGES } from './pages';

const CommandPalette = dynamic(() => import('./CommandPalette').then((module) => module.CommandPalette), {
  ssr: false,
});
const KeyboardHelp = dynamic(() => import('./KeyboardHelp').then((module) => module.KeyboardHelp), { ssr: false });

const GO_KEYS = PAGES.map((page) => `g>${page.key}`);

/** The keyboard: `g` and a letter opens a page, `/` the filter, Ctrl+K the palette, `?` the help. With a button each. */
export function Shortcuts({ root }: { root: string }) {
  const router = useRouter();
  const { hrefOf } = usePageLinks(root);
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  const close = () => setOpen(null);
  useHotkeys('mod+k', () => setOpen('palette'), { preventDefault: true, enableOnFormTags: true });
  useHotkeys('?', () => setOpen('help'), { useKey: true });
  useHotkeys('/', focusFilter, { useKey: true, preventDefault: true });
  useHotkeys(
    GO_KEYS,
    (_, hotkey) => {
      const page = PAGES.find(({ key }) => key === hotkey.keys?.at(-1));
      if (page) router.push(hrefOf(page));
    },
    { sequenceTimeoutMs: 1_500 },
  );
  return (
    <>
      <button type="button" className="icon-button" onClick={() => setOpen('palette')} title="Go to… (Ctrl K)">
        <Search aria-hidden="true" className="size-4" />
        <span className="sr-only">Go to a page</span>
      </button>
      <button type="button" className="icon-button max-lg:hidden" onClick={() => setOpen('help')} title="Keyboard (?)">
        <Keyboard aria-hidden="true" className="size-4" />
        <span className="sr-only">Keyboard shortcuts</span>
      </button>
      {open === 'palette' && <CommandPalette root={root} onClose={close} />}
      {open === 'help' && <KeyboardHelp onClose={close} />}
    </>
  );
}

function focusFilter() {
  document.querySelector<HTMLElement>('[data-filter]')?.focus();
}
