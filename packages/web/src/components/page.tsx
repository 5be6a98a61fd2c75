import { type ReactNode, useEffect } from 'react';
import { useApprovals } from '../state/approvals.ts';

type PageProps = {
  readonly title: string;
  /** beside the title, at the end of the bar */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** fills the height and scrolls inside, as a chat does */
  readonly filled?: boolean;
};

/** A page of the console: its bar with the title, and what is under it. Names the tab, too. */
export function Page({ title, actions, children, filled = false }: PageProps) {
  const waiting = useApprovals().approvals.length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Parlance`;
  }, [title, waiting]);
  return (
    <main className={filled ? 'page page-filled' : 'page'} id="main">
      <header className="bar">
        <h1>{title}</h1>
        {actions && <div className="bar-actions">{actions}</div>}
      </header>
      {filled ? children : <div className="page-body">{children}</div>}
    </main>
  );
}
