/** What an agent does in the browser of the user: its plan, each action with its verification, questions and the end. */
import type { Json } from '@parlance/protocol';
import type { CallView } from '@parlance/sdk';
import { memo, type ReactNode } from 'react';
import { Chip, type ChipVariant } from '../../components/chip.tsx';
import { Icon } from '../../components/icon.tsx';
import { Markdown } from '../../markdown/markdown.tsx';
import { Collapsible } from './collapsible.tsx';
import { textOf } from './rows.ts';

const TOOLS: readonly string[] = [
  'browser_plan',
  'browser_act',
  'browser_read',
  'browser_verify',
  'browser_ask',
  'browser_finish',
];

export const isBrowserCall = ({ tool, malformed }: CallView): boolean =>
  malformed === undefined && TOOLS.includes(tool);

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const BrowserCall = memo(function BrowserCall({ call }: { readonly call: CallView }) {
  const { tool, input, state } = call;
  const said = state.phase === 'ended' ? textOf(state.parts) : '';
  switch (tool) {
    case 'browser_plan':
      return <PlanSteps call={call} />;
    case 'browser_act':
      return <Act call={call} />;
    case 'browser_ask':
      return (
        <Step call={call} title="Question">
          <Markdown text={text(input.question)} />
          {state.phase === 'ended' && state.said && <p className="hint">Your answer: “{state.said}”</p>}
        </Step>
      );
    case 'browser_read':
      return <Step call={call} title={`Reads the page: ${text(input.reason)}`} />;
    case 'browser_verify':
      return <Step call={call} title={`Checks the result: ${text(input.reason)}`} />;
    default:
      return <Markdown text={said || text(input.message)} />;
  }
});

function PlanSteps({ call: { call, input } }: { readonly call: CallView }) {
  const steps = Array.isArray(input.steps) ? input.steps : [];
  return (
    <Collapsible
      name={`call ${call}`}
      icon="plan"
      className="reasoning"
      summary={`Plan: ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`}
    >
      <ol className="browser-plan">
        {steps.map((step) => (
          <li key={JSON.stringify(step)}>{isRecord(step) ? text(step.description) : ''}</li>
        ))}
      </ol>
    </Collapsible>
  );
}

const isRecord = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function Act({ call }: { readonly call: CallView }) {
  const { input, state } = call;
  const data = state.phase === 'ended' ? state.data : undefined;
  const verification = isRecord(data?.verification) ? data.verification : null;
  const correction = isRecord(data?.correction) ? data.correction : null;
  const failed = state.phase === 'ended' && !verification ? textOf(state.parts) : '';
  return (
    <Step call={call} title={text(input.thought)} action={text(input.action)}>
      {verification && (
        <p className="browser-outcome" data-ok={verification.success === true}>
          <Icon name={verification.success === true ? 'check' : 'alert'} />
          {text(verification.reason)}
        </p>
      )}
      {correction && (
        <p className="hint">
          Correction ({text(correction.strategy).toLowerCase().replaceAll('_', ' ')}):{' '}
          {text(correction.reason)}
        </p>
      )}
      {failed !== '' && <p className="hint">{failed}</p>}
    </Step>
  );
}

type StepProps = {
  readonly call: CallView;
  readonly title: string;
  readonly action?: string;
  readonly children?: ReactNode;
};

function Step({ call, title, action, children }: StepProps) {
  const { variant, word } = stateOf(call);
  return (
    <section className="browser-step" aria-label={action ?? title} data-phase={call.state.phase}>
      <div className="browser-step-head">
        <p>{title}</p>
        <Chip variant={variant}>{word}</Chip>
      </div>
      {action !== undefined && <code className="browser-action">{action}</code>}
      {children}
    </section>
  );
}

function stateOf({ tool, state }: CallView): { variant: ChipVariant; word: string } {
  if (state.phase === 'deferred')
    return tool === 'browser_ask'
      ? { variant: 'waiting', word: 'Waiting for you' }
      : { variant: 'busy', word: 'In the browser' };
  if (state.phase !== 'ended') return { variant: 'plain', word: 'Requested' };
  switch (state.outcome) {
    case 'ok':
      return { variant: 'good', word: 'Done' };
    case 'aborted':
      return { variant: 'plain', word: 'Stopped' };
    case 'denied':
    case 'failed':
    case 'unknown':
      return { variant: 'bad', word: 'Failed' };
  }
}
