/** A call that a sub-agent works on: what it does in one line, what it has cost, and its session, live. */
import type { Delegation } from '@parlance/protocol';
import type { CallView } from '@parlance/sdk';
import { type ReactNode, useMemo } from 'react';
import { Chip, type ChipVariant, Collapsible } from '../components/controls.tsx';
import { hrefOf } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { useSubAgents } from '../state/sub-agents.ts';
import { dollars, shortNumber } from './cost.ts';
import { type Row, rowsOf, textOf } from './rows.ts';

/** Latest rows of its session; the others are in the session itself. */
const SHOWN_ROWS = 12;

/** Renders a row of that session. */
export type RowIn = (session: string, row: Row) => ReactNode;

type CardProps = {
  readonly session: string;
  readonly call: CallView & { readonly child: Delegation };
  /** the state of the call, if the sub-agent does not work in the background */
  readonly state: ReactNode;
  readonly rowIn: RowIn;
};

export function SubAgentCard({ session, call, state, rowIn }: CardProps) {
  const { child, state: now } = call;
  const name = child.path.at(-1) ?? '';
  const spent =
    now.phase === 'ended' ? now.child?.spent : now.phase === 'running' ? now.progress?.spent : undefined;
  return (
    <Collapsible
      name={`call ${call.call}`}
      icon="branch"
      className="call-fold"
      summary={
        <>
          <span className="call-tool">{name}</span>
          <span className="call-summary">{lineOf(call)}</span>
          {spent && spent.tokens > 0 && (
            <span className="sub-agent-spent" title={`${spent.tokens.toLocaleString()} tokens`}>
              {spent.cost > 0 ? dollars(spent.cost / 1e6) : `${shortNumber(spent.tokens)} tokens`}
            </span>
          )}
          {child.background && now.phase === 'ended' && now.outcome === 'ok' ? (
            <BackgroundState parent={session} child={child} />
          ) : (
            state
          )}
        </>
      }
    >
      <SubAgentSession child={child} rowIn={rowIn} />
    </Collapsible>
  );
}

/** What it does now, what it answered, or what it was asked. */
function lineOf({ state, child, input }: CardProps['call']): string {
  if (state.phase === 'running' && state.progress?.message) return state.progress.message;
  const answer = state.phase === 'ended' && !child.background ? textOf(state.parts).trim() : '';
  const [line = ''] = answer.split('\n');
  return line || String(input.task ?? input.agent ?? '');
}

const STATES = {
  idle: { variant: 'good', word: 'Done' },
  running: { variant: 'busy', word: 'In the background' },
  waiting: { variant: 'waiting', word: 'Waiting for you' },
  failed: { variant: 'bad', word: 'Failed' },
} as const satisfies Record<string, { variant: ChipVariant; word: string }>;

function BackgroundState({ parent, child }: { parent: string; child: Delegation }) {
  const found = useSubAgents(parent).find(({ id }) => id === child.session);
  if (!found) return null;
  const { variant, word } = STATES[found.status];
  return <Chip variant={variant}>{word}</Chip>;
}

function SubAgentSession({
  child: { session, path },
  rowIn,
}: { readonly child: Delegation } & Pick<CardProps, 'rowIn'>) {
  const { view } = useSession(session);
  const rows = useMemo(() => rowsOf(view), [view]);
  const shown = rows.slice(-SHOWN_ROWS);
  return (
    <section className="sub-agent" aria-label={`Sub-agent ${path.at(-1)}`}>
      <p className="sub-agent-head">
        <a href={hrefOf({ page: 'session', id: session })}>{path.join(' › ')}</a>
        {rows.length > shown.length && (
          <span className="hint">
            The latest {SHOWN_ROWS} of {rows.length} entries
          </span>
        )}
      </p>
      {shown.map((row) => (
        <div key={row.key}>{rowIn(session, row)}</div>
      ))}
    </section>
  );
}
