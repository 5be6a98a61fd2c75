import type { ReactNode } from 'react';

type EmptyProps = { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode };

/** Empty state: the reason and the next action. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
