/** One event or frame: a line that expands to the exact JSON or text. */

import type { DurableEvent } from '@parlance/protocol';
import { parsedJson } from '@parlance/protocol/json-text';
import { Button, copyText } from '@parlance/ui/components/controls.tsx';
import { memo, type ReactNode, useState } from 'react';
import type { Note, NumberedFrame, ShellCommand } from './rows.ts';
import { eventSummary, summaryOfFrame } from './summary.ts';

export type CellProps = {
  readonly id: string;
  readonly open: boolean;
  /** receives the focus on Tab */
  readonly current: boolean;
  /** show JSON with line breaks; copying still gives the exact text */
  readonly indented: boolean;
  readonly onToggle: (id: string) => void;
};

const two = (value: number): string => String(value).padStart(2, '0');

/** Local time with milliseconds. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

function Time({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(at)}
    </time>
  );
}

export const EventCell = memo(function EventCell({
  event,
  id,
  open,
  current,
  indented,
  onToggle,
}: CellProps & { readonly event: DurableEvent }) {
  return (
    <article
      className={`entry entry-event entry-${toneOf(event.type)}`}
      aria-label={`Event ${event.seq}: ${event.type}`}
    >
      <Line cell={{ id, open, current, onToggle }}>
        <span className="entry-number">{event.seq}</span>
        <Time at={event.at} />
        <span className="entry-type">{event.type}</span>
        <span className="entry-text">{eventSummary(event)}</span>
      </Line>
      {open && <ExpandedEntry text={JSON.stringify(event)} indented={indented} copyLabel="Copy event" />}
    </article>
  );
});

type LineProps = {
  readonly cell: Pick<CellProps, 'id' | 'open' | 'current' | 'onToggle'>;
  readonly children: ReactNode;
};

const Line = ({ cell: { id, open, current, onToggle }, children }: LineProps) => (
  <button
    type="button"
    className="entry-line"
    data-entry={id}
    aria-expanded={open}
    tabIndex={current ? 0 : -1}
    onClick={() => onToggle(id)}
  >
    {children}
  </button>
);

type FrameProps = {
  readonly frame: NumberedFrame;
  readonly command: (frame: NumberedFrame) => ShellCommand | null;
  /** the page itself is the client */
  readonly ours: boolean;
};

export const FrameCell = memo(function FrameCell({
  frame,
  id,
  open,
  current,
  indented,
  onToggle,
  command,
  ours,
}: CellProps & FrameProps) {
  const { type, text } = summaryOfFrame(frame);
  const from = frame.direction === 'in';
  const way = ours ? (from ? 'sent' : 'received') : `${from ? 'from' : 'to'} ${frame.dialect}`;
  return (
    <article
      className={`entry entry-frame entry-${frame.direction}`}
      aria-label={`Frame ${frame.number} ${way}: ${type}`}
    >
      <Line cell={{ id, open, current, onToggle }}>
        <span className="entry-way" title={from ? 'client to server' : 'server to client'}>
          <span aria-hidden="true">{from ? '→' : '←'}</span>
          <span className="unseen">{way}</span>
          <span aria-hidden="true">{ours ? way : frame.dialect}</span>
        </span>
        <Time at={frame.at} />
        <span className="entry-type">{type}</span>
        <span className="entry-text">{text}</span>
      </Line>
      {open && (
        <ExpandedEntry
          text={frame.text}
          indented={indented}
          copyLabel="Copy frame"
          command={command(frame)}
          note={frame.connection === '' ? undefined : `connection ${frame.connection}`}
        />
      )}
    </article>
  );
});

export function NoteCell({ note }: { readonly note: Note }) {
  return (
    <p className="entry-note">
      <Time at={note.at} /> {note.text}
    </p>
  );
}

/** Failures and pending items stand out while scrolling. */
function toneOf(type: DurableEvent['type']): 'bad' | 'waiting' | 'turn' | 'plain' {
  if (type === 'turn.failed' || type === 'step.restarted') return 'bad';
  if (type === 'approval.requested' || type === 'call.deferred') return 'waiting';
  return type === 'turn.started' || type === 'turn.ended' || type === 'turn.cancelled' ? 'turn' : 'plain';
}

type ExpandedEntryProps = {
  /** the exact text */
  readonly text: string;
  readonly indented: boolean;
  readonly copyLabel: string;
  /** null: no command can send it; absent: not a frame */
  readonly command?: ShellCommand | null;
  readonly note?: string;
};

/** Longer text slows the browser down; copying still gives all of it. */
const MAX_SHOWN_LENGTH = 50_000;

function shownText(text: string, indented: boolean): string {
  if (!indented || text.length > MAX_SHOWN_LENGTH) return text;
  const value = parsedJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** The exact text and its actions. */
function ExpandedEntry({ text, indented, copyLabel, command, note }: ExpandedEntryProps) {
  const [copied, setCopied] = useState('');
  const shown = shownText(text, indented);
  const copy = async (what: string, name: string): Promise<void> => {
    if (await copyText(what)) setCopied(name);
  };
  return (
    <div className="entry-exact">
      <div className="entry-actions">
        <Button
          variant="quiet"
          icon={copied === 'exact' ? 'check' : 'copy'}
          onClick={() => copy(text, 'exact')}
        >
          {copied === 'exact' ? 'Copied' : copyLabel}
        </Button>
        {command && (
          <Button
            variant="quiet"
            icon={copied === 'command' ? 'check' : 'copy'}
            title={command.text}
            onClick={() => copy(command.text, 'command')}
          >
            {copied === 'command' ? 'Copied' : `Copy as ${command.tool}`}
          </Button>
        )}
        {note !== undefined && <span className="hint">{note}</span>}
      </div>
      <section
        className="entry-json"
        aria-label="Exact JSON"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
      >
        <pre>{shown.slice(0, MAX_SHOWN_LENGTH)}</pre>
      </section>
      {shown.length > MAX_SHOWN_LENGTH && (
        <p className="hint">
          {(shown.length - MAX_SHOWN_LENGTH).toLocaleString()} more characters. “Copy” copies all of it.
        </p>
      )}
    </div>
  );
}
