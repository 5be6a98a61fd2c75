/** One tool call: input, progress and output. */
import type { Json } from '@parlance/protocol';
import { patchedFiles } from '@parlance/protocol/patch';
import type { ApprovalView, CallState, CallView } from '@parlance/sdk';
import { memo, type ReactNode, useContext } from 'react';
import { answerText, commandLine } from '../components/approval/approval.ts';
import { ApprovalCard } from '../components/approval/approval-card.tsx';
import { reportedFiles } from '../components/approval/patch.ts';
import { PatchView } from '../components/approval/patch-view.tsx';
import { Button, Chip, type ChipVariant, Collapsible, CopyButton, Icon } from '../components/controls.tsx';
import { CanPreview, Code } from '../markdown/code-block.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { useServer } from '../state/server.ts';
import { counted, duration } from './cost.ts';
import { Parts } from './parts.tsx';
import { openPreview } from './preview.ts';
import { textOf } from './rows.ts';
import { type RowIn, SubAgentCard } from './sub-agent-card.tsx';

type Ended = Extract<CallState, { phase: 'ended' }>;
type Outcome = Ended['outcome'];

/** A call that the user stopped is shown as stopped; its output tells that it may have happened. */
const shownOutcome = ({ outcome, interrupted }: Ended): Outcome => (interrupted ? 'aborted' : outcome);

const OUTCOMES: Readonly<Record<Outcome, { variant: ChipVariant; word: string }>> = {
  ok: { variant: 'good', word: 'Done' },
  failed: { variant: 'bad', word: 'Failed' },
  denied: { variant: 'bad', word: 'Denied' },
  aborted: { variant: 'plain', word: 'Stopped' },
  unknown: { variant: 'bad', word: 'Outcome unknown' },
};

const PHASES: Readonly<Record<Exclude<CallState['phase'], 'ended'>, { variant: ChipVariant; word: string }>> =
  {
    requested: { variant: 'plain', word: 'Requested' },
    waiting: { variant: 'waiting', word: 'Waiting for approval' },
    allowed: { variant: 'busy', word: 'Allowed' },
    running: { variant: 'busy', word: 'Running' },
    deferred: { variant: 'waiting', word: 'Waiting for the client' },
  };

type CallProps = { readonly session: string; readonly call: CallView; readonly rowIn: RowIn };

export const CallCard = memo(function CallCard({ session, call, rowIn }: CallProps) {
  const { state, approval, tool, child } = call;
  const canPreview = useContext(CanPreview);
  if (approval?.state.status === 'pending') return <ApprovalCard session={session} approval={approval} />;
  if (isBrowserCall(call)) return <BrowserCall call={call} />;
  if (child)
    return (
      <div className="call">
        <SubAgentCard
          session={session}
          call={{ ...call, child }}
          state={<State state={state} />}
          rowIn={rowIn}
        />
        {approval && <Approval approval={approval} />}
      </div>
    );
  const busy = state.phase === 'running' || state.phase === 'deferred';
  const bad = state.phase === 'ended' && ['failed', 'unknown'].includes(shownOutcome(state));
  // Who has allowed a call wants to see what it did.
  const allowed = approval?.state.status === 'answered' && approval.state.answer !== 'deny';
  return (
    <div className="call">
      <Collapsible
        name={`call ${call.call}`}
        icon="tool"
        usually={busy || bad || allowed}
        className="call-fold"
        summary={
          <>
            <code className="call-tool">{tool}</code>
            <span className="call-summary">{callSummary(call)}</span>
            <State state={state} />
          </>
        }
      >
        <CallInput call={call} />
        {state.phase === 'running' && state.progress && <Progress progress={state.progress} />}
        {state.phase === 'ended' && <Output state={state} />}
      </Collapsible>
      {approval && <Approval approval={approval} />}
      {canPreview && state.phase === 'ended' && state.app && (
        <Button icon="eye" className="call-app" onClick={() => openPreview({ kind: 'app', session, call })}>
          Open app
        </Button>
      )}
    </div>
  );
});

function Approval({ approval: { state } }: { approval: ApprovalView }) {
  const { principal } = useServer();
  const here = state.status === 'answered' && state.by === principal.id && state.dialect === 'native';
  return (
    <p className="divider">
      <Icon name="shield" />
      <span>{answerText(state, here)}</span>
    </p>
  );
}

