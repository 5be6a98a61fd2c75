import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

type NoticeProps = {
  readonly look?: 'plain' | 'good' | 'warning' | 'danger';
  readonly children: ReactNode;
  /** an action for the notice */
  readonly action?: ReactNode;
};

/** A message in the page, announced by screen readers. */
export function Notice({ look = 'plain', children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${look}`} role={look === 'danger' ? 'alert' : 'status'}>
      <Icon name={look === 'good' ? 'check' : 'alert'} />
      <div>{children}</div>
      {action}
    </div>
  );
}
