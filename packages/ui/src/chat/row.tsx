/** One row of the transcript: an input, an item of a turn, its end, or what is between turns. */

import type { HistoryItem, InputId, Part } from '@parlance/protocol';
import { instructionsText } from '@parlance/protocol/instructions';
import { limitNotice } from '@parlance/protocol/spending';
import type { CompactionView, HistoryView, InputView, Item, RewoundView, TurnView } from '@parlance/sdk';
import { createContext, type KeyboardEvent, memo, type ReactNode, useContext, useState } from 'react';
import {
  attempt,
  Button,
  Chip,
  Collapsible,
  CopyButton,
  Icon,
  IconButton,
  type IconName,
  Notice,
} from '../components/controls.tsx';
import { QuestionCard } from '../components/question-card.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { may } from '../state/may.ts';
import { usePrices } from '../state/models.ts';
import { hrefOf } from '../state/router.ts';
import { parlance, useServer } from '../state/server.ts';
import { CallCard } from './call-card.tsx';
import { ChangedFiles } from './changed-files.tsx';
import { ConsoleSession } from './console-session.ts';
import { costOf, dollars, duration, priceOf, shortNumber, shortUsage, usageText } from './cost.ts';
import { Parts } from './parts.tsx';
import { RewindDialog } from './rewind-dialog.tsx';
import {
  type Branch,
  isPaused,
  type Row,
  restartText,
  rewoundText,
  type ShownEntries,
  saidIn,
  textOf,
} from './rows.ts';

/** Rendered again only if the row changes. */
export const RowView = memo(function RowView({ session, row }: { session: string; row: Row }) {
  switch (row.kind) {
    case 'input':
      return <InputRow session={session} input={row.input} />;
    case 'queued':
      return <InputRow session={session} input={row.input} queued />;
    case 'sending':
      return <SendingRow parts={row.parts} />;
    case 'item':
      return <ItemView session={session} item={row.item} />;
    case 'between':
      if (row.entry.kind === 'cleared') return <Cleared by={row.entry.by} />;
      if (row.entry.kind === 'rewound') return <Rewound session={session} entry={row.entry} />;
      if (row.entry.kind === 'history') return <History entry={row.entry} />;
      return <Compaction compaction={row.entry} />;
    case 'end':
      return <TurnEnd session={session} turn={row.turn} />;
    case 'paused':
      return <Paused session={session} />;
    case 'working':
      return <Working turn={row.turn} />;
  }
});

/** A row of another session, which is changed on its own page. */
const rowIn = (session: string, row: Row) => (
  <IsLatest value={false}>
    <RowView session={session} row={row} />
  </IsLatest>
);

function ItemView({ session, item }: { session: string; item: Item }) {
  switch (item.kind) {
    case 'text':
      return <Markdown text={item.text} open={item.state === 'open'} />;
    case 'reasoning':
      return (
        <Collapsible
          name={`reasoning ${item.block}`}
          icon="thought"
          className="reasoning"
          summary={item.state === 'open' ? 'Thinking …' : thoughtText(item.durationMs)}
        >
          <Markdown text={item.text} open={item.state === 'open'} />
        </Collapsible>
      );
    case 'call':
      return <CallCard session={session} call={item} rowIn={rowIn} />;
    case 'input':
      return <InputRow session={session} input={item} joined />;
    case 'question':
      return <QuestionCard question={item} />;
    case 'handoff':
      return (
        <Divider icon="leave">
          {item.from.name} handed over to {item.to.name}
          {item.reason && `: ${item.reason}`}
        </Divider>
      );
    case 'restart':
      return <Divider icon="archive">{restartText(item)}</Divider>;
    case 'resumed':
      return <Divider icon="retry">The server restarted and resumed the turn.</Divider>;
    case 'instructions':
      return <Divider icon="archive">{instructionsText(item.files) || 'No project instructions.'}</Divider>;
    case 'limit':
      return <Divider icon="alert">{limitNotice(item.limit)}</Divider>;
    case 'compaction':
      return <Compaction compaction={item} />;
  }
}

function thoughtText(durationMs: number | null): string {
  if (durationMs === null) return 'Thought';
  return `Thought for ${durationMs < 1_000 ? 'a moment' : duration(durationMs)}`;
}

