import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

type NoticeVariant = 'plain' | 'good' | 'warning' | 'danger';

const ICONS: Readonly<Record<NoticeVariant, IconName>> = {
  plain: 'info',
  good: 'check',
  warning: 'alert',
  danger: 'alert',
};

type NoticeProps = {
  readonly variant?: NoticeVariant;
  readonly children: ReactNode;
  /** an action for the notice */
  readonly action?: ReactNode;
};

/** A message in the page, announced by screen readers. */
export function Notice({ variant = 'plain', children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${variant}`} role={variant === 'danger' ? 'alert' : 'status'}>
      <Icon name={ICONS[variant]} />
      <div>{children}</div>
      {action}
    </div>
  );
}