function State({ state }: { state: CallState }): ReactNode {
  if (state.phase !== 'ended') {
    const { variant, word } = PHASES[state.phase];
    return <Chip variant={variant}>{word}</Chip>;
  }
  const { variant, word } = OUTCOMES[shownOutcome(state)];
  return (
    <>
      {state.untrusted && (
        <Chip
          variant="waiting"
          title="Contains untrusted content: “always” does not apply while it is in the context"
        >
          untrusted content
        </Chip>
      )}
      <Chip variant={variant} title={`Took ${duration(state.durationMs)}`}>
        {word}
      </Chip>
    </>
  );
}

type Running = NonNullable<Extract<CallState, { phase: 'running' }>['progress']>;

function Progress({ progress: { progress, message, status } }: { progress: Running }) {
  const percent = progress === undefined ? undefined : Math.round(progress <= 1 ? progress * 100 : progress);
  return (
    <div className="call-progress" role="status">
      <progress max={100} value={percent} aria-label="Progress of the call" />
      <span>{message ?? status}</span>
    </div>
  );
}

function Output({ state }: { state: Ended }) {
  const text = state.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return (
    <CallSection title={`Output after ${duration(state.durationMs)}`} copy={text}>
      {state.parts.length === 0 ? (
        <p className="hint">No output.</p>
      ) : (
        <Parts parts={state.parts} text="output" />
      )}
      {state.said !== undefined && <p className="plain">User’s answer: “{state.said}”</p>}
    </CallSection>
  );
}

// What an agent does in the browser of the user: its plan, each action with its verification, questions and the end.

const TOOLS: readonly string[] = [
  'browser_plan',
  'browser_act',
  'browser_read',
  'browser_verify',
  'browser_ask',
  'browser_finish',
];

const isBrowserCall = ({ tool, malformed }: CallView): boolean =>
  malformed === undefined && TOOLS.includes(tool);

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const BrowserCall = memo(function BrowserCall({ call }: { readonly call: CallView }) {
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
      summary={`Plan: ${counted(steps.length, 'step')}`}
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

// The input of a call: its command or patch as such, everything else as JSON.

export const isCommand = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');

export function CallInput({ call }: { call: CallView }) {
  const { input, malformed, approval, state } = call;
  if (malformed !== undefined)
    return (
      <CallSection title="Malformed input (not JSON)" copy={malformed}>
        <Code code={malformed} language="" />
      </CallSection>
    );
  const { command, ...rest } = input;
  // A shell runs patches, too.
  const patch = typeof input.patch === 'string' ? input.patch : approval?.ask.patch;
  if (patch !== undefined) {
    const known = approval?.ask.files ?? (state.phase === 'ended' ? reportedFiles(state.data) : undefined);
    return (
      <CallSection title="Patch" copy={patch}>
        <PatchView patch={patch} replaces={approval?.ask.replaces} files={known} />
      </CallSection>
    );
  }
  if (isCommand(command)) {
    const line = commandLine(command);
    return (
      <>
        <CallSection title="Command" copy={line}>
          <Code code={line} language="bash" />
        </CallSection>
        <Fields fields={rest} />
      </>
    );
  }
  return <Fields fields={input} />;
}

function Fields({ fields }: { fields: CallView['input'] }) {
  const json = JSON.stringify(fields, null, 2);
  if (json === '{}') return null;
  return (
    <CallSection title="Input" copy={json}>
      <Code code={json} language="json" />
    </CallSection>
  );
}

type SectionProps = {
  readonly title: string;
  /** '': nothing to copy */
  readonly copy: string;
  readonly children: ReactNode;
};

/** A titled part of a call, such as its output. */
export function CallSection({ title, copy, children }: SectionProps) {
  return (
    <section className="call-section">
      <div className="call-section-head">
        <h3>{title}</h3>
        {copy !== '' && <CopyButton text={copy} />}
      </div>
      {children}
    </section>
  );
}

// What a call is about, in one line. Pure.

const MAX_LENGTH = 200;
const MAIN = ['command', 'path', 'query', 'url', 'pattern', 'agent', 'text'] as const;

/** The main argument: command, path or query, files of a patch, steps of a plan, or else the first text. */
export function callSummary({ input, approval }: Pick<CallView, 'input' | 'approval'>): string {
  const { command, patch } = input;
  if (isCommand(command)) return commandLine(command);
  if (typeof patch === 'string')
    return firstLine([...new Set(patchedFiles(patch).map(({ path }) => path))].join(', '));
  if (Array.isArray(input.steps)) return counted(input.steps.length, 'step');
  const texts = [...MAIN.map((key) => input[key]), approval?.ask.description, ...Object.values(input)];
  return firstLine(texts.find((value) => typeof value === 'string' && value !== '') ?? '');
}

const firstLine = (text: unknown): string =>
  String(text).trim().split('\n', 1)[0]?.slice(0, MAX_LENGTH) ?? '';
