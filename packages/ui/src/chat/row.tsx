import type { CompactionView, Item, TurnView } from '@parlance/sdk';
import { memo, type ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { attempt } from '../components/toast.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { parlance, useServer } from '../state/server.ts';
import { CallCard } from './call-card.tsx';
import { Collapsible } from './collapsible.tsx';
import { duration, shortNumber } from './cost.ts';
import { History } from './history.tsx';
import { InputRow, SendingRow } from './input-row.tsx';
import { type Row, restartText } from './rows.ts';
import { TurnEnd } from './turn-end.tsx';

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
      return <CallCard session={session} call={item} />;
    case 'handoff':
      return (
        <Divider icon="leave">
          {item.from.name} handed over to {item.to.name}
          {item.reason && `: ${item.reason}`}
        </Divider>
      );
    case 'restart':
      return <Divider icon="retry">{restartText(item)}</Divider>;
    case 'resumed':
      return <Divider icon="retry">The server restarted and resumed the turn.</Divider>;
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

type DividerProps = { readonly icon: IconName; readonly children: ReactNode };

function Divider({ icon, children }: DividerProps) {
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
