import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

type NoticeProps = {
  readonly look?: 'plain' | 'warning' | 'danger';
  readonly children: ReactNode;
  /** what can be done about it */
  readonly action?: ReactNode;
};

/** One thing that the reader must know here. Read aloud when it appears. */
export function Notice({ look = 'plain', children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${look}`} role={look === 'danger' ? 'alert' : 'status'}>
      <Icon name="alert" />
      <div>{children}</div>
      {action}
    </div>
  );
}
