/** An input as the view shows it. */
import type { DurableEvent, Part } from '@parlance/protocol';
import type { InputView, SessionView, TurnView } from './shapes.ts';

/** An interrupting input is stored directly after the end of the turn that it interrupted. */
function supersededBy(view: SessionView, event: DurableEvent<'input.accepted'>): TurnView['turn'] | null {
  const last = view.entries.at(-1);
  if (last?.kind !== 'turn' || last.state.status !== 'cancelled') return null;
  return last.state.reason === 'superseded' && last.seqs.at(-1) === event.seq - 1 ? last.turn : null;
}

export function inputOf(view: SessionView, event: DurableEvent<'input.accepted'>): InputView {
  const { input, parts, dialect, key, call, data, agent, turn, at, seq } = event;
  return {
    input,
    parts,
    dialect,
    ...(key === undefined ? {} : { key }),
    ...(call === undefined ? {} : { call }),
    ...(data === undefined ? {} : { data }),
    ...(agent === undefined ? {} : { agent }),
    ...(turn === undefined ? {} : { turn }),
    superseded: supersededBy(view, event),
    at,
    seqs: [seq],
  };
}

/** Default title, like the server's: the beginning of the first input. */
export const titleOf = ([first]: readonly Part[]): string =>
  first?.type === 'text' ? titleFrom(first.text) : '';

const TITLE_LENGTH = 80;
/** Longer texts are not searched for marks. */
const MAX_READ = 2_000;

/** As one line, without the marks of Markdown. */
function titleFrom(text: string): string {
  const line = withoutMarks(text.slice(0, MAX_READ)) || oneLine(text);
  return (line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`).toWellFormed();
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Marks inside of words stay, such as those of `__init__` and `2*3*4`. */
const withoutMarks = (text: string): string =>
  oneLine(
    text
      .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
      .replace(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, '')
      .replace(/!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g, '$1')
      .replace(/`+([^`\n]+)`+/g, '$1')
      .replace(/(\*\*\*|\*\*|~~)(?=[^\s*~])([^*~\n]+)\1/g, '$2')
      .replace(/(?<![\w*])\*(?=[^\s*])([^*\n]+)\*(?![\w*])/g, '$1'),
  );
