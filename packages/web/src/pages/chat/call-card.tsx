/** One tool call: input, progress and output. */
import type { ApprovalView, CallState, CallView } from '@parlance/sdk';
import { memo, type ReactNode } from 'react';
import { ApprovalCard } from '../../components/approval/approval-card.tsx';
import { answerText } from '../../components/approval/approval-text.ts';
import { Chip, type ChipVariant } from '../../components/chip.tsx';
import { Icon } from '../../components/icon.tsx';
import { useServer } from '../../state/server.ts';
import { BrowserCall, isBrowserCall } from './browser-call.tsx';
import { callGist } from './call-gist.ts';
import { CallInput } from './call-input.tsx';
import { CallSection } from './call-section.tsx';
import { Collapsible } from './collapsible.tsx';
import { duration } from './cost.ts';
import { Parts } from './parts.tsx';

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

type CallProps = { readonly session: string; readonly call: CallView };

export const CallCard = memo(function CallCard({ session, call }: CallProps) {
  const { state, approval, tool } = call;
  if (approval?.state.status === 'pending') return <ApprovalCard session={session} approval={approval} />;
  if (isBrowserCall(call)) return <BrowserCall call={call} />;
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
            <span className="call-gist">{callGist(call)}</span>
            <State state={state} />
          </>
        }
      >
        <CallInput call={call} />
        {state.phase === 'running' && state.progress && <Progress progress={state.progress} />}
        {state.phase === 'ended' && <Output state={state} />}
      </Collapsible>
      {approval && <Approval approval={approval} />}
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
          title="Contains untrusted content: “always” does not apply for the rest of the turn"
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
