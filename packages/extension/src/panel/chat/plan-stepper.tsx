import { Icon } from '../../../../web/src/components/icon.tsx';
import type { PlanSteps, StepStatus } from './plan.ts';

const WORDS: Readonly<Record<StepStatus, string>> = {
  pending: 'to do',
  active: 'in progress',
  completed: 'done',
  failed: 'failed',
};

/** The plan of the task: past, current and coming steps. */
export function PlanStepper({ plan }: { plan: PlanSteps }) {
  return (
    <ol className="stepper" aria-label="Plan">
      {plan.map(({ number, description, status }) => (
        <li
          key={number}
          className={`stepper-${status}`}
          aria-current={status === 'active' ? 'step' : undefined}
        >
          <span className="stepper-mark" aria-hidden="true">
            {status === 'completed' ? (
              <Icon name="check" />
            ) : status === 'failed' ? (
              <Icon name="close" />
            ) : (
              number
            )}
          </span>
          <span>
            {description}
            <span className="unseen"> ({WORDS[status]})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
