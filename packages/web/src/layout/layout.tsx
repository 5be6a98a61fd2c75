/** Frame around every page: the sidebar (a drawer on narrow screens) and the page. */
import { type ReactNode, useEffect, useState } from 'react';
import { IconButton } from '../components/button.tsx';
import { Toasts } from '../components/toast.tsx';
import type { Route } from '../router.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { Sidebar } from './sidebar.tsx';

/** The sidebar is beside the page. */
const WIDE = '(min-width: 801px)';

export function Layout({ route, children }: { route: Route; children: ReactNode }) {
  const [open, setOpen] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the drawer
  useEffect(() => setOpen(false), [route]);
  useEffect(() => {
    if (!open) return;
    const close = () => setOpen(false);
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && close();
    const wide = matchMedia(WIDE);
    addEventListener('keydown', onKey);
    wide.addEventListener('change', close);
    return () => {
      removeEventListener('keydown', onKey);
      wide.removeEventListener('change', close);
    };
  }, [open]);

  return (
    <div className={open ? 'layout layout-open' : 'layout'}>
      <button type="button" className="skip" onClick={focusMain}>
        Skip to content
      </button>
      <IconButton
        className="drawer-button"
        icon={open ? 'close' : 'menu'}
        label={open ? 'Close menu' : 'Open menu'}
        aria-expanded={open}
        aria-controls="sidebar"
        onClick={() => setOpen(!open)}
      />
      <Sidebar route={route} />
      {open && <div className="backdrop" aria-hidden="true" onPointerDown={() => setOpen(false)} />}
      <div className="content" inert={open}>
        <ConnectionBar />
        {children}
      </div>
      <Toasts />
    </div>
  );
}

/** A button, since a link would change the hash and thereby the page. */
function focusMain(): void {
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}