function Compaction({ compaction }: { compaction: CompactionView }) {
  const { summary, oldTokens, newTokens, seqs } = compaction;
  return (
    <Collapsible
      name={`compaction ${seqs[0]}`}
      icon="archive"
      className="reasoning"
      summary={`Context compacted: ${shortNumber(oldTokens)} → ${shortNumber(newTokens)} tokens`}
    >
      <Markdown text={summary} />
    </Collapsible>
  );
}

function Cleared({ by }: { by: string }) {
  const { principal } = useServer();
  return (
    <Divider icon="archive">
      Context cleared by {by === principal.id ? 'you' : by}. The model no longer sees the messages above.
    </Divider>
  );
}

function Rewound({ session, entry }: { session: string; entry: RewoundView }) {
  const [undoing, setUndoing] = useState(false);
  const mayUndo =
    may(useServer(), 'tool:approve') && !entry.isUndone && !entry.isRestoring && entry.rewind !== '';
  return (
    <div className="rewound">
      {rewoundText(entry).map((line) => (
        <Divider key={line} icon="rewind">
          {line}
        </Divider>
      ))}
      {mayUndo && (
        <Button onClick={() => setUndoing(true)}>
          {entry.undoes === null ? 'Undo the rewind' : 'Rewind again'}
        </Button>
      )}
      {undoing && (
        <RewindDialog session={session} target={{ undo: entry.rewind }} onClose={() => setUndoing(false)} />
      )}
    </div>
  );
}

function Divider({ icon, children }: { readonly icon: IconName; readonly children: ReactNode }) {
  return (
    <p className="divider">
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  );
}

function Paused({ session }: { session: string }) {
  return (
    <p className="paused">
      <Button onClick={() => attempt(() => parlance.session(session).submit('Continue'))}>Continue</Button>
    </p>
  );
}

function Working({ turn }: { turn: TurnView }) {
  return (
    <p className="working">
      <span className="working-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {turn.agent.name} is working
    </p>
  );
}

// An input of the user, with "edit and send again".

const TIME = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });

type InputProps = {
  readonly session: string;
  readonly input: InputView;
  readonly queued?: boolean;
  /** it is part of the turn of another input */
  readonly joined?: boolean;
};

export const InputRow = memo(function InputRow({
  session,
  input,
  queued = false,
  joined = false,
}: InputProps) {
  const [editing, setEditing] = useState(false);
  const [rewinding, setRewinding] = useState(false);
  const isLatest = useContext(IsLatest);
  const mayRewind = may(useServer(), 'tool:approve');
  const { dialect, superseded } = input;
  const parts = input.parts.filter(({ type }) => type !== 'page');
  const text = textOf(parts);
  if (editing)
    return <Edit session={session} input={input} queued={queued} onDone={() => setEditing(false)} />;
  return (
    <div className="said" data-queued={queued || undefined}>
      <div className="said-bubble">
        {input.call ? <code>{input.call.tool}</code> : <Parts parts={parts} text="plain" />}
      </div>
      <div className="said-under">
        {queued && (
          <Chip
            variant="busy"
            title={input.joins ? 'The agent reads it with its next step' : 'Starts after the current turn'}
          >
            {input.joins ? 'Joins the turn' : 'Queued'}
          </Chip>
        )}
        {joined && <Chip title="The agent has read it from here on">Joined the turn</Chip>}
        {superseded !== null && (
          <Chip variant="waiting" title="Sent to interrupt the agent">
            Interrupted turn
          </Chip>
        )}
        {dialect !== 'native' && (
          <Chip title="The client that has sent it speaks this protocol">via {dialect}</Chip>
        )}
        {input.agent && <Chip>to {input.agent.name}</Chip>}
        {parts.length < input.parts.length && (
          <Chip variant="waiting" title="The page was sent as untrusted content">
            with the page
          </Chip>
        )}
        <InTimeline query={{ event: String(input.seqs[0]) }}>
          <time dateTime={new Date(input.at).toISOString()}>{TIME.format(input.at)}</time>
        </InTimeline>
        {text !== '' && <CopyButton text={text} label="Copy message" />}
        <Versions of={input.input} at="message" />
        {isLatest && !joined && !input.call && (!queued || input.turn) && (
          <IconButton
            icon="edit"
            label={queued ? 'Edit queued message' : 'Edit'}
            onClick={() => setEditing(true)}
          />
        )}
        {isLatest && !joined && !queued && mayRewind && (
          <IconButton icon="rewind" label="Rewind" onClick={() => setRewinding(true)} />
        )}
        {rewinding && (
          <RewindDialog session={session} target={{ to: input.input }} onClose={() => setRewinding(false)} />
        )}
        {queued && input.turn && (
          <IconButton
            icon="trash"
            label="Remove from queue"
            onClick={() => void attempt(() => parlance.session(session).cancel({ turn: input.turn }))}
          />
        )}
      </div>
    </div>
  );
});

