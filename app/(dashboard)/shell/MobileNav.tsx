'use client';

import { Menu, X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { PageNav } from './PageNav';

/** The navigation of narrow screens: a drawer behind a button, with `children` at its foot. */
export function MobileNav({ root, children }: { root: string; children: ReactNode }) {
  const drawer = useRef<HTMLDialogElement>(null);
  const close = () => drawer.current?.close();
  return (
    <>
      <button
        type="button"
        className="icon-button lg:hidden"
        aria-label="Pages"
        onClick={() => drawer.current?.showModal()}
      >
        <Menu aria-hidden="true" className="size-5" />
      </button>
      <dialog
        ref={drawer}
        aria-label="Pages"
        className="m-0 h-dvh max-h-none w-64 overflow-y-auto border-r border-line bg-page p-4 text-ink backdrop:bg-shade"
      >
        <div className="mb-3 flex items-center justify-between">
          <h2>Pages</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={close}>
            <X aria-hidden="true" className="size-5" />
          </button>
        </div>
        <PageNav root={root} onChoose={close} />
        <div className="mt-6 flex">{children}</div>
      </dialog>
    </>
  );
}
