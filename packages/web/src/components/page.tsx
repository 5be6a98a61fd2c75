import { type ReactNode, useEffect } from 'react';
import { useWaiting } from '../state/approvals.ts';

type PageProps = {
  readonly title: string;
  /** at the end of the title bar */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** fills the height and scrolls inside, like a chat */
  readonly filled?: boolean;
};

/** A page with its title bar. Sets the tab title, too. */
export function Page({ title, actions, children, filled = false }: PageProps) {
  const waiting = useWaiting();
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Parlance`;
  }, [title, waiting]);
  return (
    <main className={filled ? 'page page-filled' : 'page'} id="main">
      <header className="bar">
        <h1 title={title}>{title}</h1>
        {actions && <div className="bar-actions">{actions}</div>}
      </header>
      {filled ? children : <div className="page-body">{children}</div>}
    </main>
  );
}

/** URL of the logo, defined by the build. */
declare const LOGO: string;

/** Decorative: the name of the product is beside it. */
export const Logo = () => <img className="logo" src={LOGO} alt="" width={24} height={24} />;