/** Looks like a message; after a moment it says that it is not sent yet. */
export const SendingRow = ({ parts }: { parts: readonly Part[] }) => (
  <div className="said" data-sending>
    <div className="said-bubble">
      <Parts parts={parts} text="plain" />
    </div>
    <div className="said-under">
      <span>Sending …</span>
    </div>
  </div>
);

/** ‹ 1/2 › for the input with that id, unless it belongs elsewhere. */
export function Versions({ of: input, at }: { readonly of: string; readonly at: Branch['at'] }) {
  const { branches, choose } = useContext(Branches);
  const branch = branches.get(input);
  if (branch?.at !== at) return null;
  const { latest, index, count } = branch;
  return (
    <span className="versions">
      <IconButton
        icon="back"
        label="Previous version"
        disabled={index === 0}
        onClick={() => choose(latest, index - 1)}
      />
      <span>
        <span className="unseen">Version </span>
        {index + 1}/{count}
      </span>
      <IconButton
        icon="chevron"
        label="Next version"
        disabled={index === count - 1}
        onClick={() => choose(latest, index + 1)}
      />
    </span>
  );
}

type EditProps = {
  readonly session: string;
  readonly input: InputView;
  readonly queued: boolean;
  readonly onDone: () => void;
};

/** Continues from before the message: the old one and its answer become an earlier version. A queued one is queued again. */
function Edit({ session, input, queued, onDone }: EditProps) {
  const [text, setText] = useState(textOf(input.parts));
  const [busy, setBusy] = useState(false);

  async function send(): Promise<void> {
    const rest = input.parts.filter((part) => part.type !== 'text' || part.link);
    const parts: Part[] = [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...rest];
    setBusy(true);
    const handle = parlance.session(session);
    const replaced = await attempt(async () => {
      if (queued) await handle.cancel({ turn: input.turn });
      const mode = input.joins ? 'steer' : 'queue';
      await handle.submit(parts, queued ? { mode } : { replaces: input.input });
    });
    if (replaced) onDone();
    setBusy(false);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') onDone();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  }

  return (
    <div className="said said-edit">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the reader has just asked for this field
        autoFocus
        aria-label="Edited message"
        dir="auto"
        value={text}
        rows={3}
        onFocus={({ target }) => target.setSelectionRange(target.value.length, target.value.length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p className="hint">
        {queued && input.joins
          ? 'The agent reads the changed message with its next step.'
          : queued
            ? 'Sending moves the message to the end of the queue.'
            : 'The conversation continues from here. What follows now stays as an earlier version.'}
      </p>
      <div className="said-edit-buttons">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          variant="primary"
          disabled={busy || (text.trim() === '' && input.parts.length < 2)}
          onClick={() => void send()}
        >
          Send
        </Button>
      </div>
    </div>
  );
}

/** Leads to the timeline, where there is one. */
function InTimeline({ query, children }: { query: Readonly<Record<string, string>>; children: ReactNode }) {
  const id = useContext(ConsoleSession);
  if (id === null) return <span>{children}</span>;
  return (
    <a className="in-timeline" href={hrefOf({ page: 'timeline', id }, query)} title="Show in the timeline">
      {children}
    </a>
  );
}

// Outcome and usage of a turn, with "regenerate".

export const TurnEnd = memo(function TurnEnd({ session, turn }: { session: string; turn: TurnView }) {
  const about = useServer();
  const price = priceOf(turn, about, usePrices());
  const isLatest = useContext(IsLatest);
  const { state, usage, input } = turn;
  const tokens = usage.inputTokens + usage.outputTokens;
  const said = saidIn(turn);
  const again = () =>
    attempt(async () => {
      if (input) await parlance.session(session).submit([...input.parts], { replaces: input.input });
    });

  return (
    <div className="turn-end">
      {state.status === 'failed' && (
        <Notice
          variant="danger"
          action={
            input &&
            isLatest && (
              <Button icon="retry" onClick={again}>
                Try again
              </Button>
            )
          }
        >
          {state.fault.message}
          {state.fault.code.startsWith('provider_') && may(about, 'setup') && (
            <>
              {' '}
              <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>Model settings</a>
            </>
          )}
        </Notice>
      )}
      <ChangedFiles turn={turn} />
      <div className="turn-end-line">
        {said !== '' && <CopyButton text={said} label="Copy answer" />}
        {input && isLatest && !input.call && state.status !== 'failed' && !isPaused(turn) && (
          <IconButton icon="retry" label="Regenerate" onClick={again} />
        )}
        {input && <Versions of={input.input} at="answer" />}
        {state.status === 'cancelled' && <span>{CANCELLED[state.reason]}</span>}
        {turn.fallback !== undefined && <span>Answered by {turn.fallback}</span>}
        {'durationMs' in state && (
          <InTimeline query={{ turn: turn.turn }}>{duration(state.durationMs)}</InTimeline>
        )}
        {tokens > 0 && (
          <span title={usageText(usage)}>
            {shortUsage(usage)}
            {price && ` · ${dollars(costOf(usage, price))}`}
          </span>
        )}
      </div>
    </div>
  );
});

const CANCELLED: Readonly<Record<'cancelled' | 'superseded' | 'denied', string>> = {
  cancelled: 'Stopped',
  superseded: 'Interrupted by a new message',
  denied: 'Ended: a call was denied',
};

// A conversation that the session took over from elsewhere.

export function History({ entry }: { entry: HistoryView }) {
  const { items, dialect, seqs } = entry;
  return items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items of an entry never change
    <HistoryItemView key={index} name={`history ${seqs[0]} ${index}`} item={item} dialect={dialect} />
  ));
}

type HistoryItemProps = { readonly name: string; readonly item: HistoryItem; readonly dialect: string };

function HistoryItemView({ name, item, dialect }: HistoryItemProps) {
  switch (item.type) {
    case 'user':
      return (
        <div className="said">
          <div className="said-bubble">
            <Parts parts={item.parts} text="plain" />
          </div>
          <div className="said-under">
            <Chip title="From before this session">
              imported{dialect === 'native' ? '' : ` via ${dialect}`}
            </Chip>
          </div>
        </div>
      );
    case 'system':
      return (
        <Collapsible name={name} icon="thought" className="reasoning" summary="System message">
          <Markdown text={item.text} />
        </Collapsible>
      );
    case 'text':
      return <Markdown text={item.text} />;
    case 'reasoning':
      return (
        <Collapsible name={name} icon="thought" className="reasoning" summary="Thought">
          <Markdown text={item.text} />
        </Collapsible>
      );
    case 'call':
      return (
        <Collapsible name={name} icon="tool" className="reasoning" summary={`Called ${item.tool}`}>
          <Parts parts={[{ type: 'text', text: JSON.stringify(item.input, null, 2) }]} text="output" />
        </Collapsible>
      );
    case 'result':
      return (
        <Collapsible
          name={name}
          icon="tool"
          className="reasoning"
          summary={item.failed ? 'The call failed' : 'Result of the call'}
        >
          <Parts parts={item.parts} text="output" />
        </Collapsible>
      );
  }
}

// The versions of a conversation, for its rows.

export type BranchContext = Pick<ShownEntries, 'branches'> & {
  readonly choose: (latest: InputId, index: number) => void;
};

export const Branches = createContext<BranchContext>({ branches: new Map(), choose: () => undefined });

/** False: an earlier version is shown. On its own because `Branches` changes with each token. */
export const IsLatest = createContext(true);
