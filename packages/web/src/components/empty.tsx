import type { ReactNode } from 'react';

type EmptyProps = { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode };

/** Where there is nothing to show: why, and what to do about it. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
