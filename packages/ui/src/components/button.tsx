import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './icon.tsx';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  /** `primary`: the main action of a page; `danger`: cannot be undone */
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
};

export function Button({ variant = 'plain', icon, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button button-${variant} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly icon: IconName;
  /** accessible name and tooltip */
  readonly label: string;
};

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
