import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Look = 'plain' | 'good' | 'warning' | 'danger';

const ICONS: Readonly<Record<Look, IconName>> = {
  plain: 'info',
  good: 'check',
  warning: 'alert',
  danger: 'alert',
};

type NoticeProps = {
  readonly look?: Look;
  readonly children: ReactNode;
  /** an action for the notice */
  readonly action?: ReactNode;
};

/** A message in the page, announced by screen readers. */
export function Notice({ look = 'plain', children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${look}`} role={look === 'danger' ? 'alert' : 'status'}>
      <Icon name={ICONS[look]} />
      <div>{children}</div>
      {action}
    </div>
  );
}
