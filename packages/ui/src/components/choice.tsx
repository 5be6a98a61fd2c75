/** A control with its label. The label is a sibling, so that the accessible name is the label alone. */
import { type ReactNode, useId } from 'react';

type ChoiceProps = {
  readonly label: string;
  readonly className?: string;
  readonly children: (id: string) => ReactNode;
};

export function Choice({ label, className = '', children }: ChoiceProps) {
  const id = useId();
  return (
    <div className={`choice ${className}`}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}
