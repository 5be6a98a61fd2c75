/** The agent's plan as a row of steps. */
import type { PlanView } from '@parlance/sdk';
import { Icon } from '../../components/icon.tsx';
import { Collapsible } from './collapsible.tsx';

const LABELS = { pending: 'to do', in_progress: 'in progress', completed: 'done' } as const;

type PlanProps = { readonly session: string; readonly plan: PlanView; readonly running: boolean };

export function Plan({ session, plan, running }: PlanProps) {
  const done = plan.steps.filter(({ status }) => status === 'completed').length;
  const current = plan.steps.find(({ status }) => status === 'in_progress');
  if (plan.steps.length === 0) return null;
  return (
    <Collapsible
      name={`plan ${session}`}
      icon="plan"
      className="plan"
      usually={running && done < plan.steps.length && plan.steps.length <= 6 && innerHeight > 700}
      summary={
        <>
          Plan: {done} of {plan.steps.length} done
          {current && <span className="plan-current"> · {current.step}</span>}
        </>
      }
    >
      {plan.explanation && <p className="hint">{plan.explanation}</p>}
      <ol className="steps">
        {plan.steps.map(({ step, status }) => (
          <li
            key={step}
            className={`step step-${status}`}
            aria-current={status === 'in_progress' ? 'step' : undefined}
          >
            <span className="step-mark">{status === 'completed' && <Icon name="check" />}</span>
            {step}
            <span className="unseen"> ({LABELS[status]})</span>
          </li>
        ))}
      </ol>
    </Collapsible>
  );
}
